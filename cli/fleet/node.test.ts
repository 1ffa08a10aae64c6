// A node on another machine, as an operator sets it up: `gatehouse node join` and `gatehouse data-plane` in a network
// namespace of its own, behind a wire with delay and loss, with no port that the control plane could reach. Runs where
// ip, unshare, nsenter and root are.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { blockWord } from '#api/testing/change-road';
import { startUpstream } from '#api/testing/data-plane';
import { onOneDatabase } from '#api/testing/databases';
import { startFleetPlane } from '#api/testing/servers/fleet';
import { bareEnvironment, makeDirectory } from '#api/testing/temporary';
import { until } from '#api/testing/waiting';

const works = (program: string, ...args: string[]): boolean => spawnSync(program, args).status === 0;
const isPossible = process.getuid?.() === 0 && works('ip', '-V') && works('unshare', '-n', 'true');

const program = `import(${JSON.stringify(fileURLToPath(new URL('../main.js', import.meta.url)))})
  .then((cli) => cli.main(process.argv.slice(1))).then((code) => (process.exitCode = code))`;

interface Machine {
  readonly address: string;
  /** That of the other end of its wire. */
  readonly control: string;
  run(args: readonly string[], data: string): Promise<{ readonly status: number | null; readonly output: string }>;
  start(args: readonly string[], data: string): { readonly output: () => string; stop(): Promise<void> };
  /** The status of a request from this machine to itself; 0: no answer. */
  ask(url: string): number;
  setWire(isUp: boolean): void;
}

/** A network namespace with a wire to this one. */
async function startMachine(t: Test): Promise<Machine> {
  const holder = spawn('unshare', ['-n', 'sh', '-c', 'echo ready; exec cat'], { stdio: ['pipe', 'pipe', 'ignore'] });
  t.teardown(() => void holder.kill());
  await once(holder.stdout, 'data');
  const pid = String(holder.pid);
  const inside = ['-t', pid, '-n'];
  const net = `10.234.${process.pid % 250}`;
  const [control, address] = [`${net}.1`, `${net}.2`];
  const wire = `gh${process.pid}`;
  const must = (command: string, ...args: string[]): void => {
    const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
  };
  must('ip', 'link', 'add', wire, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', pid);
  t.teardown(() => void spawnSync('ip', ['link', 'del', wire]));
  must('ip', 'address', 'add', `${control}/30`, 'dev', wire);
  must('ip', 'link', 'set', wire, 'up');
  must('nsenter', ...inside, 'ip', 'address', 'add', `${address}/30`, 'dev', 'eth0');
  must('nsenter', ...inside, 'ip', 'link', 'set', 'eth0', 'up');
  must('nsenter', ...inside, 'ip', 'link', 'set', 'lo', 'up');
  const isSlow = works('tc', 'qdisc', 'add', 'dev', wire, 'root', 'netem', 'delay', '5ms', 'loss', '1%');
  t.comment(isSlow ? 'the wire has a delay of 5 ms and loses 1 %' : 'no netem here: the wire is perfect');
  const environment = (data: string) => ({
    ...bareEnvironment(),
    GATEHOUSE_DATA: data,
    WAF_PORT: '8080',
    DATA_WORKERS: '1',
    TLS_EDGE: 'off',
  });
  const words = (args: readonly string[]): string[] => [...inside, process.execPath, '-e', program, ...args];
  return {
    address,
    control,
    async run(args, data) {
      // the control plane answers in this process: nothing here may wait without letting it
      const child = spawn('nsenter', words(args), { env: environment(data) });
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (piece: Buffer) => (output += piece.toString()));
      const [status] = (await once(child, 'close')) as [number | null];
      return { status, output };
    },
    start(args, data) {
      const child = spawn('nsenter', words(args), { env: environment(data) });
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (piece: Buffer) => (output += piece.toString()));
      const ended = once(child, 'exit');
      const stop = async (): Promise<void> => {
        child.kill('SIGTERM');
        await ended;
      };
      t.teardown(() => void child.kill('SIGKILL'));
      return { output: () => output, stop };
    },
    ask(url) {
      const script = `fetch(${JSON.stringify(url)}).then((a) => console.log(a.status), () => console.log(0))`;
      return Number(spawnSync('nsenter', [...inside, process.execPath, '-e', script], { encoding: 'utf8' }).stdout);
    },
    setWire: (isUp) => must('ip', 'link', 'set', wire, isUp ? 'up' : 'down'),
  };
}

t.test('a node on another machine', { skip: isPossible ? false : 'needs ip, unshare, nsenter and root' }, (t) =>
  onOneDatabase(t, 'a node on another machine', async (t, database) => {
    const machine = await startMachine(t);
    const plane = await startFleetPlane(t, database, await startUpstream(t), { host: machine.control });
    const data = join(await makeDirectory(t, 'machine'), 'data');
    await plane.patch({ custom_rules: [blockWord(1_000_001, 'plugh')] });
    const token = await plane.makeToken({ labels: { region: 'far' } });

    for (const [what, args, status, words] of [
      ['no command', ['node'], 2, /token, join URL TOKEN, drain, or show/],
      ['an address that is none', ['node', 'join', 'http://a.test', token], 2, /is not the address of a control plane/],
      ['a node that has not joined', ['node', 'show'], 1, /has not joined/],
      ['no answer', ['node', 'join', 'https://127.0.0.1:9', token], 1, /No control plane answered/],
      ['it joins', ['node', 'join', plane.address, token, '--name', 'far-1'], 0, /This node is far-1 now/],
      ['a second time', ['node', 'join', plane.address, token], 1, /has joined already/],
      ['what it is', ['node', 'show'], 0, /name +far-1/],
    ] as const) {
      const told = await machine.run(args, data);
      t.match(told.output, words, what);
      t.equal(told.status, status, what);
    }
    const node = machine.start(['data-plane'], data);
    await until(`the node is connected: ${node.output()}`, () => plane.isConnected('far-1'));
    t.match(await plane.apply(), { status: 200, body: { nodes: [{ url: 'node:far-1', state: 'active' }] } });
    const serves = async (word: string): Promise<number> =>
      (await fetch(`http://${machine.address}:8080/?q=${word}`)).status;
    await until('the node serves', async () => (await serves('plugh').catch(() => 0)) === 403);
    await t.rejects(fetch(`http://${machine.address}:2019/healthz`), 'its admin interface is closed to others');

    machine.setWire(false);
    await until('both notice that the wire is cut', () => !plane.isConnected('far-1'));
    await plane.patch({ custom_rules: [blockWord(1_000_001, 'xyzzy')] });
    t.match(await plane.apply(), { status: 502 });
    t.equal(machine.ask('http://127.0.0.1:8080/?q=plugh'), 403, 'cut off, it serves what it has');
    const other = await plane.makeToken();
    t.ok(other);
    machine.setWire(true);
    await until('it is connected again', () => plane.isConnected('far-1'));
    t.match(await plane.apply(), { status: 200 });
    await until('and serves what was applied', async () => (await serves('xyzzy').catch(() => 0)) === 403);
    t.match((await plane.call('GET', '/api/nodes', { token: plane.admin })).body['items'], [
      { url: 'node:far-1', state: 'active', release: /^\d/, workers: 1 },
    ]);
    await node.stop();
  }),
);
