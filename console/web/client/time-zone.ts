// The time zone in which moments are shown: each user's own choice, kept with the account. GMT+4 is what the
// specification shows, and stays what is shown before a choice is made.
import { createSignal } from 'solid-js';

export const timeZones = ['GMT+4', 'UTC', 'local'] as const;
export type TimeZone = (typeof timeZones)[number];

const [timeZone, setTimeZone] = createSignal<TimeZone>('GMT+4');
export { setTimeZone, timeZone };

const minuteMs = 60_000;
const fixedMinutes = { 'GMT+4': 240, UTC: 0 } as const;

/** Milliseconds to add to UTC; of the browser's zone they depend on the moment. */
export function offsetMsAt(ms: number): number {
  const zone = timeZone();
  return minuteMs * (zone === 'local' ? -new Date(ms).getTimezoneOffset() : fixedMinutes[zone]);
}

/** A moment that was typed as it reads on the clock of the zone, given as if it were UTC; milliseconds. */
export function fromClock(clockMs: number): number {
  // the offset is that of the moment, which is known once the offset is: twice is enough, but for an hour that
  // a clock skips
  const guess = clockMs - offsetMsAt(clockMs);
  return clockMs - offsetMsAt(guess);
}

/** `GMT+4`, `UTC`, `GMT-3:30`: the offset at a moment, so that a time is never taken for another zone's. */
export function zoneNameAt(ms: number): string {
  const minutes = offsetMsAt(ms) / minuteMs;
  if (minutes === 0) return 'UTC';
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `GMT${minutes < 0 ? '-' : '+'}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`;
}

/** As the control plane takes it, which does not know where the browser is: a name of the IANA, or one of the fixed. */
export const namedZone = (): string => {
  const zone = timeZone();
  return zone === 'local' ? Intl.DateTimeFormat().resolvedOptions().timeZone : zone;
};
