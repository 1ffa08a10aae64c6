// The score of a chain. It starts from the risk of its worst member and rises with depth, exposure to the internet,
// proof, and criticality; for the same hops it never falls when one of them gains. A pile of harmless hops stays
// harmless: what is added is a share of what the worst member leaves up to 100.

/** What the score is made of. */
export interface ScoreInput {
  /** Highest risk of a member, 0 to 100. */
  readonly risk: number;
  readonly hops: number;
  /** Whether the application of the first hop faces the internet. */
  readonly isExposed: boolean;
  /** Proof of the first hop: 0 none, 1 reachable, 2 confirmed. */
  readonly entryProof: 0 | 1 | 2;
  /** Hops that are confirmed. */
  readonly confirmed: number;
  /** Highest criticality of an application in the chain, parts of a thousand. */
  readonly criticality: number;
}

/**
 * The lift in parts of a thousand, 0 to 685: 1 - (1 - 0.3 depth)(1 - 0.2 exposure)(1 - 0.25 proof)(1 - 0.25
 * criticality), each factor from 0 to 1, rounded up. Whole numbers throughout: the factors share divisors, which are
 * taken out so that the product stays below 2^53.
 */
function lift({ hops, isExposed, entryProof, confirmed, criticality }: ScoreInput): number {
  const depth = Math.min(Math.max(hops - 1, 0), 5) * 200;
  const proof = Math.min(1000, entryProof * 300 + Math.min(confirmed, 4) * 100);
  const product =
    (1_000_000 - 300 * depth) *
    ((1_000_000 - (isExposed ? 200_000 : 0)) / 100_000) *
    ((1_000_000 - 250 * proof) / 5000) *
    ((1_000_000 - 250 * criticality) / 500);
  return 1000 - Math.floor(product / 4_000_000_000);
}

/** Score from 0 to 100, whole; never below the risk of the worst member. */
export function scoreOf(input: ScoreInput): number {
  const { risk } = input;
  return Math.floor((100_000 * risk + lift(input) * risk * (100 - risk) + 50_000) / 100_000);
}

export type Tint = 'critical' | 'high' | 'medium' | 'low';

/** How a chain is coloured: danger is critical, else 60 and more high, 35 and more medium, else low. */
export function tintOf(chain: { readonly danger: boolean; readonly score: number }): Tint {
  if (chain.danger) return 'critical';
  if (chain.score >= 60) return 'high';
  return chain.score >= 35 ? 'medium' : 'low';
}
