// What clients do, as sums for the detection engine: a table of this worker, told every five seconds and begun anew.
// Nothing here waits. Memory is bounded: `clientsMax` clients of about 1.2 KB, made once and used again. Beyond it a
// request is counted as dropped; the last quarter is kept for clients that rules, gates or the application refused, so
// that a crowd of quiet clients hides no attacker. A client is an IPv4 address or the /64 of an IPv6 address, as for
// limits. Who is known by a credential (principals.ts) has a row of its own below the address: `principalsMax` of them,
// likewise with a last quarter for those that were refused; beyond it a request is counted for its address alone, so
// that made-up credentials push no client out and hide no address.
import { randomUUID } from 'node:crypto';
import type { GivenValues, RequestHead, Verdict } from '#engine';
import type { Decided } from '../admit/decision.js';
import { classifyAgent, type AgentClass } from '../admit/bots/user-agents.js';
import type { Framing } from '../http/framing.js';
import type { Action } from '../metrics/families.js';
import { counterKey } from '../metrics/metrics.js';
import { isLoginPath } from '../observation/cell.js';
import { CredentialFields, sessionCookie } from '../observation/credential.js';
import { pathOf } from '../observation/path.js';
import { ClientKey } from '../shared-state/client-key.js';
import { ClientSums } from './client-sums.js';
import type { ClientBatch, ClientWindow } from './client-window.js';
import { hashText, PathHash } from './hash.js';
import { Principals, type PrincipalName } from './principals.js';

const clientsMaxDefault = 4096;
const principalsMaxDefault = 2048;
const windowMs = 5000;
/** User-Agents whose class is remembered; beyond it all are forgotten. */
const agentsMax = 1000;
const agentCharsMax = 512;
/** Gates that refuse a client for what was decided of it before: what they refuse says nothing new. */
const holdingGates: ReadonlySet<string> = new Set(['deny-list', 'bans', 'verdicts', 'principal-verdicts']);
/** Thousands of rules that only add up and report. */
const summingGroups: ReadonlySet<number> = new Set([949, 959, 980]);

/** What is looked at of a request that is through (road/finish.ts). */
export interface ClientRequest {
  readonly site: { readonly name: string } | null;
  readonly head: RequestHead;
  readonly response: { readonly status: number; readonly bytes: number };
  readonly exchange: { readonly framing: Framing };
  readonly atMs: number;
  readonly requestId: string;
  readonly isBlocked: boolean;
  readonly decisions: readonly Decided[];
  /** What gates told of it; absent: nothing. */
  readonly given?: GivenValues;
  readonly inspection: {
    readonly foreign: {
      readonly messages: readonly { readonly ruleId: number }[];
      readonly inboundScore: number;
    } | null;
  } | null;
}

export interface ClientFeaturesOptions {
  readonly send: (batch: ClientBatch) => void;
  /** Of the table's keys, so that nobody can aim at one. */
  readonly seeds: readonly [number, number];
  /** Shared with the gates of the worker: both read the same credentials. */
  readonly principals: Principals;
  readonly clientsMax?: number;
  readonly principalsMax?: number;
}

/** Rows of one site: of addresses, and of principals at addresses. */
interface SiteRows {
  readonly clients: Map<number, ClientSums>;
  readonly principals: Map<PrincipalName['id'], Map<number, ClientSums>>;
}

const nothingGiven: GivenValues = [];

export class ClientFeatures {
  readonly counters = { counted: 0, dropped: 0, principal: 0, principalDropped: 0 };
  private readonly sites = new Map<string, SiteRows>();
  private readonly spare: ClientSums[] = [];
  private readonly key: ClientKey;
  private readonly path = new PathHash();
  private readonly fields = new CredentialFields();
  private readonly agents = new Map<string, AgentClass>();
  private count = 0;
  private principalCount = 0;
  private droppedSince = 0;
  private windowBegan = 0;

  constructor(private readonly options: ClientFeaturesOptions) {
    this.key = new ClientKey(options.seeds);
  }

