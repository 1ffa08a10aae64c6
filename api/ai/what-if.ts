// Other weights and another threshold over verdicts that are stored: what would have been decided otherwise.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Queryable } from '../db/client.js';
import { ladderOf, rungOf, fuse, gainsOf, type Rung } from './engine/fusion.js';
import type { Scored } from './engine/score.js';
import type { Weights } from './engine/vector.js';
import { verdictsFrom } from './store.js';

const chunk = 500;
/** Stored verdicts that are looked at; the answer says so when there are more. */
export const lookedAtMax = 20_000;
const examplesMax = 5;

export interface Flip {
  readonly from: Rung;
  readonly to: Rung;
  readonly count: number;
  readonly examples: readonly {
    readonly id: number;
    readonly address: string;
    readonly risk_before: number;
    readonly risk_after: number;
  }[];
}

export interface WhatIf {
  readonly looked_at: number;
  /** True: there are more than are looked at. */
  readonly truncated: boolean;
  readonly before: Readonly<Record<Rung, number>>;
  readonly after: Readonly<Record<Rung, number>>;
  readonly flips: readonly Flip[];
}

/** `since`: only verdicts from then on. Throws RangeError for a threshold that is none. */
export async function whatIf(sql: Queryable, weights: Weights, threshold: number, since: Date): Promise<WhatIf> {
  const ladder = ladderOf(threshold);
  const gains = gainsOf(weights);
  const before: Record<Rung, number> = { ALLOW: 0, RATE_LIMIT: 0, CHALLENGE: 0, BLOCK: 0 };
  const after: Record<Rung, number> = { ...before };
  const flips = new Map<string, { from: Rung; to: Rung; count: number; examples: Flip['examples'][number][] }>();
  let lookedAt = 0;
  for (let cursor = 0; lookedAt < lookedAtMax; ) {
    const rows = await verdictsFrom(sql, since, cursor, chunk);
    for (const { id, address, result, verdict: from, risk } of rows) {
      cursor = id;
      lookedAt += 1;
      const now = fuse((JSON.parse(result) as Scored).layers, gains);
      const to = rungOf(now, ladder);
      before[from] += 1;
      after[to] += 1;
      if (from === to) continue;
      const key = `${from} ${to}`;
      const flip = flips.get(key) ?? { from, to, count: 0, examples: [] };
      flips.set(key, flip);
      flip.count += 1;
      if (flip.examples.length < examplesMax) flip.examples.push({ id, address, risk_before: risk, risk_after: now });
    }
    if (rows.length < chunk)
      return { looked_at: lookedAt, truncated: false, before, after, flips: [...flips.values()] };
    await nextTurn();
  }
  return { looked_at: lookedAt, truncated: true, before, after, flips: [...flips.values()] };
}
