// A process of our own beside the control plane, as whoever started it holds it: asked by messages, bound to the life
// of this one or not, ended, and what became of it. A process and not a thread where foreign text decides how much
// memory is used: V8 ends the whole process, and not the thread, when a thread's heap is full in the midst of work that
// it cannot interrupt, such as `JSON.parse`.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { environmentFor } from '#settings/environment';
import { putTogether } from './put-together.js';

/** What it wrote last to stderr, in characters: the reason of its end. */
const saidMax = 4000;

export interface HeldProcess<To> {
  readonly pid: number;
  send(message: To): void;
  /** Whether this process has to wait for it before it ends by itself. */
  hold(isNeeded: boolean): void;
  /** Ends it at once, whatever it is at; resolves when it is gone. */
  end(): Promise<void>;
}

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Its last words on stderr. */
  readonly said: string;
}

export interface ProcessStart<To, From> {
  /** The module that it runs; the same put together, where it has been. */
  readonly entry: URL;
  readonly args?: readonly string[];
  /** Of JavaScript's heap, in MiB; beyond it the process ends (`outOfMemory`). */
  readonly heapMb: number;
  /** What it writes to stderr is written here, too. */
  readonly isLoud?: boolean;
  readonly onMessage: (from: HeldProcess<To>, message: From) => void;
  /** Once, when it is gone, or with an Error when it could not be started. */
  readonly onEnd: (gone: HeldProcess<To>, end: ProcessEnd | Error) => void;
}

/** Throws where the system has no room for another process; any other start that fails is an end. */
export function startProcess<To, From>(start: ProcessStart<To, From>): HeldProcess<To> {
  const { entry, args = [], heapMb, isLoud = false, onMessage, onEnd } = start;
  const child = fork(fileURLToPath(putTogether(entry)), args, {
    execArgv: [`--max-old-space-size=${heapMb}`],
    env: environmentFor(null, process.env),
    serialization: 'advanced', // the structured clone of threads: bytes stay bytes
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said = `${said}${chunk.toString()}`.slice(-saidMax);
    if (isLoud) process.stderr.write(chunk);
  });
  const stderr = child.stderr as (typeof child.stderr & { ref(): void; unref(): void }) | null;
  let hasEnded = false;
  const gone = new Promise<void>((resolve) => {
    const ended = (end: ProcessEnd | Error): void => {
      if (hasEnded) return;
      hasEnded = true;
      resolve();
      onEnd(held, end);
    };
    // Behind 'exit' the end of stderr may still be on its way; 'close' comes when it has been read.
    child.once('close', (code, signal) => ended({ code, signal, said }));
    child.on('error', (error) => {
      if (child.pid === undefined) ended(error);
    });
  });
  const held: HeldProcess<To> = {
    pid: child.pid ?? 0,
    send: (message) => {
      // one that is gone says so by its end
      if (child.connected) child.send(message as object, () => undefined);
    },
    hold(isNeeded) {
      for (const part of [child, child.channel, stderr])
        if (isNeeded) part?.ref();
        else part?.unref();
    },
    async end() {
      this.hold(true);
      child.kill('SIGKILL');
      await gone;
    },
  };
  child.on('message', (message) => onMessage(held, message as From));
  return held;
}

/** Whether it ended because its heap was full. */
export const outOfMemory = ({ said }: ProcessEnd): boolean => said.includes('heap out of memory');

/** An end that nobody can fix but us, with the last words, for the log. */
export function unexpectedEnd(what: string, { code, signal, said }: ProcessEnd): Error {
  const last = said.trim().split('\n').slice(-5).join('\n').slice(-1000);
  return new Error(`${what} ended with ${signal ?? code}${last === '' ? '' : `: ${last}`}`);
}
