// Moments in the user's zone (time-zone.ts), with the offset written out; what leaves the console (exports, copies) is
// UTC.
import { clientText as text } from '../texts/client.js';
import { fromClock, offsetMsAt, zoneNameAt } from './time-zone.js';

const two = (value: number): string => String(value).padStart(2, '0');

/** The same moment with the clock of the zone as its UTC. */
const onClock = (ms: number): Date => new Date(ms + offsetMsAt(ms));

/** `2026-11-22 15:04:05 GMT+4`. */
export function showMoment(iso: string | null | undefined, isShort = false): string {
  if (iso == null) return '–';
  const ms = Date.parse(iso);
  const at = onClock(ms);
  if (Number.isNaN(at.getTime())) return iso;
  const day = `${at.getUTCFullYear()}-${two(at.getUTCMonth() + 1)}-${two(at.getUTCDate())}`;
  const time = `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())}`;
  return isShort ? `${day.slice(5)} ${time}` : `${day} ${time} ${zoneNameAt(ms)}`;
}

export const zoneName = (): string => zoneNameAt(Date.now());

/** The day that lies so many days after a moment, in the zone that is shown: `2026-12-24`. */
export const dayAfter = (nowMs: number, days: number): string =>
  onClock(nowMs + days * 86_400_000)
    .toISOString()
    .slice(0, 10);

/** The end of a day of the zone that is shown, in UTC; undefined for what is no day. */
export function endOfDay(day: string): string | undefined {
  const end = fromClock(Date.parse(`${day}T23:59:59Z`));
  return Number.isNaN(end) ? undefined : new Date(end).toISOString();
}

/** `3 min ago`, for what is recent. */
export function showAge(iso: string | null | undefined, nowMs: number): string {
  if (iso == null) return 'never';
  const seconds = Math.max(0, Math.round((nowMs - Date.parse(iso)) / 1000));
  if (seconds < 60) return text.sAgo(seconds);
  if (seconds < 3600) return text.minAgo(Math.round(seconds / 60));
  if (seconds < 172_800) return text.hAgo(Math.round(seconds / 3600));
  return text.daysAgo(Math.round(seconds / 86_400));
}

/** A length of time given in seconds, in the units that matter at that length: `53 s`, `1 h 28 min`, `3 days`. */
export function showSpan(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  const minutes = Math.round(whole / 60);
  if (whole < 60) return text.s(whole);
  if (minutes < 60) return text.min(minutes);
  if (whole >= 172_800) return text.days(Math.round(whole / 86_400));
  const [h, min] = [Math.floor(minutes / 60), minutes % 60];
  return min === 0 ? text.h(h) : text.hMin(h, min);
}

const units = ['B', 'kB', 'MB', 'GB', 'TB'];

export function showBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value >= 100 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

export const showCount = (value: number): string => value.toLocaleString('en-GB');

export const showMicroseconds = (us: number): string =>
  us < 1000 ? `${us} µs` : us < 1_000_000 ? `${(us / 1000).toFixed(1)} ms` : `${(us / 1_000_000).toFixed(2)} s`;
