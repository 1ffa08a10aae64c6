// When a schedule is due: five fields of cron in a zone of the IANA's database. A time that the clock skips in spring
// is due an hour later by the clock, one that comes twice in autumn is due once.
import { createHash } from 'node:crypto';
import { Cron } from 'croner';
import { unfit } from '../kit/endpoint.js';

/** More often than that nothing ends before it begins again. */
const shortestMs = 5 * 60_000;

export interface Timing {
  readonly cron: string;
  readonly timezone: string;
}

const toCron = ({ cron, timezone }: Timing): Cron => new Cron(cron, { timezone, mode: '5-part', paused: true });

/** Throws 422 for what is no schedule, never comes, or comes too often. */
export function checkTiming(timing: Timing, now: Date): void {
  try {
    Intl.DateTimeFormat('en-GB', { timeZone: timing.timezone });
  } catch {
    throw unfit('/timezone', 'is no time zone', 'name one as Europe/Vienna or UTC');
  }
  let next: readonly Date[];
  try {
    next = toCron(timing).nextRuns(4, now);
  } catch {
    throw unfit('/cron', 'is no schedule', 'write minute, hour, day, month and weekday, as 0 3 * * 1-5');
  }
  if (next.length === 0) throw unfit('/cron', 'never comes', 'name a day that its month has');
  for (const [at, one] of next.entries()) {
    const before = next[at - 1];
    if (before !== undefined && one.getTime() - before.getTime() < shortestMs)
      throw unfit('/cron', 'comes more often than each five minutes', 'write */5 or less often');
  }
}

/** The same for a schedule each time, so that its runs are as far apart as their times are. */
function jitterMs(id: number, seconds: number): number {
  const number = createHash('sha256').update(`schedule ${id}`).digest().readUInt32BE(0);
  return (number % (seconds + 1)) * 1000;
}

export interface Planned extends Timing {
  readonly id: number;
  readonly jitter_seconds: number;
}

/** The first time after `now`; null: it never comes. */
export function nextTime(of: Planned, now: Date): Date | null {
  const offset = jitterMs(of.id, of.jitter_seconds);
  const next = toCron(of).nextRun(new Date(now.getTime() - offset));
  return next === null ? null : new Date(next.getTime() + offset);
}
