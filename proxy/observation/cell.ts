// The sums of one method and path in a worker. Made once and used again in every window, so that a request of a known
// path allocates nothing here.
import { credentialKinds, type CredentialKind, type Principal } from './credential.js';
import type { Counts, CredentialCounts, NestedCounts, Observation, QueriedObject, Sighting } from './observation.js';
import { hasData, normalPath, shapeHasData } from './path.js';

const outcomes = 3;
const statusesMax = 16;
const typesMax = 8;
export const parametersMax = 64;
const kindsMax = 8;
const accountsMax = 64;
/** Of one principal at one path in a window. */
const queriedMax = 64;
const pathsMax = 256;

/** What one principal did at one path in a window. */
export class PrincipalSums {
  ok = 0;
  denied = 0;
  failed = 0;
  lastMs = 0;
  hasSucceeded = false;
  accounts: Set<string> | null = null;
  admitted: Set<string> | null = null;
  passwords: Set<string> | null = null;
  /** Of queries: by noun and keyed hash, the request that got it. */
  queried: Map<string, QueriedObject> | null = null;
  /** Of a shape: the paths behind it. */
  paths: Set<string> | null = null;
  polluted: string | null = null;
  /** The path itself, where the sums of the cell are those of a template. */
  path: string | null = null;

  constructor(
    readonly principal: Principal,
    readonly clientIp: string,
    public firstMs: number,
    public requestId: string,
  ) {}

  add(status: number, atMs: number, requestId: string): void {
    if (atMs < this.firstMs) this.firstMs = atMs;
    if (atMs > this.lastMs) this.lastMs = atMs;
    if (status === 401 || status === 403) this.denied += 1;
    else if (status >= 200 && status < 400) {
      if (this.ok === 0) this.requestId = requestId;
      this.ok += 1;
    } else this.failed += 1;
  }

  /** Keyed hashes; the password's is compared here and sent nowhere. */
  addAccount(account: string, password: string | null, isAdmitted: boolean): void {
    const accounts = (this.accounts ??= new Set());
    if (accounts.size < accountsMax) accounts.add(account);
    if (isAdmitted && (this.admitted ??= new Set()).size < accountsMax) this.admitted.add(account);
    if (password !== null && (this.passwords ??= new Set()).size < accountsMax) this.passwords.add(password);
  }

  addQueried(noun: string, object: string, request_id: string): void {
    const queried = (this.queried ??= new Map());
    const key = `${noun} ${object}`;
    if (queried.size < queriedMax && !queried.has(key)) queried.set(key, { noun, object, request_id });
  }

  addPath(path: string): void {
    const paths = (this.paths ??= new Set());
    if (paths.size < pathsMax) paths.add(path);
  }
}

const loginWords = ['login', 'signin', 'sign-in', 'sign_in', 'authenticate', 'oauth/token', 'session', 'auth/token'];
const privilegedWords =
  'admin manage internal root superuser roles permissions impersonate backoffice back-office moderat'.split(' ');

const hasWord = (path: string, words: readonly string[]): boolean => {
  const lower = path.toLowerCase();
  return words.some((word) => lower.includes(word));
};

export const isLoginPath = (method: string, path: string): boolean => method === 'POST' && hasWord(path, loginWords);
export const isPrivilegedPath = (path: string): boolean => hasWord(path, privilegedWords);

/**
 * The status by which an answer of an administrators' function counts for whoever asked. A redirect leads to the login,
 * and a record that does not say whether there was a credential does not say that there was none: neither is a use.
 */
export const privilegedStatus = (status: number, isUnknown: boolean): number =>
  (status >= 300 && status < 400 && status !== 304) || (isUnknown && status < 400) ? 0 : status;

export class Cell {
  /** Of all windows. */
  total = 0;
  /** Windows without a request. */
  idle = 0;
  count = 0;
  isLogin: boolean;
  /** Whether what single principals do here is of interest. */
  isPersonal: boolean;
  readonly isPrivileged: boolean;
  private firstMs = 0;
  private lastMs = 0;
  private readonly statuses = new Map<number, number>();
  private readonly credentials = new Uint32Array(credentialKinds.length * outcomes);
  private internal = 0;
  private external = 0;
  private requestBytes = 0;
  private responseBytes = 0;
  private latencyUs = 0;
  private latencyUsMax = 0;
  // Made when they are needed: most paths of records of others come once, with nothing but a status.
  private requestTypes: Map<string, number> | null = null;
  private responseTypes: Map<string, number> | null = null;
  private parameters: Map<string, Map<string, number>> | null = null;
  private pii: Map<string, Map<string, number>> | null = null;
  /** By principal; where the sums are those of a template also by path. */
  people: Map<Principal | string, PrincipalSums> | null = null;

  constructor(
    readonly site: string,
    readonly method: string,
    readonly path: string,
    /** The path is one of a template (`/orders/{integer}`). */
    readonly isShape = false,
  ) {
    this.isLogin = isLoginPath(method, path);
    const names = isShape ? shapeHasData(path) : hasData(path);
    this.isPrivileged = isPrivilegedPath(path);
    this.isPersonal = this.isLogin || names || this.isPrivileged;
  }

