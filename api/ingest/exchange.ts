// One request with its answer, as somebody else saw it: what every connector makes of a record.
import type { Principal } from '#proxy/contract';

export interface ForeignExchange {
  /** Host and port of the request; '' where the record does not say it. */
  readonly host: string;
  readonly method: string;
  /** Path and query. */
  readonly uri: string;
  readonly status: number;
  readonly clientIp: string;
  /** Flat list, as far as the record has them. */
  readonly headers: readonly string[];
  readonly responseHeaders: readonly string[];
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly latencyUs: number;
  readonly atMs: number;
  /** Of the record: one that comes twice is counted once; '' where it has none. */
  readonly id: string;
  /** latin1; null: not recorded. */
  readonly body: string | null;
  readonly responseBody: string | null;
  /** Who asked, where the gateway says it and not the headers: kind of credential and name. */
  readonly caller: { readonly kind: Principal['kind']; readonly name: string } | null;
  /** Whether a request without a credential would look otherwise in the record. */
  readonly knowsCredentials: boolean;
  /** Of service-to-service traffic: who asked whom. */
  readonly hop: { readonly from: string; readonly to: string; readonly isIdentified: boolean } | null;
}

export interface Rejected {
  readonly index: number;
  readonly reason: string;
}

/** A record that cannot be used: the message says what is missing or wrong, and how to fix it. */
export class UnusableRecord extends Error {}

export type Connector = (record: Readonly<Record<string, unknown>>, nowMs: number) => ForeignExchange;
