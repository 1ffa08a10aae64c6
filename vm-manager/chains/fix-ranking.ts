// Which finding, once fixed, breaks most chains. Counting the chains that a finding stands in would promise too much:
// where it is gone, the next best of its stage takes its place. So each is left out for real, and everything that it
// touches is worked out again.
import type { Candidate } from './candidate.js';
import type { ChainEngine, ChainScope } from './engine.js';
import { compareIds } from './finding.js';
import { chainId } from './present.js';

export interface Fix {
  readonly hop: Candidate;
  /** Chains fewer than before, of all that there are; may be negative where the fix lets another finding in. */
  readonly chains: number;
  readonly dangerChains: number;
  /** The highest score before and after. */
  readonly maxChainRisk: readonly [before: number, after: number];
  /** Listed chains that it stands in. */
  readonly listed: number;
  /** Of those, the ones that are there again with another finding. */
  readonly reformed: number;
}

/** Findings that are tried: those of the listed chains are at most 40 times 6. */
const triedMax = 240;

/** The findings of the listed chains, the one whose fix breaks most first. */
export function rankFixes(engine: ChainEngine, scope: ChainScope = {}, max = 20): Fix[] {
  const before = engine.read(scope);
  const hops = [...new Set(before.chains.flatMap((chain) => chain.hops))].slice(0, triedMax);
  const fixes = hops.map((hop): Fix => {
    const after = engine.without([hop.finding], scope);
    const still = new Set(after.chains.map(chainId));
    const listed = before.chains.filter((chain) => chain.hops.includes(hop));
    return {
      hop,
      chains: before.stats.chains - after.stats.chains,
      dangerChains: before.stats.danger_chains - after.stats.danger_chains,
      maxChainRisk: [before.stats.max_chain_risk, after.stats.max_chain_risk],
      listed: listed.length,
      reformed: listed.filter((chain) => still.has(chainId(chain))).length,
    };
  });
  return fixes
    .sort(
      (one, other) =>
        other.chains - one.chains ||
        other.dangerChains - one.dangerChains ||
        one.maxChainRisk[1] - other.maxChainRisk[1] ||
        other.hop.risk - one.hop.risk ||
        compareIds(one.hop.finding.id, other.hop.finding.id),
    )
    .slice(0, max);
}
