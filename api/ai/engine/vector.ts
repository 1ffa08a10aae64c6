// What is known of one client, or of one principal, at the moment of a verdict: everything that the verdict is made of,
// and nothing that is not stored with it. Scoring is a function of this, of weights and of a threshold (score.ts); so a
// verdict can be made again from what is stored, bit for bit.
import type { ClientCount, ClientWindow, PrincipalName } from '#proxy/contract';

export const layers = ['signature', 'anomaly', 'api_abuse', 'bot'] as const;
export type Layer = (typeof layers)[number];

export const anomalyFeatures = ['rate', 'errors', 'request_size', 'response_size', 'paths', 'novelty'] as const;
export type AnomalyFeature = (typeof anomalyFeatures)[number];

/** How one measure of a client stands to what its site is used to. */
export interface Deviation {
  readonly feature: AnomalyFeature;
  readonly site: string;
  readonly observed: number;
  readonly expected: number;
  /** Of the measure among clients, as a standard deviation; greater than 0. */
  readonly spread: number;
  /** `hour`: of this hour of the week; `all`: of all hours; `prior`: nothing was learned yet. */
  readonly source: 'hour' | 'all' | 'prior';
  /** Clients that were learned from. */
  readonly support: number;
}

/** A finding of API abuse over this client. */
export interface VectorThreat {
  readonly id: string;
  /** As findings of API abuse are called: `bola_ownership`, `bfla` … */
  readonly kind: string;
  readonly severity: 'low' | 'medium' | 'high' | 'critical';
  /** Objects, accounts or requests that it is made of. */
  readonly count: number;
}

/** Counts of windows that are judged, in the order in which vectors have them. */
export const vectorCounts = [
  'requests',
  'blocked',
  'flagged',
  'limited',
  'challenged',
  'held',
  'denied',
  'not_found',
  'login_failures',
] as const satisfies readonly ClientCount[];

/** What a client, or a principal, did within the window. */
export interface FeatureVector
  extends Pick<
    ClientWindow,
    (typeof vectorCounts)[number] | 'score_max' | 'score_sum' | 'groups' | 'rules' | 'agents' | 'odd_browsers'
  > {
  /** Of a principal its key. */
  readonly address: string;
  readonly sites: readonly string[];
  readonly window_seconds: number;
  /** Distinct, estimated. */
  readonly paths: number;
  readonly shapes: number;
  readonly sessions: number;
  readonly user_agents: number;
  /** Ids of requests that say most. */
  readonly samples: readonly string[];
  readonly deviations: readonly Deviation[];
  readonly threats: readonly VectorThreat[];
  /** Layers whose evaluator failed: they say nothing. */
  readonly missing: readonly Layer[];
  /** Present: this is about a principal, and `address` is its key, as lists have it. */
  readonly principal?: VectorPrincipal;
  /** Keys of principals whose requests are not in here, because they are judged by themselves. */
  readonly apart?: readonly string[];
}

export interface VectorPrincipal extends PrincipalName {
  /** Addresses that it was seen at. */
  readonly addresses: number;
  /** How many of them sent only requests that nothing was said against. */
  readonly addresses_clean: number;
  /** Those with most of its requests, at most five. */
  readonly networks: readonly string[];
}

/** A reason, with how much it weighs within its layer. `code` is stable. */
export interface Signal {
  readonly code: string;
  readonly layer: Layer;
  readonly name: string;
  /** 1 to 100. */
  readonly points: number;
  readonly evidence: Readonly<Record<string, unknown>>;
  /** MITRE ATT&CK techniques. */
  readonly attack: readonly string[];
  /** OWASP Top 10 (2021) and API Security Top 10 (2023). */
  readonly owasp: readonly string[];
}

export type Weights = Readonly<Record<Layer, number>>;

/**
 * Points that grow with a count and never pass `cap`: half of it at `half`. Whole points, at least 1; plain arithmetic,
 * so that every machine comes to the same.
 */
export function growing(count: number, cap: number, half: number): number {
  return count <= 0 ? 0 : Math.max(1, Math.floor((cap * count) / (count + half)));
}
