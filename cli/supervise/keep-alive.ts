// A child that dies is started again, with pauses that grow while it keeps dying.
import { shown } from '../environment/directories.js';
import type { Child } from './child.js';

export interface Pauses {
  readonly firstMs: number;
  readonly mostMs: number;
}

/** Of a part that nobody waits for at the moment: what it cannot do now it can do in a minute. */
export const patientPauses: Pauses = { firstMs: 1000, mostMs: 30_000 };

/** Of the data plane: while it is away, nobody is served, and it starts in less than a second. */
export const urgentPauses: Pauses = { firstMs: 50, mostMs: 5000 };

const quietMsMin = 60_000;

/** What happened and the very last words: for a message that comes again and again. */
export function inShort(message: string): string {
  const lines = message.split('\n');
  return lines.length < 3 ? message : `${lines[0]} ${lines.at(-1)?.trim()}`;
}

/**
 * Starts a child again when it dies. The pause doubles up to the most, and is the first again after a quiet minute.
 * `argsOf`: what it is started with the next time.
 */
export function keepAlive(
  child: Child,
  pauses: Pauses,
  argsOf: (args: readonly string[]) => readonly string[] = (args) => args,
): void {
  let pauseMs = pauses.firstMs;
  let startedMs = Date.now();
  child.onExit = (reason) => {
    if (child.isStopping) return;
    if (Date.now() - startedMs > quietMsMin) pauseMs = pauses.firstMs;
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
    pauseMs = Math.min(pauseMs * 2, pauses.mostMs);
  };
}

/** What serves now may be newer than what this start began with: a data plane that died comes back with that. */
export const resuming = (args: readonly string[]): string[] =>
  args.map((arg) => (arg === '--local' ? '--resume' : arg));
