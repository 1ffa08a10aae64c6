// Who asked whom inside, summed up from records of a mesh and of traces.
import { keptText } from '../inventory/kept.js';
import type { ForeignExchange } from './exchange.js';

export interface Hop {
  readonly caller: string;
  readonly callee: string;
  readonly requests: number;
  readonly unidentified: number;
  readonly failed: number;
  readonly first: number;
  readonly last: number;
}

const nameCharsMax = 200;

type Keeping = Parameters<typeof keptText>[1];

const clip = (name: string, keeping: Keeping): string =>
  keptText(name, keeping)
    .replace(/[\0\ud800-\udfff]/gu, '')
    .slice(0, nameCharsMax);

/** Sums by who asked and who was asked, under the names that may be kept. */
export function hopsOf(exchanges: readonly ForeignExchange[], keeping: Keeping): readonly Hop[] {
  const hops = new Map<string, Hop>();
  for (const { hop, status, atMs, headers } of exchanges) {
    if (hop === null) continue;
    const caller = clip(hop.from, keeping);
    const callee = clip(hop.to, keeping);
    const key = `${caller}\0${callee}`;
    const before = hops.get(key) ?? {
      caller,
      callee,
      requests: 0,
      unidentified: 0,
      failed: 0,
      first: atMs,
      last: atMs,
    };
    const isIdentified = hop.isIdentified || headers.some((name, at) => at % 2 === 0 && /^authorization$/i.test(name));
    hops.set(key, {
      ...before,
      requests: before.requests + 1,
      unidentified: before.unidentified + (isIdentified ? 0 : 1),
      failed: before.failed + (status >= 400 ? 1 : 0),
      first: Math.min(before.first, atMs),
      last: Math.max(before.last, atMs),
    });
  }
  return [...hops.values()];
}
