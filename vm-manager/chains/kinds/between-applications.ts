// Cross-service chains: from an internet-facing application of a project to an impact in another one. There are as many
// as pairs, up to a hundred million in a project of ten thousand applications, and only the best are shown while all
// are counted. Counting needs no pair at all. For the best, applications that differ in nothing that decides a chain's
// place (risk, proof, criticality) form a class, and classes that differ in risk alone are kin. The place of a chain
// follows from the kin of both ends and the higher of two risks, so that how many chains stand at each place is a sum
// over kin, and only the pairs of classes at the best places are opened.
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

const riskMax = 100;

/** Candidates that decide a chain's place in the same way but for their risk: a class for each risk. */
interface Kin {
  readonly proof: Candidate['proof'];
  readonly confirmed: boolean;
  readonly criticality: number;
  /** By risk; at most `max` of each, the smallest identifiers. */
  readonly classes: (Candidate[] | undefined)[];
  /** By risk: how many candidates have at most so much, also those that no class keeps. */
  readonly upTo: Float64Array;
}

const keyOf = ({ proof, confirmed, view }: Candidate): string => `${proof} ${confirmed} ${view.criticality}`;

function kinOf(candidates: readonly Candidate[], max: number): Kin[] {
  const found = new Map<string, Kin>();
  for (const candidate of [...candidates].sort(compareViews)) {
    const { proof, confirmed, view, risk } = candidate;
    const key = keyOf(candidate);
    const kin = found.get(key) ?? {
      proof,
      confirmed,
      criticality: view.criticality,
      classes: [],
      upTo: new Float64Array(riskMax + 1),
    };
    found.set(key, kin);
    kin.upTo[risk] = (kin.upTo[risk] as number) + 1;
    const list = kin.classes[risk];
    if (list === undefined) kin.classes[risk] = [candidate];
    else if (list.length < max) list.push(candidate);
  }
  for (const { upTo } of found.values())
    for (let risk = 1; risk <= riskMax; risk++) upTo[risk] = (upTo[risk] as number) + (upTo[risk - 1] as number);
  return [...found.values()];
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

/** Buckets of the chains between two kin by the higher risk of both ends: all else that makes the score is the same. */
type Places = (source: Kin, sink: Kin) => readonly number[];

/** Places are worked out once for what they depend on; there are at most 45 of them. */
function placesBy(order: CrossServiceOrder): Places {
  const known = new Map<number, readonly number[]>();
  return (source, sink) => {
    const proven = Number(source.confirmed) + Number(sink.confirmed);
    const criticality = Math.max(source.criticality, sink.criticality);
    const key = (criticality * (provenMax + 1) + proven) * 3 + source.proof;
    const places =
      known.get(key) ??
      Array.from({ length: riskMax + 1 }, (_, risk) => {
        const score = scoreOf({
          risk,
          hops: 2,
          isExposed: true,
          entryProof: source.proof,
          confirmed: proven,
          criticality,
        });
        return bucketOf(proven, score, source.proof > 0, order);
      });
    known.set(key, places);
    return places;
  };
}

interface Sides {
  readonly sources: readonly Kin[];
  readonly sinks: readonly Kin[];
  /** Applications that would pair with themselves: their source and sink. */
  readonly selves: readonly (readonly [source: Kin, sink: Kin, risk: number])[];
}

/** The last bucket of those, the best first, that together hold `max` chains, or all that there are. */
function lastBucket({ sources, sinks, selves }: Sides, max: number, placesOf: Places): number {
  const counts = new Float64Array(buckets);
  const add = (bucket: number, chains: number): void => {
    counts[bucket] = (counts[bucket] as number) + chains;
  };
  for (const source of sources)
    for (const sink of sinks) {
      let before = 0;
      for (const [risk, bucket] of placesOf(source, sink).entries()) {
        const pairs = (source.upTo[risk] as number) * (sink.upTo[risk] as number);
        if (pairs > before) add(bucket, pairs - before);
        before = pairs;
      }
    }
  for (const [source, sink, risk] of selves) add(placesOf(source, sink)[risk] as number, -1);
  let held = 0;
  for (let bucket = 0; bucket < buckets; bucket++) {
    held += counts[bucket] as number;
    if (held >= max) return bucket;
  }
  return buckets;
}

interface Pair {
  readonly first: Chain;
  readonly from: readonly Candidate[];
  readonly to: readonly Candidate[];
}

/** The pairs of classes among whose chains the best `max` are: whole buckets, the best first. */
function amongBest(sides: Sides, max: number, order: CrossServiceOrder): Pair[] {
  const placesOf = placesBy(order);
  const last = lastBucket(sides, max, placesOf);
  const pairs: Pair[] = [];
  const open = (from: Candidate[] | undefined, to: Candidate[] | undefined): void => {
    if (from === undefined || to === undefined) return;
    const [first] = pairsOf(from, to, 1);
    if (first !== undefined) pairs.push({ first, from, to });
  };
  for (const source of sides.sources)
    for (const sink of sides.sinks)
      for (const [risk, bucket] of placesOf(source, sink).entries()) {
        if (bucket > last) continue;
        // the higher risk of both ends is this one: of the source, of the sink, or of both
        for (let lower = 0; lower < risk; lower++) {
          open(source.classes[risk], sink.classes[lower]);
          open(source.classes[lower], sink.classes[risk]);
        }
        open(source.classes[risk], sink.classes[risk]);
      }
  return pairs;
}

function sidesOf(views: readonly ApplicationView[], max: number): Sides {
  const [sources, sinks] = [kinOf(sourcesOf(views), max), kinOf(sinksOf(views), max)];
  const byKey = (kin: readonly Kin[]): Map<string, Kin> =>
    new Map(kin.map((one) => [`${one.proof} ${one.confirmed} ${one.criticality}`, one]));
  const [fromKey, toKey] = [byKey(sources), byKey(sinks)];
  const selves = views.flatMap(({ isInternetFacing, source, sink }) => {
    if (!isInternetFacing || source === null || sink === null) return [];
    const pair = [fromKey.get(keyOf(source)), toKey.get(keyOf(sink)), Math.max(source.risk, sink.risk)];
    return [pair as unknown as readonly [Kin, Kin, number]];
  });
  return { sources, sinks, selves };
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
  const sides = sidesOf(views, max + 1);
  if (sides.sources.length === 0 || sides.sinks.length === 0) return orders.map(() => []);
  return orders.map((name) => {
    const order = name === 'proof' ? compareChains : compareScores;
    const opened = amongBest(sides, max, name).sort((one, other) => order(one.first, other.first));
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
