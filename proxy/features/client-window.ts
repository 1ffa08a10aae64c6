// What a worker tells of its clients: sums of one address at one site over a few seconds, and no value of anybody. The
// detection engine of the control plane adds windows up (api/ai/). A request stands in one window only: with the
// principal that it was counted for, or without one. All windows of an address together are what the address did.
import type { PrincipalName } from './principals.js';

/** The only list of the counts of a window, which are added up with windows; of requests unless they say otherwise. */
export const clientCounts = {
  requests: 'requests',
  blocked: 'ended by rules or by a gate that judges the request',
  flagged: 'rules would have ended them, or flagged them',
  limited: 'beyond a limit of the settings',
  challenged: 'answered with a challenge',
  held: 'refused because of a measure against this client (deny list, ban, verdict): they say nothing new of it',
  ok: 'answered below 400',
  denied: '401 and 403 of the application',
  not_found: '404, 405 and 410',
  failed: 'other 4xx',
  server_errors: '5xx',
  login_failures: '4xx of logins',
  request_bytes: 'bytes of bodies of requests, as they were announced',
  response_bytes: 'bytes of bodies of answers',
  score_sum: 'sum of the inbound anomaly scores of all requests',
  odd_browsers: "requests that look like a browser's and lack a field that browsers send",
} as const;
export type ClientCount = keyof typeof clientCounts;
export const clientCountNames = Object.keys(clientCounts) as readonly ClientCount[];

/** All of them 0. */
export const noCounts = (): Record<ClientCount, number> =>
  Object.fromEntries(clientCountNames.map((name) => [name, 0])) as Record<ClientCount, number>;

/** One address at one site in one window, or one principal at one address. */
export interface ClientWindow extends Readonly<Record<ClientCount, number>> {
  readonly site: string;
  /** An IPv4 address, or an IPv6 address as it came. */
  readonly address: string;
  /** Whose requests these are; absent: of nobody who could be told from others behind the address. */
  readonly principal?: PrincipalName;
  readonly first_ms: number;
  readonly last_ms: number;
  /** The highest inbound anomaly score of one request. */
  readonly score_max: number;
  /** Requests by thousand of the rules that matched (`942`: SQL injection in the CRS). */
  readonly groups: Readonly<Record<string, number>>;
  /** The first rules that matched, with how often. */
  readonly rules: Readonly<Record<string, number>>;
  /** Requests by what their User-Agent admits to be. */
  readonly agents: Readonly<Record<string, number>>;
  /** Linear counting over paths, accepted sessions and User-Agents: bitmaps in base64. */
  readonly paths: string;
  readonly sessions: string;
  readonly user_agents: string;
  /** Hashes of the shapes of its first paths. */
  readonly shapes: readonly number[];
  /** Ids of requests that say most about it. */
  readonly samples: readonly string[];
}

export interface ClientBatch {
  readonly batch_id: string;
  readonly clients: readonly ClientWindow[];
  /** Requests that no window holds, because the table was full. */
  readonly dropped: number;
}

/** Bits of the three bitmaps. */
export const pathBits = 512;
export const sessionBits = 256;
export const agentBits = 64;
