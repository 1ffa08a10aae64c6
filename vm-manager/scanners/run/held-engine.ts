// The engine's process as a scan holds it: started, asked, ended when it takes too long. A process and not a thread,
// because V8 ends the whole process when a thread's heap is full in the midst of `JSON.parse`, and foreign text decides
// how much that takes.
import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { noAdditions, type Additions } from '../own/additions.js';
import type { FromEngine, ToEngine } from './messages.js';

const entry = new URL('./engine-process.js', import.meta.url);
/** Of JavaScript's heap. */
const heapMb = 384;
const startMsMax = 60_000;

/** The process is gone: it was ended for time, or it ran out of memory. */
export class EngineGone extends Error {}

export class HeldEngine {
  readonly #child: ChildProcess;
  readonly #gone: Promise<string>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      said = `${said}${chunk.toString()}`.slice(-2000);
    });
    this.#gone = new Promise((resolve) => {
      child.once('exit', () =>
        resolve(/heap out of memory/i.test(said) ? `needs more than ${heapMb} MB of memory` : 'ended the scanner'),
      );
      child.once('error', (error) => resolve(error.message));
    });
  }

  /** Throws EngineGone where it does not start. */
  static async start(kinds: readonly string[], additions: Additions = noAdditions): Promise<HeldEngine> {
    const child = fork(fileURLToPath(entry), [...kinds], {
      execArgv: [`--max-old-space-size=${heapMb}`],
      env: {},
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const held = new HeldEngine(child);
    await held.#answer(startMsMax, 'does not start');
    if (additions.rules.length + additions.allowed.length > 0)
      child.send({ type: 'own', additions } satisfies ToEngine, () => undefined);
    return held;
  }

  /** Throws EngineGone with the reason; then the process is gone. */
  async ask(message: ToEngine, msMax: number): Promise<Exclude<FromEngine, { type: 'ready' | 'broken' }>> {
    const answered = this.#answer(msMax, `takes longer than ${msMax / 1000} s`);
    this.#child.send(message, () => undefined);
    const made = await answered;
    if (made.type === 'ready') throw new Error('an engine began twice');
    return made;
  }

  async #answer(msMax: number, why: string): Promise<Exclude<FromEngine, { type: 'broken' }>> {
    const child = this.#child;
    let onMessage: ((message: FromEngine) => void) | undefined;
    let timer: NodeJS.Timeout | undefined;
    try {
      const made = await Promise.race([
        new Promise<FromEngine>((resolve) => {
          onMessage = resolve;
          child.once('message', onMessage);
        }),
        this.#gone.then((reason): FromEngine => ({ type: 'broken', why: reason })),
        new Promise<FromEngine>((resolve) => {
          timer = setTimeout(resolve, msMax, { type: 'broken', why });
        }),
      ]);
      if (made.type !== 'broken') return made;
      await this.end();
      throw new EngineGone(made.why);
    } finally {
      clearTimeout(timer);
      if (onMessage !== undefined) child.off('message', onMessage);
    }
  }

  /** Ends it at once, whatever it is at. */
  async end(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#gone;
  }
}
