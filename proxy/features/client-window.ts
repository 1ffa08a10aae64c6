// What a worker tells of its clients: sums of one address at one site over a few seconds, and no value of anybody. The
// detection engine of the control plane adds windows up (api/ai/). A request stands in one window only: with the
// principal that it was counted for, or without one. All windows of an address together are what the address did.
import type { PrincipalName } from './principals.js';

/**
 * One address at one site in one window, or one principal at one address. Counts are of requests unless they say
 * otherwise.
 */
export interface ClientWindow {
  readonly site: string;
  /** An IPv4 address, or an IPv6 address as it came. */
  readonly address: string;
  /** Whose requests these are; absent: of nobody who could be told from others behind the address. */
  readonly principal?: PrincipalName;
  readonly first_ms: number;
  readonly last_ms: number;
  readonly requests: number;
  /** Ended by rules or by a gate that judges the request. */
  readonly blocked: number;
  /** Rules would have ended them, or flagged them. */
  readonly flagged: number;
  /** Beyond a limit of the settings. */
  readonly limited: number;
  /** Answered with a challenge. */
  readonly challenged: number;
  /** Refused because of a decision over this client: deny list, ban, verdict. They say nothing new of it. */
  readonly held: number;
  readonly ok: number;
  /** 401 and 403 of the application. */
  readonly denied: number;
  /** 404, 405 and 410. */
  readonly not_found: number;
  /** Other 4xx. */
  readonly failed: number;
  readonly server_errors: number;
  readonly login_failures: number;
  readonly request_bytes: number;
  readonly response_bytes: number;
  /** The highest inbound anomaly score of one request, and the sum of all. */
  readonly score_max: number;
  readonly score_sum: number;
  /** Requests by thousand of the rules that matched (`942`: SQL injection in the CRS). */
  readonly groups: Readonly<Record<string, number>>;
  /** The first rules that matched, with how often. */
  readonly rules: Readonly<Record<string, number>>;
  /** Requests by what their User-Agent admits to be. */
  readonly agents: Readonly<Record<string, number>>;
  /** Requests that look like a browser's and lack a field that browsers send. */
  readonly odd_browsers: number;
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
