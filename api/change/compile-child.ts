// The process that compiles, as the control plane holds it: started, asked, ended, and what became of it as a sentence.
// A process and not a thread, because the threads that V8 collects garbage and optimises with belong to the process: at
// the priority of the API they took more of the processors during an apply than the compiling itself (measured: 840 ms
// of 1,150), from the same two cores that serve requests. What it held goes back to the system when it ends.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { environmentFor } from '#settings/environment';
import { ApiError } from '../http-kit/index.js';
import type { CompileStart, FromCompileProcess, ToCompileProcess } from './compile-messages.js';

/**
 * Of JavaScript's heap, in MiB: ten times what the whole rule set needs at the highest paranoia level. Beyond it the
 * process ends.
 */
export const heapMbMax = 2048;
/** What it wrote last to stderr, in characters: the reason of its end. */
const saidMax = 4000;

export interface CompileChild {
  readonly pid: number;
  send(message: ToCompileProcess): void;
  /** Whether this process has to wait for it before it ends by itself. */
  hold(isNeeded: boolean): void;
  /** Ends it at once, whatever it is at; resolves when it is gone. */
  end(): Promise<void>;
}

export interface CompileChildEvents {
  readonly onMessage: (from: CompileChild, message: FromCompileProcess) => void;
  /** Once, when it is gone or could not be started; `error` says why. */
  readonly onEnd: (gone: CompileChild, error: Error) => void;
}

export interface CompileChildLimits {
  readonly heapMb: number;
}

/** Throws where the system has no room for another process; any other start that fails is an end. */
export function startCompileChild(
  start: CompileStart,
  { onMessage, onEnd }: CompileChildEvents,
  { heapMb }: CompileChildLimits,
): CompileChild {
  const child = fork(fileURLToPath(new URL('./compile-entry.js', import.meta.url)), [JSON.stringify(start)], {
    execArgv: [`--max-old-space-size=${heapMb}`],
    env: environmentFor(null, process.env),
    serialization: 'advanced', // the structured clone of threads: bytes stay bytes
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said = `${said}${chunk.toString()}`.slice(-saidMax);
    process.stderr.write(chunk);
  });
  const stderr = child.stderr as (typeof child.stderr & { ref(): void; unref(): void }) | null;
  let hasEnded = false;
  const gone = new Promise<void>((resolve) => {
    const ended = (error: Error): void => {
      if (hasEnded) return;
      hasEnded = true;
      resolve();
      onEnd(held, error);
    };
    // Behind 'exit' the end of stderr may still be on its way; 'close' comes when it has been read.
    child.once('close', (code, signal) => ended(endOf({ code, signal, said, heapMb })));
    child.on('error', (error) => {
      if (child.pid === undefined) ended(new Error(`the compile process cannot be started: ${error.message}`));
    });
  });
  const held: CompileChild = {
    pid: child.pid ?? 0,
    send: (message) => {
      // one that is gone says so by its end
      if (child.connected) child.send(message, () => undefined);
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
  child.on('message', (message) => onMessage(held, message as FromCompileProcess));
  return held;
}

interface End {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly said: string;
  readonly heapMb: number;
}

/** Why it ended, for people: what they can mend says how, anything else is a fault of ours (500). */
export function endOf({ code, signal, said, heapMb }: End): Error {
  if (said.includes('heap out of memory'))
    return new ApiError(
      'apply_refused',
      `Compiling the rules needs more than the ${heapMb} MiB of memory that it may take. ` +
        'Fewer custom rules, shorter lists in them, or a lower paranoia level need less.',
    );
  if (signal === 'SIGKILL')
    return new ApiError(
      'busy',
      'Compiling the rules was ended from outside (SIGKILL), as a system does that is short of memory: its log says ' +
        'so. Give the machine more memory, or lower the paranoia level, and send the same again.',
      { headers: { 'retry-after': '10' } },
    );
  const last = said.trim().split('\n').slice(-5).join('\n').slice(-1000);
  return new Error(`the compile process ended with ${signal ?? code}${last === '' ? '' : `: ${last}`}`);
}
