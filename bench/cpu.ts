// CPU time and memory of processes, from /proc (Linux). Clock ticks are 10 ms: runs shorter than a second say nothing.
import { readFileSync, readdirSync } from 'node:fs';

const ticksPerSecond = 100; // USER_HZ on every Linux that Node supports

function ticks(statFile: string): { readonly name: string; readonly ticks: number } {
  const text = readFileSync(statFile, 'latin1');
  const close = text.lastIndexOf(')'); // the name may hold anything, parentheses too
  const fields = text.slice(close + 2).split(' ');
  return { name: text.slice(text.indexOf('(') + 1, close), ticks: Number(fields[11]) + Number(fields[12]) };
}

/** A process that ended in between counts as it was: its time is lost, which the caller sees as a failed run anyway. */
function isGone(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === 'ENOENT' || code === 'ESRCH';
}

/** The process and its descendants: nginx works in children of its master. */
function familyOf(pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim();
    return [pid, ...(children === '' ? [] : children.split(' ').flatMap((child) => familyOf(Number(child))))];
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
}

/** User + system time in microseconds, all threads, with descendants. */
export function cpuUs(pid: number): number {
  return familyOf(pid).reduce(
    (sum, member) => sum + (ticks(`/proc/${member}/stat`).ticks * 1_000_000) / ticksPerSecond,
    0,
  );
}

export interface ThreadTime {
  readonly tid: number;
  readonly name: string;
  readonly us: number;
}
export function threadTimes(pid: number): ThreadTime[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((tid) => {
    try {
      const { name, ticks: count } = ticks(`/proc/${pid}/task/${tid}/stat`);
      return [{ tid: Number(tid), name, us: (count * 1_000_000) / ticksPerSecond }];
    } catch (error) {
      if (isGone(error)) return [];
      throw error;
    }
  });
}

/** Resident memory in bytes, with descendants (shared pages of nginx workers count more than once). */
export function residentBytes(pid: number): number {
  return familyOf(pid).reduce(
    (sum, member) =>
      sum + Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${member}/status`, 'latin1'))?.[1] ?? 0) * 1024,
    0,
  );
}

/**
 * Microseconds since boot in which something that could have run waited for a processor; null where the kernel does not
 * say. Source: Linux, Documentation/accounting/psi.rst.
 */
export function cpuWaitUs(): number | null {
  try {
    const total = /^some .*total=(\d+)/m.exec(readFileSync('/proc/pressure/cpu', 'latin1'))?.[1];
    return total === undefined ? null : Number(total);
  } catch {
    return null;
  }
}
