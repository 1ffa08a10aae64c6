// What discovery is told, whoever tells it: the data plane, gateways, a mesh, HAR, traces. One observation stands for
// some requests of one method and path at one site, as sums; it holds names, kinds and counts, and no value of anybody.
import type { CredentialKind } from './credential.js';

export type Counts = Record<string, number>;
export type NestedCounts = Record<string, Counts>;

/** By kind of credential: [answered 2xx or 3xx, answered 401 or 403, answered otherwise]. */
export type CredentialCounts = Partial<Record<CredentialKind, [number, number, number]>>;

export const sources = ['waf', 'gateway', 'har', 'events', 'otlp', 'mesh'] as const;
export type ObservationSource = (typeof sources)[number];

export interface Observation {
  readonly site: string;
  readonly method: string;
  /** Without query; a segment `{kind}` stands for values of which only the kind was kept (segment-kind.ts). */
  readonly path: string;
  readonly count: number;
  readonly first_ms: number;
  readonly last_ms: number;
  /** By status: how many. */
  readonly statuses: Counts;
  readonly credentials: CredentialCounts;
  /** By `internal` or `external` address of the client. */
  readonly clients: Counts;
  /** `query:NAME` or `body:POINTER` → kinds of values, of requests that were looked into. */
  readonly parameters: NestedCounts;
  /** Media types without parameters. */
  readonly request_types: Counts;
  readonly response_types: Counts;
  /** `request:POINTER` or `response:POINTER` → kinds of personal data, of messages that were looked into. */
  readonly pii: NestedCounts;
  /** Sums; of the latency also the most. */
  readonly request_bytes: number;
  readonly response_bytes: number;
  readonly latency_us: number;
  readonly latency_us_max: number;
}

/** What one principal did at one path: for findings of abuse. Only of paths with objects in them, logins and admin. */
export interface Sighting {
  readonly site: string;
  readonly method: string;
  readonly path: string;
  readonly principal: string;
  readonly credential: CredentialKind;
  readonly client_ip: string;
  readonly first_ms: number;
  readonly last_ms: number;
  readonly ok: number;
  readonly denied: number;
  readonly failed: number;
  /** Of the first request that was answered 2xx, else of the first one. */
  readonly request_id: string;
  /** Of logins: keyed hashes of the accounts that were tried, and of those that were let in. */
  readonly accounts: readonly string[];
  readonly admitted?: readonly string[] | undefined;
  /** Different passwords that were tried, as far as they were counted. */
  readonly passwords?: number | undefined;
  /** Objects that queries named, each with the first request that was answered 2xx or 3xx. */
  readonly queried?: readonly QueriedObject[] | undefined;
  /** Different objects, where the path is a shape: of those that were counted. */
  readonly distinct?: number | undefined;
  /** Parameters that came twice, or beside a path that names the same object. */
  readonly polluted: string | null;
  /** Keyed hash of the roles that its token claims; absent: it claims none. */
  readonly role?: string | undefined;
}

export interface QueriedObject {
  readonly noun: string;
  /** Keyed hash of the id. */
  readonly object: string;
  readonly request_id: string;
}

/** An answer showed an object to a principal: from then on it may know of it. */
export interface Relation {
  readonly site: string;
  readonly principal: string;
  /** Keyed hash of the object's id; '' where `how` is `unread`. */
  readonly object: string;
  /** Of an id that a counter gave out, else '' (objects.ts); absent: a node of an earlier release. */
  readonly noun?: string;
  /** The noun, also of an id that is unique by itself. */
  readonly label?: string;
  /**
   * unread: an answer that could have shown objects was not looked into, so that it is not known which; `label` is then
   * the noun of the path that was asked for.
   */
  readonly how: 'created' | 'shown' | 'unread';
  readonly credential?: CredentialKind;
  readonly client_ip?: string;
  /**
   * Objects that the request named, in path and query. An answer about an object shows others only to a client that was
   * entitled to that one; absent or empty: the request named none, or a node of an earlier release sent this.
   */
  readonly via?: readonly ViaObject[] | undefined;
  readonly request_id: string;
  readonly at_ms: number;
}

/** Keyed hash and nouns as in Relation. */
export interface ViaObject {
  readonly noun: string;
  readonly label: string;
  readonly object: string;
}
export const viaMax = 4;

export interface ObservationBatch {
  readonly batch_id: string;
  readonly observations: readonly Observation[];
  readonly sightings: readonly Sighting[];
  readonly relations: readonly Relation[];
  /** Requests that no observation holds, because the tables were full. */
  readonly dropped: number;
  /** The same by site, where there were any; of the first `droppedSitesMax` sites. */
  readonly dropped_by_site?: Readonly<Record<string, number>>;
}

export const droppedSitesMax = 256;
