// Network namespaces for a fault run, each with one device, and delay and loss between them: by the kernel's netem
// where it has it, else by a switch of our own (link.c). A watcher outside of this process ends what runs in
// them and removes
// them when this process is gone, whatever ended it.
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { HarnessProblem, adopt, runToEnd, temporaryDirectory } from '../processes.js';

const prefix = 'ghf';
export const ownAddress = '10.213.77.1';

export interface Place {
  readonly name: string;
  readonly address: string;
}

export interface Network {
  /** How delay and loss are made. */
  readonly means: string;
  readonly places: ReadonlyMap<string, Place>;
  /** Starts a program in a namespace. */
  spawn(place: string, command: readonly string[], options: SpawnOptions): ChildProcess;
  /** Takes the device of a namespace down, or up again. */
  setLink(place: string, isUp: boolean): void;
  /** Processes in a namespace. */
  pids(place: string): readonly number[];
  /** Ends everything in it and removes it. */
  remove(): Promise<void>;
}

export interface SpawnOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

export interface Weather {
  readonly delayMs: number;
  readonly lossPercent: number;
  readonly seed: number;
}

const ip = (...words: readonly string[]): void =>
  void execFileSync('ip', words, { stdio: ['ignore', 'ignore', 'pipe'] });

/** Why no fault run is possible here; null: it is. */
export function whyNoNetwork(): string | null {
  if (process.getuid?.() !== 0) return 'network namespaces need root';
  if (spawnSync('ip', ['netns', 'list']).status !== 0) return 'no `ip netns` here: apt-get install iproute2';
  return null;
}

/** Runs in a session of its own and reads until whoever started it is gone. */
function startWatcher(names: readonly string[]): ChildProcess {
  const each = 'ip netns pids $n | xargs -r kill -9; ip netns del $n';
  const script = `read -r _; for n in ${names.join(' ')}; do ${each}; done; ip link del ${prefix}0; exit 0`;
  return spawn('/bin/sh', ['-c', script], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
}

/** Of runs whose watcher was killed, too. */
function removeStale(): void {
  const names = execFileSync('ip', ['netns', 'list'], { encoding: 'utf8' }).split('\n');
  for (const name of names.map((line) => line.split(' ')[0] ?? '')) {
    const pid = new RegExp(`^${prefix}-(\\d+)-`).exec(name)?.[1];
    if (pid === undefined || spawnSync('kill', ['-0', pid]).status === 0) continue;
    spawnSync('/bin/sh', ['-c', `ip netns pids ${name} | xargs -r kill -9; ip netns del ${name}`]);
  }
}

function hasNetem(namespace: string): boolean {
  const words = ['netns', 'exec', namespace, 'tc', 'qdisc', 'add', 'dev', 'lo', 'root', 'netem', 'delay', '1ms'];
  const isThere = spawnSync('ip', words).status === 0;
  if (isThere) spawnSync('ip', ['netns', 'exec', namespace, 'tc', 'qdisc', 'del', 'dev', 'lo', 'root']);
  return isThere;
}

/** A bridge here, a pair of devices for each namespace, and netem on both ends. */
function bridge(names: readonly string[], { delayMs, lossPercent }: Weather): void {
  ip('link', 'add', `${prefix}0`, 'type', 'bridge');
  const netem = ['root', 'netem', 'delay', `${delayMs}ms`, 'loss', `${lossPercent}%`];
  for (const [index, name] of names.entries()) {
    const port = `${prefix}${index + 1}`; // goes with its other end
    ip('link', 'add', port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
    ip('link', 'set', port, 'master', `${prefix}0`, 'up');
    execFileSync('ip', ['netns', 'exec', name, 'tc', 'qdisc', 'add', 'dev', 'eth0', ...netem]);
  }
}

async function startLink(root: string, names: readonly string[], weather: Weather): Promise<ChildProcess> {
  const temporary = temporaryDirectory('link');
  const program = join(temporary.path, 'link');
  const made = await runToEnd('cc', ['-O2', '-o', program, join(root, 'bench/faults/link.c')]);
  if (made.code !== 0) throw new HarnessProblem(`no C compiler for bench/faults/link.c: ${made.stderr.slice(-500)}`);
  const words = [weather.delayMs * 1000, weather.lossPercent * 10, weather.seed % 2 ** 31, ...names, '-'].map(String);
  const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] });
  adopt(child);
  await new Promise<void>((resolve, reject) => {
    child.stdout.once('data', () => resolve());
    child.once('exit', (code) => reject(new HarnessProblem(`the switch ended with ${code}`)));
  });
  return child;
}

/** Makes a namespace for each name. Throws HarnessProblem where that is not possible. */
export async function makeNetwork(root: string, placeNames: readonly string[], weather: Weather): Promise<Network> {
  removeStale();
  const nameOf = (place: string): string => `${prefix}-${process.pid}-${place}`;
  const names = placeNames.map(nameOf);
  const watcher = startWatcher(names);
  for (const name of names) ip('netns', 'add', name);
  const withNetem = hasNetem(names[0] ?? '');
  if (withNetem) bridge(names, weather);
  else await startLink(root, names, weather);
  const own = `${prefix}0`;
  ip('addr', 'add', `${ownAddress}/24`, 'dev', own);
  ip('link', 'set', own, 'up');
  const places = new Map<string, Place>();
  for (const [index, place] of placeNames.entries()) {
    const [name, address] = [nameOf(place), `10.213.77.${index + 10}`];
    ip('-n', name, 'addr', 'add', `${address}/24`, 'dev', 'eth0');
    for (const device of ['lo', 'eth0']) ip('-n', name, 'link', 'set', device, 'up');
    places.set(place, { name: place, address });
  }
  return {
    means: withNetem ? 'netem' : 'bench/faults/link.c, as this kernel has no netem',
    places,
    spawn(place, [command = '', ...args], { cwd, env }) {
      const words = ['netns', 'exec', nameOf(place), command, ...args];
      return spawn('ip', words, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    },
    setLink: (place, isUp) => ip('-n', nameOf(place), 'link', 'set', 'eth0', isUp ? 'up' : 'down'),
    pids: (place) =>
      execFileSync('ip', ['netns', 'pids', nameOf(place)], { encoding: 'utf8' })
        .split('\n')
        .filter(Boolean)
        .map(Number),
    async remove() {
      watcher.stdin?.end();
      await new Promise((resolve) => watcher.once('exit', resolve));
    },
  };
}
