// What the parts of a scan share: requests, forms (a request whose values can be changed), checks and their proofs.
import type { Severity } from '../findings/words.js';

export const scanMethods = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'] as const;
export type ScanMethod = (typeof scanMethods)[number];

export interface ScanRequest {
  readonly method: ScanMethod;
  /** As it goes over the wire. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface Exchange {
  readonly request: ScanRequest;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  readonly body: string;
  readonly ms: number;
}

export type ParamPlace = 'query' | 'body' | 'path';
export interface Param {
  readonly name: string;
  readonly value: string;
  readonly place: ParamPlace;
  /** Of a JSON body: the value is no string there. */
  readonly isRaw?: boolean;
  /** A value that the page makes anew each time: it is fetched again before each request. */
  readonly isToken?: boolean;
  /** Sent as it is: no check changes it. */
  readonly isFixed?: boolean;
  /** A file of this name, with this text in it. */
  readonly file?: string;
  /** Of a JSON body: where the value stands in it; absent: a member of that name. */
  readonly path?: readonly (string | number)[];
}

/** json-list: the body is a list, not an object. */
export type BodyKind = 'none' | 'form' | 'multipart' | 'json' | 'json-list' | 'xml';

/** A request with values that can be changed, identified by `key`. */
export interface Form {
  readonly key: string;
  readonly method: ScanMethod;
  /** Without a query; `{name}` stands for parameters of the path. */
  readonly url: string;
  readonly params: readonly Param[];
  readonly bodyKind: BodyKind;
  /** The page that it was seen on. */
  readonly page: string | null;
  /** A specification says that it needs credentials. */
  readonly isProtected?: boolean;
  /** Headers that it is sent with, beside those of the session and of its body. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Which checks run. */
export const profiles = ['quick', 'standard', 'full', 'api', 'authenticated'] as const;
export type Profile = (typeof profiles)[number];

/** What shows a weakness: the request, its answer, the same without the attack, and why that is a proof. */
export interface Proof {
  readonly attack: string;
  readonly exchange: Exchange;
  readonly neutral: Exchange | null;
  readonly why: string;
}

export interface CheckText {
  readonly id: string;
  readonly title: string;
  readonly severity: Severity;
  readonly cwe: number;
  readonly description: string;
  readonly remediation: string;
}

/** What a scan has found. */
export interface Found {
  readonly check: CheckText;
  readonly form: Form;
  readonly param: string | null;
  readonly proof: Proof;
}

/** Why a scan ended before its end; thrown by the client, and caught by the run alone. */
export class ScanOver extends Error {
  readonly reason: 'stopped' | 'budget' | 'time' | 'window' | 'unreachable';
  constructor(reason: ScanOver['reason'], message: string) {
    super(message);
    this.name = 'ScanOver';
    this.reason = reason;
  }
}

/** A request that the bounds of the target do not allow: it was not sent. */
export class NotAllowed extends Error {
  readonly reason: 'out_of_scope' | 'excluded' | 'method';
  constructor(reason: NotAllowed['reason'], message: string) {
    super(message);
    this.name = 'NotAllowed';
    this.reason = reason;
  }
}
