// What this room asks of the inventory and the specifications of APIs, which are the data plane's: there is no second
// store of them here.

import type { Tx } from '../database.js';

export const authTruths = ['enforced', 'accepted-without', 'mixed', 'unknown'] as const;
export const dataClasses = ['Restricted', 'Confidential', 'Internal', 'Public'] as const;

/** A row of the inventory without its sums. */
export interface ListedOperation {
  readonly site: string;
  readonly method: string;
  readonly template: string;
  readonly access: string;
  /** What became of requests without credentials. */
  readonly auth: (typeof authTruths)[number];
  readonly classification: (typeof dataClasses)[number];
  /** 0 to 5. */
  readonly risk: number;
  readonly band: string;
  readonly hits: number;
  readonly firstSeen: Date;
  readonly lastSeen: Date;
}

export interface LiveOperation extends ListedOperation {
  readonly authTypes: readonly string[];
  readonly categories: readonly string[];
  readonly regulations: readonly string[];
  /** Seen, and in no specification; null: the site has none. */
  readonly shadow: boolean | null;
}

/** An operation with what is kept of its requests; texts are masked as the server masks its records. */
export interface OperationDetail extends LiveOperation {
  readonly statuses: Readonly<Record<string, number>>;
  readonly parameters: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Where personal data was → kinds of it. */
  readonly personalData: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly riskParts: readonly { readonly factor: string; readonly points: number; readonly why: string }[];
  readonly credentials: Readonly<Record<string, readonly [ok: number, denied: number, other: number]>>;
  /** Kinds of addresses, with requests. */
  readonly clients: Readonly<Record<string, number>>;
  readonly samples: readonly {
    readonly at: Date;
    readonly requestId: string;
    readonly uri: string;
    readonly status: number;
    readonly client: string;
    readonly userAgent: string;
  }[];
  readonly callers: readonly { readonly client: string; readonly requests: number; readonly lastAt: Date }[];
  readonly wafHits: readonly {
    readonly at: Date;
    readonly requestId: string;
    readonly kind: string;
    readonly verdict: string;
    readonly ruleId: number | null;
    readonly uri: string;
    readonly client: string;
  }[];
  readonly threats: readonly {
    readonly id: string;
    readonly kind: string;
    readonly owasp: string;
    readonly severity: string;
    readonly reason: string;
    readonly count: number;
    readonly lastAt: Date;
    readonly status: string;
  }[];
}

/** An operation that a specification declares, by its whole path. */
export interface DeclaredOperation {
  readonly site: string;
  readonly method: string;
  readonly template: string;
  readonly specification: string;
  readonly isDeprecated: boolean;
  /** null: the document says nothing of it. */
  readonly needsCredentials: boolean | null;
}

export interface StoredSpecification {
  readonly id: number;
  readonly site: string;
  readonly name: string;
  readonly version: number;
  readonly at: Date;
  readonly author: string;
  readonly title: string;
  readonly openapi: string;
  readonly operations: number;
  readonly isInForce: boolean;
}

export type GapSeverity = 'high' | 'medium' | 'low';

/** Something that a document says, or leaves out, or that traffic shows beside it. */
export interface ApiGap {
  readonly rule: string;
  readonly severity: GapSeverity;
  readonly method: string;
  readonly template: string;
  /** In the document or in a message; empty: the operation as a whole. */
  readonly pointer: string;
  readonly line: number | null;
  readonly owasp: string;
  readonly message: string;
  readonly fix: string;
}

export interface SitePosture {
  readonly site: string;
  readonly specifications: readonly { readonly name: string; readonly version: number }[];
  readonly documented: number;
  readonly observed: number;
  /** null: nothing is documented. */
  readonly coveragePercent: number | null;
  readonly endpoints: number;
  readonly shadow: number;
  readonly zombie: number;
  readonly withoutCredentials: number;
  /** Gaps of each severity, and all of them. */
  readonly high: number;
  readonly medium: number;
  readonly low: number;
  readonly total: number;
  /** The gravest first, at most as many as were asked for. */
  readonly gaps: readonly ApiGap[];
}

/** What a document says of security. */
export type LintedSpecification = Pick<SitePosture, 'high' | 'medium' | 'low' | 'total' | 'gaps'>;

/** A document that was read without errors, to be kept. */
export interface ReadDocument {
  readonly text: string;
  readonly sha256: string;
  readonly head: unknown;
}

export interface NewDocument {
  readonly site: string;
  readonly name: string;
  readonly author: string;
  readonly read: ReadDocument;
}

/** A host that this server knows of by itself. */
export interface KnownHost {
  readonly host: string;
  readonly source: 'traffic' | 'certificate' | 'specification' | 'site';
  /** Where it was read: the site, the certificate's names, the document. */
  readonly from: string;
  /** The site that has it; null: whoever asks has to compare the names. */
  readonly site: string | null;
  readonly port: number | null;
  readonly url: string | null;
}

export interface ApiPort {
  /** Of one site, at most so many, those with most requests first. */
  operations(site: string, max: number): Promise<readonly LiveOperation[]>;
  /** Of one site without sums, in the order of method and template. */
  listed(site: string, max: number): Promise<readonly ListedOperation[]>;
  /** What these are, in their order; those that are gone are left out. */
  described(
    places: readonly Pick<ListedOperation, 'site' | 'method' | 'template'>[],
  ): Promise<readonly LiveOperation[]>;
  detail(site: string, method: string, template: string): Promise<OperationDetail | null>;
  /** By the specifications in force; where a site has none in force, by the newest of each name. */
  declared(site: string): Promise<readonly DeclaredOperation[]>;
  posture(site: string, gapsMax: number): Promise<SitePosture>;
  readonly specifications: {
    /** Of these sites, by site and name, the newest of a name first; `total`: of all of them. */
    list(
      sites: readonly string[] | null,
      page: { readonly limit: number; readonly offset: number },
    ): Promise<{ readonly items: readonly StoredSpecification[]; readonly total: number }>;
    find(id: number): Promise<StoredSpecification | null>;
    /** Throws ApiError with each problem of a document that cannot be read, or takes too much time or memory. */
    read(text: string, site: string): Promise<ReadDocument>;
    /** The newest of the name where it has the same text. */
    newestSame(given: NewDocument): Promise<StoredSpecification | null>;
    /** Kept in the caller's transaction, and not put in force. Throws ApiError 409 for a site that has too many. */
    keep(
      tx: Tx,
      given: NewDocument,
    ): Promise<{ readonly specification: StoredSpecification; readonly created: boolean }>;
    lint(id: number, gapsMax: number): Promise<LintedSpecification>;
  };
  /** Names of the settings' sites, with the host of each; null: any. */
  sites(): Promise<readonly { readonly name: string; readonly host: string | null }[]>;
  /** At most so many of each source. */
  hosts(max: number): Promise<readonly KnownHost[]>;
}

/** `GET /orders/{}`: names of parameters are no difference. */
export const operationKey = (method: string, template: string): string =>
  `${method === 'HEAD' ? 'GET' : method.toUpperCase()} ${template.replaceAll(/\{[^/{}]*\}/g, '{}')}`;