  /** A request that is through. `verdict`: of the rules, where they looked. */
  add(finished: ClientRequest, verdict: Verdict | null, isFlagged: boolean, action: Action): void {
    const { site, head, response } = finished;
    if (site === null || action === 'aborted') return;
    const { status } = response;
    const isRefused = action === 'blocked' || isFlagged || status === 401 || status === 403 || status === 429;
    const principal = this.options.principals.of(head.headers, finished.given ?? nothingGiven, finished.atMs);
    const sums = this.sumsOf(site.name, head.clientIp, principal, finished.atMs, isRefused);
    if (sums === null) return;
    this.counters.counted += 1;
    sums.lastMs = finished.atMs;
    sums.count.requests += 1;
    if (this.isHeld(finished)) {
      sums.count.held += 1;
      return;
    }
    sums.count.request_bytes += finished.exchange.framing.kind === 'length' ? finished.exchange.framing.bytes : 0;
    this.path.read(pathOf(head.uri));
    sums.addPath(this.path.full, this.path.shape);
    const score = addRules(sums, finished, verdict);
    if (isFlagged) sums.count.flagged += 1;
    if (action === 'blocked') addRefusal(sums, finished, status);
    else addStatus(sums, finished, status);
    this.addSender(sums, finished, status);
    if (score > 0 || isRefused || status >= 400) sums.addSample(finished.requestId, score);
  }

  /** Whether a gate refused the client for what was known of it. */
  private isHeld({ decisions, isBlocked }: ClientRequest): boolean {
    if (!isBlocked) return false;
    for (const { gate, decision } of decisions) if (decision.kind !== 'flag' && holdingGates.has(gate)) return true;
    return false;
  }

  private addSender(sums: ClientSums, { head, response }: ClientRequest, status: number): void {
    const { fields } = this;
    let userAgent = '';
    let browserFields = 0;
    for (let at = 0; at + 1 < head.headers.length; at += 2) {
      const name = head.headers[at] as string;
      if (name.length !== 6 && name.length !== 10 && name.length !== 15) continue;
      const lower = name.toLowerCase();
      if (lower === 'user-agent') userAgent = head.headers[at + 1] as string;
      else if (lower === 'accept' || lower === 'accept-language' || lower === 'accept-encoding') browserFields += 1;
    }
    const kind = this.classOf(userAgent);
    sums.addAgent(kind);
    sums.addUserAgent(hashText(userAgent));
    if (kind === 'browser' && browserFields < 3) sums.count.odd_browsers += 1;
    sums.count.response_bytes += response.bytes;
    if (status >= 400) return;
    // only credentials that the application took: whoever makes some up does not look like many people
    fields.read(head.headers);
    const credential = fields.authorization ?? fields.apiKey ?? sessionOf(fields.cookie);
    if (credential !== null) sums.addSession(hashText(credential));
  }

  private classOf(userAgent: string): AgentClass {
    const text = userAgent.length > agentCharsMax ? userAgent.slice(0, agentCharsMax) : userAgent;
    const known = this.agents.get(text);
    if (known !== undefined) return known;
    if (this.agents.size >= agentsMax) this.agents.clear();
    const kind = classifyAgent(text);
    this.agents.set(copyOf(text), kind);
    return kind;
  }

  /** null: it gets none. */
  private sumsOf(
    site: string,
    address: string,
    principal: PrincipalName | null,
    atMs: number,
    isRefused: boolean,
  ): ClientSums | null {
    let rows = this.sites.get(site);
    if (rows === undefined) this.sites.set(site, (rows = { clients: new Map(), principals: new Map() }));
    this.key.read(address);
    const key = this.key.high * 0x10_0000 + (this.key.low >>> 12);
    if (principal !== null) {
      const own = this.ofPrincipal(rows, key, site, address, principal, atMs, isRefused);
      if (own !== null) return own;
    }
    const known = rows.clients.get(key);
    if (known !== undefined) return known;
    if (this.count >= roomFor(this.options.clientsMax ?? clientsMaxDefault, isRefused)) {
      this.counters.dropped += 1;
      this.droppedSince += 1;
      return null;
    }
    const sums = this.spare.pop() ?? new ClientSums();
    sums.begin(site, copyOf(address), null, atMs);
    rows.clients.set(key, sums);
    this.count += 1;
    return sums;
  }

