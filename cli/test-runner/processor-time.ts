// The processor time that test files take: unlike the time on the clock it is nearly the same on a machine that is busy
// with other things, and it is what a whole run costs.
import { readFileSync } from 'node:fs';

/** Of one second, as Linux counts in /proc. */
const ticks = 100;

export interface Seconds {
  readonly user: number;
  readonly system: number;
}

/** A line of /proc/PID/stat; proc(5): utime, stime, cutime, cstime. */
function parse(text: string): { readonly own: Seconds; readonly gone: Seconds } {
  // the name of the program stands in front, in brackets, and may hold blanks
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const at = (index: number): number => Number(fields[index]) / ticks;
  return { own: { user: at(11), system: at(12) }, gone: { user: at(13), system: at(14) } };
}

function read(): ReturnType<typeof parse> | null {
  try {
    return parse(readFileSync('/proc/self/stat', 'latin1'));
  } catch {
    return null;
  }
}

/** Of the processes that this one has started and that are gone, with theirs; null where the system does not say. */
export const readSecondsOfGone = (): Seconds | null => read()?.gone ?? null;

const sum = ({ user, system }: Seconds): number => user + system;

/**
 * The same in all, as seconds since the last call; of two processes that end in the same moment the first one gets
 * what both took.
 */
export function createSecondsOfGone(): () => number | null {
  let before = sum(readSecondsOfGone() ?? { user: 0, system: 0 });
  return () => {
    const now = readSecondsOfGone();
    if (now === null) return null;
    const taken = sum(now) - before;
    before = sum(now);
    return taken;
  };
}

/** Of this process and of those it has started that are gone, in all; null where the system does not say. */
export function readSeconds(): number | null {
  const found = read();
  return found === null ? null : sum(found.own) + sum(found.gone);
}
