// How likely the hits of a rule on a path are false positives: a score from 0 to 100 with the features it is made of.
// An attacker is few clients, many parameters, several families of attacks, in a short time, without a normal visit; a
// false positive is many clients, one parameter, one path, through the day, by people who go on shopping.
import type { RuleHit } from './hits.js';

export interface LikelihoodFeatures {
  readonly distinct_clients: number;
  /** Hits in the most frequent variable, 0 to 1. */
  readonly variable_concentration: number;
  readonly path_concentration: number;
  /** Different hours of the day (UTC). */
  readonly distinct_hours: number;
  /** Clients that tripped rules of several families, 0 to 1. */
  readonly multi_attack_share: number;
  /** Clients that also made requests that went well, 0 to 1. */
  readonly journey_share: number;
}

export interface Likelihood {
  readonly score: number;
  readonly features: LikelihoodFeatures;
}

/** Rules that look at requests and score: 949 and above decide and report, below 911 is set-up. */
export const isDetection = (ruleId: number): boolean => ruleId >= 911_000 && ruleId < 949_000;

/** Rule families by the thousands of CRS ids: 942 is SQL injection. */
const familyOf = (ruleId: number): number => Math.floor(ruleId / 1000);

function concentration(values: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return values.length === 0 ? 0 : Math.max(...counts.values()) / values.length;
}

const share = (clients: ReadonlySet<string>, holds: (client: string) => boolean): number =>
  [...clients].filter(holds).length / Math.max(1, clients.size);
const round = (value: number): number => Math.round(value * 1000) / 1000;

/**
 * `hits` of one rule; `familiesOfClient` over all rules of the window; `goodClients` made requests that were answered
 * below 400.
 */
export function rateLikelihood(
  hits: readonly RuleHit[],
  familiesOfClient: ReadonlyMap<string, ReadonlySet<number>>,
  goodClients: ReadonlySet<string>,
): Likelihood {
  const clients = new Set(hits.map(({ clientIp }) => clientIp));
  const features: LikelihoodFeatures = {
    distinct_clients: clients.size,
    variable_concentration: round(concentration(hits.map(({ variable }) => variable))),
    path_concentration: round(concentration(hits.map(({ path }) => path))),
    distinct_hours: new Set(hits.map(({ atMs }) => Math.floor(atMs / 3_600_000) % 24)).size,
    multi_attack_share: round(share(clients, (client) => (familiesOfClient.get(client)?.size ?? 0) > 1)),
    journey_share: round(share(clients, (client) => goodClients.has(client))),
  };
  // many clients say most: one client can imitate every other feature
  const many = Math.min(1, Math.log2(1 + clients.size) / Math.log2(21));
  const score =
    0.35 * many +
    0.15 * features.variable_concentration +
    0.1 * features.path_concentration +
    0.1 * Math.min(1, features.distinct_hours / 8) +
    0.15 * (1 - features.multi_attack_share) +
    0.15 * features.journey_share;
  return { score: Math.round(100 * score), features };
}

/** Families of the rules each client tripped. */
export function familiesByClient(hits: readonly RuleHit[]): Map<string, Set<number>> {
  const families = new Map<string, Set<number>>();
  for (const { clientIp, ruleId } of hits)
    families.set(clientIp, (families.get(clientIp) ?? new Set()).add(familyOf(ruleId)));
  return families;
}