  add(atMs: number, status: number, requestBytes: number, responseBytes: number, latencyUs: number): void {
    // Records of others come in any order.
    if (this.count === 0 || atMs < this.firstMs) this.firstMs = atMs;
    if (this.count === 0 || atMs > this.lastMs) this.lastMs = atMs;
    this.count += 1;
    this.total += 1;
    const before = this.statuses.get(status);
    if (before !== undefined || this.statuses.size < statusesMax) this.statuses.set(status, (before ?? 0) + 1);
    this.requestBytes += requestBytes;
    this.responseBytes += responseBytes;
    this.latencyUs += latencyUs;
    if (latencyUs > this.latencyUsMax) this.latencyUsMax = latencyUs;
  }

  addCredential(kind: CredentialKind, status: number): void {
    const outcome = status === 401 || status === 403 ? 1 : status >= 200 && status < 400 ? 0 : 2;
    const at = credentialKinds.indexOf(kind) * outcomes + outcome;
    this.credentials[at] = (this.credentials[at] as number) + 1;
  }

  addClient(isInternal: boolean): void {
    if (isInternal) this.internal += 1;
    else this.external += 1;
  }

  addRequestType(type: string): void {
    bump((this.requestTypes ??= new Map()), type, typesMax);
  }

  addResponseType(type: string): void {
    bump((this.responseTypes ??= new Map()), type, typesMax);
  }

  addParameter(name: string, kind: string): void {
    bumpNested((this.parameters ??= new Map()), name, kind);
  }

  addPii(place: string, kind: string): void {
    bumpNested((this.pii ??= new Map()), place, kind);
  }

  observation(path: string): Observation {
    const { credentials } = this;
    const byKind: CredentialCounts = {};
    for (let index = 0; index < credentialKinds.length; index += 1) {
      const from = index * outcomes;
      const [ok, denied, other] = [credentials[from] ?? 0, credentials[from + 1] ?? 0, credentials[from + 2] ?? 0];
      if (ok + denied + other > 0) byKind[credentialKinds[index] as CredentialKind] = [ok, denied, other];
    }
    return {
      site: this.site,
      method: this.method,
      path,
      count: this.count,
      first_ms: this.firstMs,
      last_ms: this.lastMs,
      statuses: toCounts(this.statuses),
      credentials: byKind,
      clients: clientsOf(this.internal, this.external),
      parameters: toNested(this.parameters),
      request_types: toCounts(this.requestTypes),
      response_types: toCounts(this.responseTypes),
      pii: toNested(this.pii),
      request_bytes: this.requestBytes,
      response_bytes: this.responseBytes,
      latency_us: Math.round(this.latencyUs),
      latency_us_max: Math.round(this.latencyUsMax),
    };
  }

  sightings(path: string): Sighting[] {
    if (this.people === null) return [];
    return [...this.people.values()].map((sums) => ({
      site: this.site,
      method: this.method,
      path: sums.path === null ? path : normalPath(sums.path),
      principal: sums.principal.id,
      credential: sums.principal.kind,
      client_ip: sums.clientIp,
      first_ms: sums.firstMs,
      last_ms: sums.lastMs,
      ok: sums.ok,
      denied: sums.denied,
      failed: sums.failed,
      request_id: sums.requestId,
      accounts: sums.accounts === null ? [] : [...sums.accounts],
      admitted: sums.admitted === null ? undefined : [...sums.admitted],
      passwords: sums.passwords?.size,
      queried: sums.queried === null ? undefined : [...sums.queried.values()],
      distinct: sums.paths?.size,
      polluted: sums.polluted,
      role: sums.principal.role,
    }));
  }

  /** For the next window. */
  clear(): void {
    this.count = 0;
    this.statuses.clear();
    this.credentials.fill(0);
    this.internal = 0;
    this.external = 0;
    this.requestBytes = 0;
    this.responseBytes = 0;
    this.latencyUs = 0;
    this.latencyUsMax = 0;
    this.requestTypes?.clear();
    this.responseTypes?.clear();
    this.parameters?.clear();
    this.pii?.clear();
    this.people?.clear();
  }
}

function clientsOf(internal: number, external: number): Counts {
  if (external === 0) return internal === 0 ? {} : { internal };
  return internal === 0 ? { external } : { internal, external };
}

function bump(counts: Map<string, number>, name: string, most: number): void {
  const before = counts.get(name);
  if (before !== undefined || counts.size < most) counts.set(name, (before ?? 0) + 1);
}

function bumpNested(counts: Map<string, Map<string, number>>, name: string, kind: string): void {
  let inner = counts.get(name);
  if (inner === undefined) {
    if (counts.size >= parametersMax) return;
    inner = new Map();
    counts.set(name, inner);
  }
  bump(inner, kind, kindsMax);
}

function toCounts(counts: ReadonlyMap<string | number, number> | null): Counts {
  return counts === null || counts.size === 0 ? {} : Object.fromEntries(counts);
}

function toNested(counts: ReadonlyMap<string, ReadonlyMap<string, number>> | null): NestedCounts {
  if (counts === null || counts.size === 0) return {};
  return Object.fromEntries([...counts].map(([name, inner]) => [name, toCounts(inner)]));
}
