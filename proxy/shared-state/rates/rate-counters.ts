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
import type { RateExchange, TakenPlace } from './rate-exchange.js';

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
 * and the milliseconds until a place is free. With an exchange the limit is one of several nodes (rate-exchange.ts).
 */
export function take(
  table: KeyTable,
  rate: Rate,
  low: number,
  high: number,
  nowMs: number,
  exchange: RateExchange | null = null,
): number {
  const keyLow = mix(low ^ rate.low);
  const keyHigh = mix((high + rate.high) >>> 0);
  const now = Math.round(nowMs * rate.ticksPerMs);
  const nowSeconds = Math.floor(nowMs / 1000);
  const bucket = table.enter(keyLow);
  try {
    let at = table.find(bucket, keyLow, keyHigh, nowSeconds);
    const freeAt = at < 0 ? now : Math.max(now, table.get(0, at));
    const nodes = exchange === null ? 1 : Math.min(exchange.nodes, rate.events);
    const next = freeAt + rate.ticksPerEvent * nodes;
    const excess = next - now - rate.ticksPerEvent * rate.events;
    if (excess > 0) return excess / rate.ticksPerMs;
    if (at < 0) at = table.claim(bucket, keyLow, keyHigh, nowSeconds);
    table.set(0, at, next);
    table.endAt(at, Math.floor(next / rate.ticksPerMs / 1000) + 1);
    if (exchange !== null) exchange.note(rate, keyLow, keyHigh);
    return 0;
  } finally {
    table.leave(bucket);
  }
}

/** What the store says of a key, and what this node took that the store does not know of. */
export interface Settling {
  /** From now on, until all places are free. */
  readonly levelMs: number;
  readonly nowMs: number;
  /** It replaces what was known here; else it counts where it is more. */
  readonly isWhole: boolean;
  /**
   * What this node took since, in ms; asked while the key is locked, so that no worker can take a place between the
   * question and what is written (a place is noted under the same lock).
   */
  readonly sinceMs: () => number;
}

/** Writes down what all nodes together have taken of a key. */
export function settle(table: KeyTable, { low, high, events, windowSeconds }: TakenPlace, settling: Settling): void {
  const { levelMs, nowMs, isWhole, sinceMs } = settling;
  const { ticksPerMs } = ticksOf(events, windowSeconds);
  const nowSeconds = Math.floor(nowMs / 1000);
  const bucket = table.enter(low);
  try {
    const freeAt = Math.round((nowMs + levelMs + sinceMs()) * ticksPerMs);
    let at = table.find(bucket, low, high, nowSeconds);
    if (at < 0) at = table.claim(bucket, low, high, nowSeconds);
    else if (!isWhole && table.get(0, at) >= freeAt) return;
    table.set(0, at, freeAt);
    table.endAt(at, Math.floor(freeAt / ticksPerMs / 1000) + 1);
  } finally {
    table.leave(bucket);
  }
}