  /** The row of a principal at an address; null: there is no room for it. */
  private ofPrincipal(
    { principals }: SiteRows,
    key: number,
    site: string,
    address: string,
    principal: PrincipalName,
    atMs: number,
    isRefused: boolean,
  ): ClientSums | null {
    let rows = principals.get(principal.id);
    let sums = rows?.get(key);
    if (sums === undefined) {
      if (this.principalCount >= roomFor(this.options.principalsMax ?? principalsMaxDefault, isRefused)) {
        this.counters.principalDropped += 1;
        return null;
      }
      if (rows === undefined) principals.set(principal.id, (rows = new Map()));
      sums = this.spare.pop() ?? new ClientSums();
      sums.begin(site, copyOf(address), principal, atMs);
      rows.set(key, sums);
      this.principalCount += 1;
    }
    this.counters.principal += 1;
    return sums;
  }

  /** Called by a timer; sends the window when it is over, or `isLast`. */
  flush(nowMs: number, isLast = false): void {
    if (!isLast && nowMs - this.windowBegan < windowMs) return;
    this.windowBegan = nowMs;
    if (this.count === 0 && this.principalCount === 0 && this.droppedSince === 0) return;
    const clients: ClientWindow[] = [];
    const take = (sums: ClientSums): void => {
      clients.push(sums.window());
      sums.clear();
      this.spare.push(sums);
    };
    for (const rows of this.sites.values()) {
      rows.clients.forEach(take);
      for (const addresses of rows.principals.values()) addresses.forEach(take);
    }
    this.sites.clear();
    this.count = 0;
    this.principalCount = 0;
    const { droppedSince: dropped } = this;
    this.droppedSince = 0;
    this.options.send({ batch_id: randomUUID(), clients, dropped });
  }

  /** By counterKey (metrics/metrics.ts). */
  metrics(): Record<string, number> {
    return {
      [counterKey('clientFeatures', { outcome: 'counted' })]: this.counters.counted,
      [counterKey('clientFeatures', { outcome: 'dropped' })]: this.counters.dropped,
      [counterKey('principalFeatures', { outcome: 'counted' })]: this.counters.principal,
      [counterKey('principalFeatures', { outcome: 'dropped' })]: this.counters.principalDropped,
    };
  }
}

/** Rows that may be begun: the last quarter only for who was refused something. */
const roomFor = (most: number, isRefused: boolean): number => (isRefused ? most : most - (most >> 2));

/** Returns the score of the request. */
function addRules(sums: ClientSums, { decisions, inspection }: ClientRequest, verdict: Verdict | null): number {
  const foreign = inspection?.foreign ?? null;
  for (const { decision } of decisions) if (decision.rule !== null) sums.addRule(decision.rule.id);
  if (foreign !== null) for (const { ruleId } of foreign.messages) addMatch(sums, ruleId);
  if (verdict !== null)
    for (const { rule, phase } of verdict.matched) if (foreign === null || phase > 2) addMatch(sums, rule.id);
  const score = foreign?.inboundScore ?? verdict?.inboundScore ?? 0;
  sums.count.score_sum += score;
  if (score > sums.scoreMax) sums.scoreMax = score;
  return score;
}

function addMatch(sums: ClientSums, ruleId: number): void {
  if (!summingGroups.has(Math.floor(ruleId / 1000))) sums.addRule(ruleId);
}

function addRefusal(sums: ClientSums, { decisions }: ClientRequest, status: number): void {
  for (const { decision } of decisions) {
    if (decision.kind === 'throttle') return void (sums.count.limited += 1);
    if (decision.kind === 'challenge') return void (sums.count.challenged += 1);
  }
  // a site that asks for credentials refuses people, too
  if (status === 401) sums.count.denied += 1;
  else sums.count.blocked += 1;
}

function addStatus(sums: ClientSums, { head }: ClientRequest, status: number): void {
  if (status < 400) sums.count.ok += 1;
  else if (status >= 500) sums.count.server_errors += 1;
  else if (status === 401 || status === 403) sums.count.denied += 1;
  else if (status === 404 || status === 405 || status === 410) sums.count.not_found += 1;
  else sums.count.failed += 1;
  if (status >= 400 && status < 500 && isLoginPath(head.method, pathOf(head.uri))) sums.count.login_failures += 1;
}

const sessionOf = (cookie: string | null): string | null => (cookie === null ? null : sessionCookie(cookie));

/** A part of a string keeps the whole of it in memory, here the head of a request. */
const copyOf = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');
