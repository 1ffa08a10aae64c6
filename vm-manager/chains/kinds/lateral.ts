// Lateral movement: paths over two to four applications of one project that end at a crown jewel. Each application
// gives one finding: the first its best foothold (entry, execute or credential), those between their best
// pivot-capable one, the last its best impact, or its best finding where it has none. The hops before the last stand
// in the order of escalation, so that a set of applications is one path and not all its permutations.
//
// The search is bounded by construction: the twelve most promising of each part. A project of up to twelve
// applications is searched completely; in a larger one proof comes first, as it does in the answer.
import { compareCandidates, compareHops, type ApplicationView, type Candidate } from '../candidate.js';
import { Best } from '../best.js';
import { chainOf, collapse, compareChains, type Chain } from '../chain.js';
import { compareIds } from '../finding.js';

export const lateralPathsMax = 12;
export const lateralApplicationsMax = 4;
const eachPartMax = 12;
/** A set of hops can be met once for each of its members as the end. */
const keptMax = lateralPathsMax * lateralApplicationsMax;

/** What a crown jewel is reached by; null where it has no finding, so that no hop is invented. */
export const endOf = (view: ApplicationView): Candidate | null => view.sink ?? view.candidates[0] ?? null;

const byPromise = (one: Candidate, other: Candidate): number =>
  Number(other.confirmed) - Number(one.confirmed) ||
  Number(other.view.isInternetFacing) - Number(one.view.isInternetFacing) ||
  other.proof - one.proof ||
  other.risk - one.risk ||
  other.view.criticality - one.view.criticality ||
  compareIds(one.view.application.id, other.view.application.id);

const byWay = (one: Candidate, other: Candidate): number =>
  Number(other.confirmed) - Number(one.confirmed) ||
  compareCandidates(one, other) ||
  compareIds(one.view.application.id, other.view.application.id);

const byPrize = (one: Candidate, other: Candidate): number =>
  Number(other.confirmed) - Number(one.confirmed) ||
  other.view.criticality - one.view.criticality ||
  compareCandidates(one, other);

function choose(hops: readonly (Candidate | null)[], order: (one: Candidate, other: Candidate) => number): Candidate[] {
  const best = new Best<Candidate>(eachPartMax, order);
  for (const hop of hops) if (hop !== null) best.add(hop);
  return best.items();
}

/** Whether a path of two applications has the hops of the cross-service chain between them, which stands for it. */
export function isCrossService(start: Candidate, end: Candidate): boolean {
  return start.view.isInternetFacing && start.view.source === start && end.view.sink === end;
}

/**
 * The best paths of a project, at most `keptMax`; `only` restricts them to those that start at one application.
 * Paths that a cross-service chain stands for are left out.
 */
function search(views: readonly ApplicationView[], only: ApplicationView | null): Chain[] {
  const starts = choose(only === null ? views.map((view) => view.foothold) : [only.foothold], byPromise);
  const ways = choose(
    views.map((view) => view.pivot),
    byWay,
  ).sort(compareHops);
  const ends = choose(
    views.map((view) => (view.isCrownJewel ? endOf(view) : null)),
    byPrize,
  );
  const best = new Best<Chain>(keptMax, compareChains);
  const add = (...hops: readonly Candidate[]): void => best.add(chainOf('lateral-movement', hops));
  for (const start of starts) {
    const later = ways.filter((way) => way.view !== start.view && compareHops(start, way) < 0);
    for (const end of ends) {
      if (end.view === start.view) continue;
      if (!isCrossService(start, end)) add(start, end);
      const between = later.filter((way) => way.view !== end.view);
      for (const [index, way] of between.entries()) {
        add(start, way, end);
        for (const next of between.slice(index + 1)) add(start, way, next, end);
      }
    }
  }
  return best.items();
}

/** Lateral movement within one project: collapsed, then the best twelve. */
export function lateralMovement(views: readonly ApplicationView[], only: ApplicationView | null = null): Chain[] {
  if (views.length < 2) return [];
  return collapse(search(views, only)).sort(compareChains).slice(0, lateralPathsMax);
}
