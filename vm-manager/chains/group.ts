// The chains of one trust group: the applications of a project, or one application without a project. Nothing links
// two groups, so that a changed finding costs its own group and an organisation is the sum of its groups.
import type { ApplicationView } from './candidate.js';
import { Best } from './best.js';
import { collapse, compareChains, compareScores, type Chain } from './chain.js';
import { bestCrossService, countCrossService, crossServiceFrom } from './kinds/between-applications.js';
import { killChain } from './kinds/kill-chain.js';
import { lateralMovement, lateralPathsMax } from './kinds/lateral.js';
import type { ToxicRule } from './kinds/toxic-rules.js';
import { toxicCombinations } from './kinds/toxic.js';
import { addInto, addStats, countChains, noStats, type ChainStats } from './stats.js';

/** Chains that the API returns, and that the report shows. */
export const chainsMax = 40;
export const reportChainsMax = 50;

/** An application with the chains that need no other. */
export interface Member {
  readonly view: ApplicationView;
  /** Its kill chain and toxic combinations, collapsed. */
  readonly own: readonly Chain[];
}

/** What is kept of a group: enough for the best of the whole organisation, and the counts of everything. */
export interface GroupChains {
  /** The best by compareChains, at most `chainsMax`, without lateral movement. */
  readonly ranked: readonly Chain[];
  /** The best by compareScores, at most `reportChainsMax`, without lateral movement. */
  readonly scored: readonly Chain[];
  /** Lateral movement, at most twelve: those of all groups compete for twelve places. */
  readonly lateral: readonly Chain[];
  /** Of everything but lateral movement. */
  readonly stats: ChainStats;
}

/** `further`: rules of toxic combinations beside those of the specification. */
export function memberOf(view: ApplicationView, further: readonly ToxicRule[]): Member {
  const kill = killChain(view);
  const toxic = toxicCombinations(view, further);
  return { view, own: collapse(kill === null ? toxic : [...toxic, kill]) };
}

type Order = (one: Chain, other: Chain) => number;

function best(lists: readonly (readonly Chain[])[], max: number, order: Order): Chain[] {
  const kept = new Best<Chain>(max, order);
  for (const chains of lists) kept.addAll(chains);
  return kept.items();
}

/** The chains of a group. */
export function chainsOfGroup(members: readonly Member[]): GroupChains {
  const views = members.map(({ view }) => view);
  const own = members.flatMap((member) => member.own);
  const cross = countCrossService(views);
  const [byProof, byScore] = bestCrossService(views, reportChainsMax, ['proof', 'score']) as [Chain[], Chain[]];
  const classified = views.reduce((sum, { candidates }) => sum + candidates.length, 0);
  const stats = addStats(countChains(own), {
    ...noStats,
    chains: cross.chains,
    danger_chains: cross.danger,
    cross_service: cross.chains,
    runtime_proven_chains: cross.proven,
    capabilities_classified: classified,
    max_chain_risk: byScore[0]?.score ?? 0,
  });
  return {
    ranked: best([own, byProof], chainsMax, compareChains),
    scored: best([own, byScore], reportChainsMax, compareScores),
    lateral: lateralMovement(views),
    stats,
  };
}

/** The chains that start at one member of a group. */
export function chainsOfMember(member: Member, members: readonly Member[]): GroupChains {
  const views = members.map(({ view }) => view);
  const cross = crossServiceFrom(member.view, views);
  const chains = [...member.own, ...cross];
  return {
    ranked: best([chains], chainsMax, compareChains),
    scored: best([chains], reportChainsMax, compareScores),
    lateral: lateralMovement(views, member.view),
    stats: { ...countChains(chains), capabilities_classified: member.view.candidates.length },
  };
}

/**
 * Every chain that one member has a hop in, wherever it starts; lateral movement as the best paths of the group and
 * of each start. Nothing is cut off: who asks wants to know of all of them.
 */
export function chainsThrough(member: Member, members: readonly Member[]): Chain[] {
  const views = members.map(({ view }) => view);
  const into = views.filter((view) => view !== member.view).flatMap((view) => crossServiceFrom(view, [member.view]));
  const lateral = [...lateralMovement(views), ...lateralMovement(views, member.view)];
  const isThrough = ({ hops }: Chain): boolean => hops.some(({ view }) => view === member.view);
  const chains = [...member.own, ...crossServiceFrom(member.view, views), ...into, ...lateral.filter(isThrough)];
  return collapse(chains).sort(compareChains);
}

/** Every chain that starts at one member of a group; of lateral movement the best twelve. */
export function allFrom(member: Member, members: readonly Member[]): Chain[] {
  const views = members.map(({ view }) => view);
  return [...member.own, ...crossServiceFrom(member.view, views), ...lateralMovement(views, member.view)];
}

/** Chains of several groups together: the answer of the engine. */
export interface RankedChains {
  /** At most 40, by proven hops, then score. */
  readonly chains: readonly Chain[];
  /** At most 50, by score: the report's. */
  readonly byScore: readonly Chain[];
  readonly stats: ChainStats;
}

/** Several groups as one; joining what was joined gives what joining all at once would. */
export function joinGroups(groups: Iterable<GroupChains>): GroupChains {
  const ranked = new Best<Chain>(chainsMax, compareChains);
  const scored = new Best<Chain>(reportChainsMax, compareScores);
  const lateral = new Best<Chain>(lateralPathsMax, compareChains);
  const sum = { ...noStats };
  for (const group of groups) {
    ranked.addAll(group.ranked);
    scored.addAll(group.scored);
    lateral.addAll(group.lateral);
    addInto(sum, group.stats);
  }
  return { ranked: ranked.items(), scored: scored.items(), lateral: lateral.items(), stats: sum };
}

/** The answer over groups. */
export function mergeGroups(groups: Iterable<GroupChains>): RankedChains {
  const { ranked, scored, lateral, stats } = joinGroups(groups);
  return {
    chains: best([ranked, lateral], chainsMax, compareChains),
    byScore: best([scored, lateral], reportChainsMax, compareScores),
    stats: addStats(stats, countChains(lateral)),
  };
}
