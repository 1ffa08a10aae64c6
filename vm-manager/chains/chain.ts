// A chain inside the engine: its hops and the numbers by which chains are ordered. What the API answers is made of it
// by present.ts, for the few that are shown.
import type { ApplicationView, Candidate } from './candidate.js';
import { compareIds } from './finding.js';
import { scoreOf } from './score.js';

export const chainKinds = ['toxic-combination', 'kill-chain', 'cross-service', 'lateral-movement'] as const;
export type ChainKind = (typeof chainKinds)[number];

const preferences: Readonly<Record<ChainKind, number>> = {
  'toxic-combination': 0,
  'kill-chain': 1,
  'cross-service': 2,
  'lateral-movement': 3,
};

export interface Chain {
  readonly kind: ChainKind;
  readonly hops: readonly Candidate[];
  readonly score: number;
  readonly danger: boolean;
  readonly proven: number;
  /** The rule of a toxic combination: what makes its identifier, and its name. */
  readonly rule: { readonly slug: string; readonly name: string } | null;
  /** Chains of the same hops that this one stands for. */
  readonly also: readonly Chain[];
}

/** The application of the first hop: where the chain runs. */
export const startOf = (chain: Chain): ApplicationView => (chain.hops[0] as Candidate).view;

/** A chain over hops in their order; at least two. */
export function chainOf(kind: ChainKind, hops: readonly Candidate[], rule: Chain['rule'] = null): Chain {
  const [first] = hops;
  if (first === undefined || hops.length < 2) throw new Error(`a chain has at least 2 hops, not ${hops.length}`);
  let risk = 0;
  let criticality = 0;
  let proven = 0;
  for (const hop of hops) {
    risk = Math.max(risk, hop.risk);
    criticality = Math.max(criticality, hop.view.criticality);
    proven += Number(hop.confirmed);
  }
  const isExposed = first.view.isInternetFacing;
  const score = scoreOf({
    risk,
    hops: hops.length,
    isExposed,
    entryProof: first.proof,
    confirmed: proven,
    criticality,
  });
  return { kind, hops, score, danger: isExposed && first.proof > 0, proven, rule, also: [] };
}

/** What tells chains of one kind apart, in the order of identifiers. */
function compareNames(one: Chain, other: Chain): number {
  const byStart = compareIds(startOf(one).application.id, startOf(other).application.id);
  if (byStart !== 0) return byStart;
  if (one.rule !== null && other.rule !== null) {
    const [a, b] = [one.rule.slug, other.rule.slug];
    return a === b ? 0 : a < b ? -1 : 1;
  }
  const length = Math.min(one.hops.length, other.hops.length);
  for (let index = 0; index < length; index++) {
    const [a, b] = [one.hops[index] as Candidate, other.hops[index] as Candidate];
    const byApplication = compareIds(a.view.application.id, b.view.application.id);
    const byHop = byApplication === 0 ? compareIds(a.finding.id, b.finding.id) : byApplication;
    if (byHop !== 0) return byHop;
  }
  return one.hops.length - other.hops.length;
}

function compareTies(one: Chain, other: Chain): number {
  return (
    Number(other.danger) - Number(one.danger) ||
    other.hops.length - one.hops.length ||
    preferences[one.kind] - preferences[other.kind] ||
    compareNames(one, other)
  );
}

/** The order of the API: proven hops, then score; what follows makes it total. */
export const compareChains = (one: Chain, other: Chain): number =>
  other.proven - one.proven || other.score - one.score || compareTies(one, other);

/** The order of the report: score first. */
export const compareScores = (one: Chain, other: Chain): number =>
  other.score - one.score || other.proven - one.proven || compareTies(one, other);

/** Which of two chains over the same hops stays: the kind that explains more, the higher score, danger, the name. */
export function compareForCollapse(one: Chain, other: Chain): number {
  return (
    preferences[one.kind] - preferences[other.kind] ||
    other.score - one.score ||
    Number(other.danger) - Number(one.danger) ||
    compareNames(one, other)
  );
}

/** The same for chains with the same findings, in whatever order. */
export const hopSetOf = (chain: Chain): string =>
  chain.hops
    .map(({ finding }) => finding.id)
    .sort()
    .map((id) => `${id.length}:${id}`)
    .join('');

/** One chain for each set of hops; it says for which others it stands. */
export function collapse(chains: readonly Chain[]): Chain[] {
  const bySet = new Map<string, Chain[]>();
  for (const chain of chains) {
    const key = hopSetOf(chain);
    const list = bySet.get(key);
    if (list === undefined) bySet.set(key, [chain]);
    else list.push(chain);
  }
  return [...bySet.values()].map((same) => {
    if (same.length === 1) return same[0] as Chain;
    const [kept, ...others] = same.sort(compareForCollapse);
    return { ...(kept as Chain), also: others };
  });
}
