// Cross-service chains: from an internet-facing application of a project to an impact in another one. There are as many
// as pairs, up to a hundred million in a project of ten thousand applications, and only the best are shown while all
// are counted. Counting needs no pair at all. For the best, applications that differ in nothing that decides a chain's
// place (risk, proof, criticality) form a class, pairs of classes are ordered instead of pairs of applications, and
// only the best pairs of classes are opened.
import type { ApplicationView, Candidate } from '../candidate.js';
import { Best } from '../best.js';
import { chainOf, compareChains, compareScores, type Chain } from '../chain.js';
import { compareIds } from '../finding.js';
import { scoreOf } from '../score.js';
import { endOf, isCrossService } from './lateral.js';

/** A chain between two applications, with the lateral path that it stands for. */
export function crossChain(source: Candidate, sink: Candidate): Chain {
  const chain = chainOf('cross-service', [source, sink]);
  const isPath = sink.view.isCrownJewel && endOf(sink.view) === sink && source.view.foothold === source;
  return isPath && isCrossService(source, sink)
    ? { ...chain, also: [chainOf('lateral-movement', [source, sink])] }
    : chain;
}

export interface CrossServiceTotals {
  readonly chains: number;
  readonly danger: number;
  readonly proven: number;
}

const compareViews = (one: Candidate, other: Candidate): number =>
  compareIds(one.view.application.id, other.view.application.id);

const sourcesOf = (views: readonly ApplicationView[]): Candidate[] =>
  views.flatMap((view) => (view.isInternetFacing && view.source !== null ? [view.source] : []));
const sinksOf = (views: readonly ApplicationView[]): Candidate[] =>
  views.flatMap((view) => (view.sink === null ? [] : [view.sink]));

/** How many chains there are, without making one. */
export function countCrossService(views: readonly ApplicationView[]): CrossServiceTotals {
  const sinks = sinksOf(views);
  const provenSinks = sinks.filter(({ confirmed }) => confirmed).length;
  const totals = { chains: 0, danger: 0, proven: 0 };
  for (const { view, proof, confirmed } of sourcesOf(views)) {
    const others = sinks.length - Number(view.sink !== null);
    totals.chains += others;
    if (proof > 0) totals.danger += others;
    totals.proven += confirmed ? others : provenSinks - Number(view.sink?.confirmed ?? false);
  }
  return totals;
}

/** Candidates that decide a chain's place in the same way; at most `max` of each, the smallest identifiers. */
function classesOf(candidates: readonly Candidate[], max: number): Candidate[][] {
  const classes = new Map<string, Candidate[]>();
  for (const candidate of [...candidates].sort(compareViews)) {
    const key = `${candidate.risk} ${candidate.proof} ${candidate.view.criticality}`;
    const list = classes.get(key);
    if (list === undefined) classes.set(key, [candidate]);
    else if (list.length < max) list.push(candidate);
  }
  return [...classes.values()];
}

/** The pairs of two classes with different applications, at most `max`, in the order of identifiers. */
function* pairsOf(sources: readonly Candidate[], sinks: readonly Candidate[], max: number): Generator<Chain> {
  let left = max;
  for (const source of sources)
    for (const sink of sinks) {
      if (source.view === sink.view) continue;
      if (left-- === 0) return;
      yield crossChain(source, sink);
    }
}

/** Which of two numbers of a chain comes first: its proven hops (the API), or its score (the report). */
export type CrossServiceOrder = 'proof' | 'score';

const provenMax = 2;
const scoreMax = 100;
const buckets = (provenMax + 1) * (scoreMax + 1) * 2;

/** The better, the smaller; chains of one bucket differ in names only. */
function bucketOf(proven: number, score: number, danger: boolean, order: CrossServiceOrder): number {
  const [unproven, missing] = [provenMax - proven, scoreMax - score];
  const place = order === 'proof' ? unproven * (scoreMax + 1) + missing : missing * (provenMax + 1) + unproven;
  return place * 2 + (danger ? 0 : 1);
}

type Classes = readonly (readonly Candidate[])[];
type Visit = (from: readonly Candidate[], to: readonly Candidate[], proven: number, score: number) => void;

/** Every pair of classes with what their chains have in common; makes nothing, since there may be a million. */
function eachPair(sources: Classes, sinks: Classes, visit: Visit): void {
  for (const from of sources) {
    const source = from[0] as Candidate;
    for (const to of sinks) {
      const sink = to[0] as Candidate;
      const proven = Number(source.confirmed) + Number(sink.confirmed);
      const score = scoreOf({
        risk: Math.max(source.risk, sink.risk),
        hops: 2,
        isExposed: true,
        entryProof: source.proof,
        confirmed: proven,
        criticality: Math.max(source.view.criticality, sink.view.criticality),
      });
      visit(from, to, proven, score);
    }
  }
}

interface Pair {
  readonly first: Chain;
  readonly from: readonly Candidate[];
  readonly to: readonly Candidate[];
}

/** The pairs among whose chains the best `max` are: whole buckets, the best first, until they hold enough. */
function amongBest(sources: Classes, sinks: Classes, max: number, order: CrossServiceOrder): Pair[] {
  const counts = new Float64Array(buckets);
  eachPair(sources, sinks, (from, to, proven, score) => {
    const bucket = bucketOf(proven, score, (from[0] as Candidate).proof > 0, order);
    counts[bucket] = (counts[bucket] as number) + from.length * to.length - Math.min(from.length, to.length);
  });
  let last = 0;
  for (let held = 0; last < buckets; last++) {
    held += counts[last] as number;
    if (held >= max) break;
  }
  const pairs: Pair[] = [];
  eachPair(sources, sinks, (from, to, proven, score) => {
    if (bucketOf(proven, score, (from[0] as Candidate).proof > 0, order) > last) return;
    const [first] = pairsOf(from, to, 1);
    if (first !== undefined) pairs.push({ first, from, to });
  });
  return pairs;
}

/**
 * The best `max` chains by proof (compareChains) or by score (compareScores), exactly those that ordering all pairs of
 * applications would give. One more than `max` of a class is kept, because a class may pair an application with itself.
 */
export function bestCrossService(
  views: readonly ApplicationView[],
  max: number,
  orders: readonly CrossServiceOrder[],
): Chain[][] {
  const sources = classesOf(sourcesOf(views), max + 1);
  const sinks = classesOf(sinksOf(views), max + 1);
  if (sources.length === 0 || sinks.length === 0) return orders.map(() => []);
  return orders.map((name) => {
    const order = name === 'proof' ? compareChains : compareScores;
    const opened = amongBest(sources, sinks, max, name).sort((one, other) => order(one.first, other.first));
    const best = new Best<Chain>(max, order);
    // The first chain of a pair of classes is its best: once that is not among the best, none of it is, nor of those
    // that come later.
    for (const { first, from, to } of opened) {
      if (!best.takes(first)) break;
      best.addAll(pairsOf(from, to, max));
    }
    return best.items();
  });
}

/** The chains from one application, all of them. */
export function crossServiceFrom(view: ApplicationView, views: readonly ApplicationView[]): Chain[] {
  const { source } = view;
  if (!view.isInternetFacing || source === null) return [];
  return sinksOf(views)
    .filter((sink) => sink.view !== view)
    .map((sink) => crossChain(source, sink));
}
