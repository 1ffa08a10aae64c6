// The time range of the workbench: relative to now (`range=24h` in the address), or from one moment to another. Moments
// are typed and shown in the user's zone, as everywhere in the console.
import { fromClock, offsetMsAt } from '../../../client/time-zone.js';
import type { Filters } from '../../../kit/filter-bar.js';

const minuteMs = 60_000;
export const relativeRanges = {
  '15m': 15 * minuteMs,
  '1h': 60 * minuteMs,
  '6h': 360 * minuteMs,
  '24h': 1440 * minuteMs,
  '7d': 7 * 1440 * minuteMs,
  '30d': 30 * 1440 * minuteMs,
} as const;
export type RelativeRange = keyof typeof relativeRanges;
export const rangeDefault: RelativeRange = '24h';

export const isRelative = (text: string | undefined): text is RelativeRange =>
  text !== undefined && Object.hasOwn(relativeRanges, text);

export interface AbsoluteRange {
  readonly from?: string;
  readonly to?: string;
}

/** What is asked of the API; a named moment wins over `range`. */
export function rangeOf({ range, from, to }: Filters, nowMs: number): AbsoluteRange {
  if (from !== undefined || to !== undefined)
    return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  const length = relativeRanges[isRelative(range) ? range : rangeDefault];
  return { from: new Date(nowMs - length).toISOString() };
}

/** `2026-11-28T13:00` on the user's clock, as a field has it, as UTC; undefined for what is no moment. */
export function momentTyped(text: string): string | undefined {
  const ms = fromClock(Date.parse(`${text}Z`));
  return text === '' || Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}

/** The other way round. */
export function momentForField(iso: string | undefined): string {
  const ms = iso === undefined ? Number.NaN : Date.parse(iso);
  return Number.isNaN(ms) ? '' : new Date(ms + offsetMsAt(ms)).toISOString().slice(0, 16);
}

export interface Bar {
  readonly atMs: number;
  readonly n: number;
  readonly blocked: number;
}

/** Every bar of the range, also those without events. */
export function allBars(
  from: string,
  to: string,
  stepSeconds: number,
  counted: readonly { readonly at: string; readonly n: number; readonly blocked: number }[],
): Bar[] {
  const step = stepSeconds * 1000;
  const first = Math.floor(Date.parse(from) / step) * step;
  const count = Math.min(400, Math.max(1, Math.ceil((Date.parse(to) - first) / step)));
  const known = new Map(counted.map((one) => [Date.parse(one.at), one]));
  return Array.from({ length: count }, (_, index) => {
    const atMs = first + index * step;
    const { n = 0, blocked = 0 } = known.get(atMs) ?? {};
    return { atMs, n, blocked };
  });
}
