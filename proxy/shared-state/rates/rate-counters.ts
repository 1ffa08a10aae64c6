// Rate limits that are exact across all workers: the generic cell rate algorithm (GCRA; ITU-T I.371 annex A calls it
// the virtual scheduling algorithm) over a shared table of keys. `events` requests may come at once; each gets its
// place back after a further window / events. So no window of the length W has more than 2 × events − 1, and a client
// that keeps to the rate is never refused. One number a key: the moment at which all places are free again.
//
// Rejected: a log of moments (exact for every window, and as many numbers a key as it has events); two fixed windows
// weighted by time (cheap, and exact for nobody). Exactness: time counts in whole ticks of at most a microsecond, of
// which an event costs a whole number, so that sums are those of integers. Nothing is allocated by `take`.
//
// Slow twin: rate-counters.test.ts, the same in rational numbers.
import { mix } from '../client-key.js';
import type { KeyTable } from '../key-table.js';

/** What a key has in the table: the moment at which all places are free, in ticks of its limit. */
export const rateColumns = 1;

/** 2,097,152 keys: 42 MB of addresses, of which the system gives what is used. */
export const rateEntries = 2 ** 21;

export interface Rate {
  readonly events: number;
  readonly windowSeconds: number;
  readonly ticksPerMs: number;
  readonly ticksPerEvent: number;
  /** Of the limit itself, so that two limits of one client are two keys. */
  readonly low: number;
  readonly high: number;
}

/** Ticks of a limit: the same wherever the numbers are. */
function ticksOf(events: number, windowSeconds: number): Pick<Rate, 'ticksPerMs' | 'ticksPerEvent'> {
  const ticksPerEvent = Math.max(1, Math.ceil((windowSeconds * 1e6) / events));
  return { ticksPerEvent, ticksPerMs: (ticksPerEvent * events) / (windowSeconds * 1000) };
}

/** `name` and the numbers together are the limit: with other numbers it begins anew. */
export function compileRate(name: string, events: number, windowSeconds: number): Rate {
  const identity = `${name} ${events}/${windowSeconds}`;
  let low = 0x811c9dc5;
  let high = 0x01000193;
  for (let at = 0; at < identity.length; at += 1) {
    low = mix(low ^ identity.charCodeAt(at));
    high = mix(high + identity.charCodeAt(at));
  }
  return {
    events,
    windowSeconds,
    ...ticksOf(events, windowSeconds),
    low,
    high,
  };
}

/**
 * Takes a place of the key `low`, `high` at `nowMs` (one clock for all threads). 0: taken; otherwise nothing was taken,
 * and the milliseconds until a place is free. `nodes`: a place costs as many as there are nodes, so that each gives
 * away its fair share of what is left (limits of several nodes whose store does not answer).
 */
export function take(table: KeyTable, rate: Rate, low: number, high: number, nowMs: number, nodes = 1): number {
  const keyLow = mix(low ^ rate.low);
  const keyHigh = mix((high + rate.high) >>> 0);
  const now = Math.round(nowMs * rate.ticksPerMs);
  const nowSeconds = Math.floor(nowMs / 1000);
  const bucket = table.enter(keyLow);
  try {
    let at = table.find(bucket, keyLow, keyHigh, nowSeconds);
    const freeAt = at < 0 ? now : Math.max(now, table.get(0, at));
    const next = freeAt + rate.ticksPerEvent * Math.min(nodes, rate.events);
    const excess = next - now - rate.ticksPerEvent * rate.events;
    if (excess > 0) return excess / rate.ticksPerMs;
    if (at < 0) at = table.claim(bucket, keyLow, keyHigh, nowSeconds);
    table.set(0, at, next);
    table.endAt(at, Math.floor(next / rate.ticksPerMs / 1000) + 1);
    return 0;
  } finally {
    table.leave(bucket);
  }
}

/**
 * Writes down what is known to be taken of a key elsewhere: `levelMs` from `nowMs` on all places are free. It counts
 * where it is more than what was taken here: a place that was taken is never forgotten.
 */
export function settle(
  table: KeyTable,
  { rate, low, high }: { readonly rate: Rate; readonly low: number; readonly high: number },
  { levelMs, nowMs }: { readonly levelMs: number; readonly nowMs: number },
): void {
  const keyLow = mix(low ^ rate.low);
  const keyHigh = mix((high + rate.high) >>> 0);
  const freeAt = Math.round((nowMs + levelMs) * rate.ticksPerMs);
  const nowSeconds = Math.floor(nowMs / 1000);
  const bucket = table.enter(keyLow);
  try {
    let at = table.find(bucket, keyLow, keyHigh, nowSeconds);
    if (at < 0) at = table.claim(bucket, keyLow, keyHigh, nowSeconds);
    else if (table.get(0, at) >= freeAt) return;
    table.set(0, at, freeAt);
    table.endAt(at, Math.floor(freeAt / rate.ticksPerMs / 1000) + 1);
  } finally {
    table.leave(bucket);
  }
}

/** Milliseconds until all places of a key are free; 0: they are, or nothing is known of it. */
export function levelOf(table: KeyTable, rate: Rate, low: number, high: number, nowMs: number): number {
  const keyLow = mix(low ^ rate.low);
  const bucket = table.enter(keyLow);
  try {
    const at = table.find(bucket, keyLow, mix((high + rate.high) >>> 0), Math.floor(nowMs / 1000));
    return at < 0 ? 0 : Math.max(0, table.get(0, at) / rate.ticksPerMs - nowMs);
  } finally {
    table.leave(bucket);
  }
}
