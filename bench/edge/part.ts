// The parts of a case, each a process of its own: who attacks, who is served, and the application behind. In one
// process they would wait for each other, and a latency would tell of the harness. Whoever attacks may do so at a lower
// priority: on a machine of two cores the attackers would otherwise take from the system what an attack over a network
// would not.
import { fork } from 'node:child_process';
import { setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { adopt, HarnessProblem } from '../processes.js';

/** Niceness of those who attack. */
export const attackersNice = 10;

export interface Part<Told> {
  /** The first message of the part. Rejects with HarnessProblem when it ends without one. */
  readonly told: Promise<Told>;
  /** Asks it to come to its end and tell. */
  finish(): void;
  /** Ends it as it is. */
  end(): Promise<void>;
}

/** Starts the file of `module` (its `import.meta.url`) as a process that is given `given`, which has to be JSON. */
export function startPart<Told>(module: string, given: object, nice = 0): Part<Told> {
  const file = fileURLToPath(module);
  const child = fork(file, [JSON.stringify(given)], {
    execArgv: [],
    serialization: 'advanced', // Infinity stays what it is
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  adopt(child);
  if (nice > 0 && child.pid !== undefined) setPriority(child.pid, nice);
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const told = new Promise<Told>((resolve, reject) => {
    child.once('message', (message) => resolve(message as Told));
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      reject(new HarnessProblem(`${file} ended with ${signal ?? code} and told nothing`)),
    );
  });
  told.catch(() => undefined); // whoever waits for it hears
  return {
    told,
    finish: () => void child.send('finish'),
    async end() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}

/** Whether this process is the part that `module` is. */
export const isPart = (module: string): boolean =>
  process.send !== undefined && process.argv[1] === fileURLToPath(module);

/** What the part was given. */
export const given = <Given>(): Given => JSON.parse(process.argv[2] ?? 'null') as Given;

/** Aborted when the harness asks for the end; a part whose harness is gone ends at once. */
export function untilFinish(): AbortSignal {
  const ending = new AbortController();
  process.once('message', () => ending.abort());
  process.once('disconnect', () => process.exit(1));
  return ending.signal;
}

/** Tells the harness and ends, whatever is still open. */
export function tellAndEnd(message: object): void {
  process.send?.(message, () => process.exit(0));
}
