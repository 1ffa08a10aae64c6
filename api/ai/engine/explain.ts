// Why a verdict is what it is, and what would have to be absent for the next lower one.
import { fuse, gainsOf, ladderOf, pointsOf, rank, rungOf, rungs, type Rung } from './fusion.js';
import type { Scored } from './score.js';
import type { Signal, Weights } from './vector.js';

/** Sets that are tried at most: with twenty signals more than any set of up to six. */
const triesMax = 100_000;

export interface Explanation {
  /** Signals, with what the risk would lose without each. */
  readonly why: readonly (Signal & { readonly contribution: number })[];
  readonly why_not: {
    /** Codes. Empty: there is no lower rung. */
    readonly signals: readonly string[];
    readonly risk: number;
    readonly verdict: Rung;
    /** True: no set of signals leads to the very next rung, and this is the smallest that leads to a lower one. */
    readonly skips: boolean;
  };
  readonly distance: {
    /** Points of risk up to the next rung; null: it is the highest. */
    readonly up: number | null;
    /** Points of risk that it is above the lowest risk of its rung, and one more; null: it is the lowest. */
    readonly down: number | null;
  };
}

export function explain(scored: Scored, weights: Weights, threshold: number): Explanation {
  const gains = gainsOf(weights);
  const ladder = ladderOf(threshold);
  const { signals, risk, verdict } = scored;
  const without = (left: ReadonlySet<number>): number =>
    fuse(pointsOf(signals.filter((_, index) => !left.has(index))), gains);
  const found = smallestSet(signals, verdict, (set) => rungOf(without(set), ladder));
  const after = without(found.set);
  const higher = rungs[rank(verdict) + 1];
  return {
    why: signals.map((signal, index) => ({ ...signal, contribution: risk - without(new Set([index])) })),
    why_not: {
      signals: [...found.set].map((index) => (signals[index] as Signal).code),
      risk: after,
      verdict: rungOf(after, ladder),
      skips: found.skips,
    },
    distance: {
      up: higher === undefined || higher === 'ALLOW' ? null : ladder[higher] - risk,
      down: verdict === 'ALLOW' ? null : risk - ladder[verdict] + 1,
    },
  };
}

/**
 * The smallest set of signals without which the verdict is exactly one rung lower. No proper subset of it lowers the
 * verdict: without fewer signals the risk is higher, so it would lead to that same rung, and be the smaller set. Where
 * no set leads there (one strong signal that is everything), the smallest that leads to any lower rung.
 */
function smallestSet(
  signals: readonly Signal[],
  verdict: Rung,
  rungWithout: (set: ReadonlySet<number>) => Rung,
): { readonly set: ReadonlySet<number>; readonly skips: boolean } {
  const none = new Set<number>();
  if (verdict === 'ALLOW') return { set: none, skips: false };
  const target = rank(verdict) - 1;
  let lower: ReadonlySet<number> | null = null;
  let tries = 0;
  for (let size = 1; size <= signals.length; size += 1) {
    for (const indexes of subsets(signals.length, size)) {
      const set = new Set(indexes);
      const reached = rank(rungWithout(set));
      if (reached === target) return { set, skips: false };
      if (reached < target) lower ??= set;
      tries += 1;
      if (tries <= triesMax) continue;
      const given = lower ?? greedy(signals, verdict, rungWithout);
      return { set: given, skips: rank(rungWithout(given)) !== target };
    }
  }
  return { set: lower ?? none, skips: true };
}

/** All sets of so many indexes below `count`, in order. */
export function* subsets(count: number, size: number): Generator<readonly number[]> {
  const at = Array.from({ length: size }, (_, index) => index);
  for (;;) {
    yield at;
    let place = size - 1;
    while (place >= 0 && (at[place] as number) === count - size + place) place -= 1;
    if (place < 0) return;
    at[place] = (at[place] as number) + 1;
    for (let next = place + 1; next < size; next += 1) at[next] = (at[next - 1] as number) + 1;
  }
}

/** Takes the strongest away until the verdict is lower, then gives back what is not needed: no subset lowers it. */
function greedy(
  signals: readonly Signal[],
  verdict: Rung,
  rungWithout: (set: ReadonlySet<number>) => Rung,
): Set<number> {
  const set = new Set<number>();
  for (let index = 0; index < signals.length && rank(rungWithout(set)) >= rank(verdict); index += 1) set.add(index);
  for (const index of [...set]) {
    set.delete(index);
    if (rank(rungWithout(set)) >= rank(verdict)) set.add(index);
  }
  return set;
}
