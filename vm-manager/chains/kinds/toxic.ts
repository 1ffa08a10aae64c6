// Toxic combinations: the rules of toxic-rules.ts over the candidates of one application.
import { compareHops, type ApplicationView, type Candidate } from '../candidate.js';
import { chainOf, type Chain } from '../chain.js';
import { specifiedRules, type Slot, type ToxicRule } from './toxic-rules.js';

/**
 * Distinct candidates for the slots, the best possible for the first slot, then for the second and so on; null where
 * no choice fills all. At most three slots of at most forty candidates, so that trying is bounded.
 */
function fill(slots: readonly Slot[], candidates: readonly Candidate[]): Candidate[] | null {
  const fitting = slots.map(({ holds }) => candidates.filter(holds));
  if (fitting.some((list) => list.length === 0)) return null;
  const chosen: Candidate[] = [];
  const place = (index: number): boolean => {
    if (index === slots.length) return true;
    for (const candidate of fitting[index] as Candidate[]) {
      if (chosen.includes(candidate)) continue;
      chosen.push(candidate);
      if (place(index + 1)) return true;
      chosen.pop();
    }
    return false;
  };
  return place(0) ? chosen : null;
}

/** The findings of a way of a rule, or null where it does not fire. */
function combine(slots: readonly Slot[], candidates: readonly Candidate[]): Candidate[] | null {
  const required = slots.filter(({ isOptional }) => !isOptional);
  const chosen = fill(required, candidates);
  if (chosen === null) return null;
  for (const { holds, isOptional } of slots) {
    if (!isOptional) continue;
    const more = candidates.find((candidate) => !chosen.includes(candidate) && holds(candidate));
    if (more !== undefined) chosen.push(more);
  }
  return chosen;
}

/** Every rule that fires, its hops in the order of escalation. `further`: rules beside those of the specification. */
export function toxicCombinations(view: ApplicationView, further: readonly ToxicRule[]): Chain[] {
  if (view.candidates.length < 2) return [];
  const chains: Chain[] = [];
  for (const { slug, name, ways, when } of [...specifiedRules, ...further]) {
    if (when !== undefined && !when(view)) continue;
    for (const slots of ways) {
      const hops = combine(slots, view.candidates);
      if (hops === null) continue;
      chains.push(chainOf('toxic-combination', hops.sort(compareHops), { slug, name }));
      break;
    }
  }
  return chains;
}
