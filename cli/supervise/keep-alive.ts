// A child that dies is started again, with pauses that grow while it keeps dying.
import { shown } from '../environment/directories.js';
import type { Child } from './child.js';

const restartPauseMsMax = 30_000;
const quietMsMin = 60_000;

/** What happened and the very last words: for a message that comes again and again. */
export function inShort(message: string): string {
  const lines = message.split('\n');
  return lines.length < 3 ? message : `${lines[0]} ${lines.at(-1)?.trim()}`;
}

/**
 * Starts a child again when it dies, with pauses of 1, 2, 4 … 30 s; the pause shrinks again after a quiet minute.
 * `argsOf`: what it is started with the next time.
 */
export function keepAlive(child: Child, argsOf: (args: readonly string[]) => readonly string[] = (args) => args): void {
  let pauseMs = 1000;
  let startedMs = Date.now();
  child.onExit = (reason) => {
    if (child.isStopping) return;
    if (Date.now() - startedMs > quietMsMin) pauseMs = 1000;
    const where = `${shown(child.logFile)} says why`;
    console.log(`${child.name} ended with ${reason}; starting it again in ${pauseMs / 1000} s (${where})`);
    setTimeout(() => {
      if (child.isStopping) return;
      startedMs = Date.now();
      child.args = argsOf(child.args);
      child.start().then(
        () => console.log(`${child.name} is back`),
        (error: Error) => console.error(`gatehouse: ${inShort(error.message)}`),
      );
    }, pauseMs);
    pauseMs = Math.min(pauseMs * 2, restartPauseMsMax);
  };
}
