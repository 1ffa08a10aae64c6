// 10.7: hardening on a real kernel: two network namespaces with a wire between them, the rules loaded by nft, and
// clients that meet them. Nothing of this machine is touched: files go to a directory of the test, and namespaces end
// with the processes that hold them. Runs where nft, ip, unshare and root are.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { Refusal } from '../refusal.js';
import { paths, runHarden } from './command.js';
import type { Host } from './host.js';

const works = (program: string, ...args: string[]): boolean => spawnSync(program, args).status === 0;
const isPossible =
  process.getuid?.() === 0 && works('nft', '--version') && works('ip', '-V') && works('unshare', '-n', 'true');

/** A process that holds a network namespace of its own. */
async function namespaceOf(t: Test): Promise<number> {
  const holder = spawn('unshare', ['-n', 'sh', '-c', 'echo ready; exec cat'], { stdio: ['pipe', 'pipe', 'ignore'] });
  t.teardown(() => void holder.kill());
  await once(holder.stdout, 'data');
  return holder.pid as number;
}

const within = (pid: number, ...command: string[]): string[] => ['-t', String(pid), '-n', ...command];

function run(pid: number, program: string, args: readonly string[], input = ''): string {
  const { status, stdout, stderr } = spawnSync('nsenter', within(pid, program, ...args), { input, encoding: 'utf8' });
  if (status !== 0) throw new Refusal(`${program} ${args.join(' ')} failed: ${stderr}`);
  return stdout;
}

/** This machine, with the network of a namespace and the files of a directory. */
function hostOf(pid: number, folder: string): Host {
  const own = (path: string): string => (path.startsWith('/proc/') ? path : join(folder, path));
  return {
    isRoot: true,
    hasSystemd: false,
    read: (path) => {
      if (path.startsWith('/proc/')) {
        const { status, stdout } = spawnSync('nsenter', within(pid, 'cat', path), { encoding: 'utf8' });
        return status === 0 ? stdout : null;
      }
      try {
        return readFileSync(own(path), 'utf8');
      } catch {
        return null;
      }
    },
    write: (path, text) => {
      mkdirSync(dirname(own(path)), { recursive: true });
      writeFileSync(own(path), text);
    },
    remove: (path) => rmSync(own(path), { force: true, recursive: true }),
    run: (program, args, input) => {
      const named = args.map((arg) => (Object.values<string>(paths).includes(arg) ? own(arg) : arg));
      // A kernel whose settings this container may not change refuses all of them: that is not what is tried here.
      if (program !== 'sysctl') run(pid, program, named, input);
    },
    say: () => {},
  };
}

const serverScript = `require('node:net').createServer((socket) => socket.on('error', () => {}))
  .listen(8080, '10.99.0.1', () => console.log('ready'))`;
/** Opens connections one after the other, keeps them, and tells how each went. */
const clientScript = `const count = Number(process.argv[1]);
const open = () => new Promise((done) => {
  const socket = require('node:net').connect(8080, '10.99.0.1');
  socket.on('connect', () => done('open')).on('error', (error) => done(error.code));
});
(async () => {
  const seen = [];
  for (let index = 0; index < count; index += 1) seen.push(await open());
  console.log(seen.join(' '));
  process.exit(0);
})()`;

t.test('10.7: harden on a real kernel', { skip: isPossible ? false : 'needs nft, ip, unshare and root' }, async (t) => {
  const [server, client] = [await namespaceOf(t), await namespaceOf(t)];
  run(server, 'ip', ['link', 'add', 'gh0', 'type', 'veth', 'peer', 'name', 'gh1', 'netns', String(client)]);
  for (const [pid, name, address] of [
    [server, 'gh0', '10.99.0.1/24'],
    [client, 'gh1', '10.99.0.2/24'],
  ] as const) {
    run(pid, 'ip', ['address', 'add', address, 'dev', name]);
    run(pid, 'ip', ['link', 'set', name, 'up']);
  }
  const serving: ChildProcess = spawn('nsenter', within(server, process.execPath, '-e', serverScript));
  t.teardown(() => void serving.kill());
  await once(serving.stdout as NodeJS.ReadableStream, 'data');
  const openMany = (count: number): string[] =>
    run(client, process.execPath, ['-e', clientScript, String(count)])
      .trim()
      .split(' ');
  const rulesNow = (): string => run(server, 'nft', ['-s', 'list', 'ruleset']);
  const host = hostOf(server, t.testdir({}));
  const asked = ['--ports', '8080', '--connections', '3', '--rate', '1000'];

  t.strictSame(openMany(5), Array<string>(5).fill('open'), 'before: as many as anybody wants');
  await runHarden(asked, host);
  const first = rulesNow();
  t.match(first, /table inet gatehouse_harden/);
  t.strictSame(openMany(6), ['open', 'open', 'open', 'ECONNREFUSED', 'ECONNREFUSED', 'ECONNREFUSED']);
  await runHarden(asked, host);
  const withoutClients = (text: string): string => text.replace(/elements = \{[^}]*\}/g, '');
  t.equal(withoutClients(rulesNow()), withoutClients(first), 'run again it says the same again');
  await runHarden([...asked, '--trusted', '10.99.0.0/24'], host);
  t.strictSame(openMany(6), Array<string>(6).fill('open'), 'who is trusted is not limited');
  await runHarden(['--remove'], host);
  t.equal(rulesNow().trim(), '', 'nothing is left of it');
  t.strictSame(openMany(6), Array<string>(6).fill('open'));
  await runHarden(['--remove'], host);
  t.equal(rulesNow().trim(), '', 'taken back twice is taken back');
});
