// Sums of a client → what is scored, and what is learned.
import { vectorCounts, type Deviation, type FeatureVector, type Layer, type VectorThreat } from '../engine/vector.js';
import type { Measures } from '../learning/site-learning.js';
import { Sums } from './client-table.js';

/** Sessions behind one address that are expected to ask like so many clients; more count as this many. */
const peopleMax = 8;
/** With fewer requests a share of errors says nothing. */
const requestsForShares = 10;
const minuteMs = 60_000;
const rulesMax = 16;

/** Measures of a client at one site. Whoever shares its address with others is measured as one of them. */
export function measuresOf(sums: Sums): Measures {
  const { requests, denied, not_found: absent, failed, request_bytes: sent, response_bytes: got, held } = sums.count;
  const seen = Math.max(1, requests - held);
  const minutes = Math.max(minuteMs, sums.lastMs - sums.firstMs) / minuteMs;
  const people = Math.min(peopleMax, Math.max(1, sums.sessions.distinct));
  return {
    rate: seen / minutes / people,
    errors: seen < requestsForShares ? 0 : (denied + absent + failed) / seen,
    request_size: sent / seen,
    response_size: got / seen,
    paths: sums.paths.distinct / minutes / people,
  };
}

/** Nothing that a rule, a gate or a limit has ever said of it: such a client teaches. */
export const isClean = ({ count }: Sums): boolean =>
  count.score_sum + count.blocked + count.flagged + count.limited + count.challenged + count.held === 0;

export interface VectorParts {
  /** An address, or a principal as lists have it. */
  readonly network: string;
  /** Of a principal alone. */
  readonly principal?: FeatureVector['principal'];
  /** Principals that are judged by themselves; of an address alone. */
  readonly apart?: FeatureVector['apart'];
  readonly sites: ReadonlyMap<string, Sums>;
  readonly windowSeconds: number;
  readonly deviations: readonly Deviation[];
  readonly threats: readonly VectorThreat[];
  readonly missing: readonly Layer[];
}

const countsOf = (count: Sums['count']): Pick<FeatureVector, (typeof vectorCounts)[number]> =>
  Object.fromEntries(vectorCounts.map((name) => [name, count[name]])) as Pick<
    FeatureVector,
    (typeof vectorCounts)[number]
  >;

export function toVector(parts: VectorParts): FeatureVector {
  const { network, principal, apart, sites, windowSeconds, deviations, threats, missing } = parts;
  let all: Sums;
  if (sites.size === 1) [all] = sites.values() as unknown as [Sums];
  else {
    all = new Sums();
    for (const sums of sites.values()) all.addSums(sums);
  }
  const { count } = all;
  return {
    address: network,
    sites: [...sites.keys()],
    window_seconds: windowSeconds,
    ...countsOf(count),
    score_max: all.scoreMax,
    score_sum: count.score_sum,
    groups: Object.fromEntries(all.groups),
    rules: Object.fromEntries([...all.rules].sort(([, one], [, other]) => other - one).slice(0, rulesMax)),
    agents: Object.fromEntries(all.agents),
    odd_browsers: count.odd_browsers,
    paths: all.paths.distinct,
    shapes: all.shapes.size,
    sessions: all.sessions.distinct,
    user_agents: all.userAgents.distinct,
    samples: [...all.samples],
    deviations,
    threats,
    missing,
    ...(principal === undefined ? {} : { principal }),
    ...(apart === undefined || apart.length === 0 ? {} : { apart }),
  };
}
