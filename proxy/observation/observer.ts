// Discovery in a worker: sums by method and path, flushed in windows. Nothing here waits, and everything is bounded:
// paths by a table that keeps those which were asked for again, principals by a number a window, what is looked into by
// a rate. Beyond a bound requests are counted as dropped. Paths that the application does not know (404) never get a
// place, and paths that answered no request well get few, so that a scanner pushes nothing real out.
import { randomUUID } from 'node:crypto';
import { findField } from '../http/header-fields.js';
import { counterKey } from '../metrics/metrics.js';
import { Cell, PrincipalSums, privilegedStatus } from './cell.js';
import { CredentialFields, keyedHash, Principals, type Principal } from './credential.js';
import { eachPair, isJsonType, lookIntoBody, lookIntoQuery, mediaTypeOf, queryOf } from './look-into.js';
import { readLogin } from './logins.js';
import { objectsOfPath, objectsOfQuery } from './objects.js';
import { lookForPii } from './pii/detect.js';
import { isReadableType } from './pii/formats.js';
import { droppedSitesMax, type ObservationBatch, type Sighting } from './observation.js';
import { isOrdinaryPath, isStaticAsset, normalPath, pathOf, segmentsOf, shapeOf } from './path.js';
import { objectHash, RelationLearner, showsObjects } from './relations.js';

/** One request that is through. The observer has one of these, and its caller fills it in anew for each request. */
export class ObservedRequest {
  site = '';
  method = '';
  uri = '';
  headers: readonly string[] = [];
  clientIp = '';
  requestId = '';
  status = 0;
  responseHeaders: readonly string[] = [];
  requestBytes = 0;
  responseBytes = 0;
  latencyUs = 0;
  /** As inspected; null: none, or not read. */
  body: Buffer | null = null;
  /** Decoded, whole, of some answers (`wantsReply`); null: not kept. */
  responseBody: Buffer | null = null;
  /** Who asked, where it is known otherwise than from `headers`. */
  principal: Principal | null = null;
  /** False: a record that does not say whether there was a credential. */
  knowsCredentials = true;
  /** Whether bodies are looked through for personal data (`pii_detect`). */
  detectsPii = false;
  atMs = 0;
  /** Rules or gates flagged it: it teaches nothing, and its path gets a place only if the application answered well. */
  isSuspicious = false;
  /** Neither blocked nor refused, and not with an error of the application. */
  isAnswered = false;
}

export interface ObserverOptions {
  /** Of keyed hashes; the same on all nodes of an installation. */
  readonly key: Uint8Array;
  readonly send: (batch: ObservationBatch) => void;
  readonly cellsMax?: number;
  /** Answers that are looked through for personal data; absent: as many as a worker has time for. */
  readonly repliesPerSecond?: number;
  /**
   * Of records that others send: no order of records and no cut into requests makes a difference. Every record is
   * looked into, refused ones have as much room as others, and answers for paths that the application does not know
   * never count. `place` says where the sums of a path go: its template (`/orders/{integer}`), or null: to itself.
   */
  readonly records?: { readonly place: (site: string, method: string, path: string) => string | null };
}

export interface ObserverCounters {
  observed: number;
  /** No table had room. */
  dropped: number;
}

const cellsMaxDefault = 2048;
/** Paths whose requests were refused or failed, of those. */
const failingCellsMax = 256;
const shapesMax = 512;
/** Requests a second whose shape is made where no cell is left for their path. */
const shapesPerSecond = 500;
const peopleMax = 8192;
const logInsPerSecond = 500;
/** Answers a second that are looked through for personal data: about 1 ms of 64 KiB each. */
const repliesPerSecond = 20;
/** Answers a second whose objects are learned: about 30 µs each. */
const objectRepliesPerSecond = 200;
const replyBytesMax = 64 * 1024;
/** Parameters that may name objects; a first look only. */
const idParameter = /(?:id|ref|number|no|nr|pk)s?=/i;
const pathCharsMax = 1024;
const windowMs = 2000;
const idleWindowsMax = 30;

export class TrafficObserver {
  readonly request = new ObservedRequest();
  readonly counters: ObserverCounters = { observed: 0, dropped: 0 };
  private readonly cells = new Map<string, Map<string, Map<string, Cell>>>();
  private readonly shapes = new Map<string, Cell>();
  private readonly fields = new CredentialFields();
  private readonly principals: Principals;
  private cellCount = 0;
  private failingCount = 0;
  private peopleCount = 0;
  private droppedSince = 0;
  private readonly droppedSites = new Map<string, number>();
  private windowBegan = 0;
  private readonly shapeBudget = new Rate(shapesPerSecond);
  private readonly piiBudget: Rate;
  private readonly objectBudget = new Rate(objectRepliesPerSecond);
  private readonly learner: RelationLearner;
  private readonly loginBudget = new Rate(logInsPerSecond);

  constructor(private readonly options: ObserverOptions) {
    this.principals = new Principals(options.key);
    this.learner = new RelationLearner(options.key);
    this.piiBudget = new Rate(options.repliesPerSecond ?? repliesPerSecond);
  }

  /** Takes `request` into account. */
  observe(): void {
    const { request } = this;
    const { method, status } = request;
    if (status < 200 || status === 499 || method === 'OPTIONS') return;
    const path = pathOf(request.uri);
    const cell = this.cellOf(request.site, method, path, status);
    if (cell === null) return;
    this.counters.observed += 1;
    const { fields } = this;
    fields.read(request.headers);
    const principal = request.principal ?? this.principals.of(fields, request.clientIp, request.atMs);
    cell.add(request.atMs, status, request.requestBytes, request.responseBytes, request.latencyUs);
    if (request.knowsCredentials) cell.addCredential(principal.kind, status);
    if (request.clientIp !== '') cell.addClient(isInternalAddress(request.clientIp));
    const isLookedInto = this.options.records !== undefined || cell.total <= 8 || (cell.total & 63) === 0;
    if (isLookedInto && !request.isSuspicious) this.lookInto(cell);
    if (request.responseBody !== null && !request.isSuspicious) this.lookIntoReply(cell, request.responseBody);
    if (principal.id === '') return;
    const hasQuery = request.uri.length > path.length;
    if (cell.isPersonal || (hasQuery && idParameter.test(request.uri))) this.addPerson(cell, principal, path);
    if (principal.kind !== 'none' && !request.isSuspicious && mayShowOthers(request.method, path))
      this.learner.learn(request, principal);
  }

  /** null: it gets none. */
  private cellOf(site: string, method: string, path: string, status: number): Cell | null {
    const { records } = this.options;
    const isUnknown = status === 404 || status === 405 || status === 410 || status === 501;
    if (records !== undefined && isUnknown) return null;
    const known = this.cells.get(site)?.get(method)?.get(path);
    if (known !== undefined) return known;
    if (isUnknown || isStaticAsset(method, path)) return null;
    if (this.request.isSuspicious && !(this.request.isAnswered && isOrdinaryPath(path))) return null;
    const template = records === undefined || path.length > pathCharsMax ? null : records.place(site, method, path);
    if (template !== null)
      return this.cells.get(site)?.get(method)?.get(template) ?? this.newCell(site, method, template, true);
    const isFailing = status >= 400;
    if (isFailing && records === undefined && this.failingCount >= failingCellsMax) return this.drop();
    if (path.length <= pathCharsMax && this.cellCount < (this.options.cellsMax ?? cellsMaxDefault)) {
      if (isFailing) this.failingCount += 1;
      return this.newCell(site, method, path);
    }
    return isFailing || !this.shapeBudget.take(this.request.atMs) ? this.drop() : this.shapeCell(site, method, path);
  }

  private drop(): null {
    this.counters.dropped += 1;
    this.droppedSince += 1;
    const { site } = this.request;
    const before = this.droppedSites.get(site);
    if (before !== undefined || this.droppedSites.size < droppedSitesMax)
      this.droppedSites.set(site, (before ?? 0) + 1);
    return null;
  }

  private newCell(site: string, method: string, path: string, isShape = false): Cell {
    let methods = this.cells.get(site);
    if (methods === undefined) this.cells.set(site, (methods = new Map()));
    let paths = methods.get(method);
    if (paths === undefined) methods.set(copyOf(method), (paths = new Map()));
    const cell = new Cell(site, copyOf(method), copyOf(path), isShape);
    paths.set(cell.path, cell);
    this.cellCount += 1;
    return cell;
  }

  private shapeCell(site: string, method: string, path: string): Cell | null {
    const shape = shapeOf(path);
    const key = `${site} ${method} ${shape}`;
    const known = this.shapes.get(key);
    if (known !== undefined) return known;
    if (this.shapes.size >= shapesMax) return this.drop();
    const cell = new Cell(site, copyOf(method), copyOf(shape), true);
    this.shapes.set(key, cell);
    return cell;
  }

  private lookInto(cell: Cell): void {
    const { request, fields } = this;
    const found = (name: string, kind: string): void => cell.addParameter(name, kind);
    if (!cell.isLogin && request.method === 'POST' && request.body !== null) {
      const attempt = readLogin(mediaTypeOf(fields.contentType), request.body);
      if (attempt !== null && attempt.password !== null) cell.isLogin = cell.isPersonal = true;
    }
    if (request.status < 400) {
      lookIntoQuery(request.uri, found);
      const type = mediaTypeOf(fields.contentType);
      if (type !== null) cell.addRequestType(type);
      if (request.body !== null) {
        lookIntoBody(type, request.body, found);
        if (request.detectsPii && isJsonType(type) && request.body.length <= replyBytesMax)
          lookForPii('request', type, request.body, (place, kind) => cell.addPii(place, kind));
      }
    }
    const type = mediaTypeOf(findField(request.responseHeaders, 'content-type'));
    if (type !== null) cell.addResponseType(type);
  }

  /**
   * Whether the answer to a request is to be kept until it is through, for `responseBody`: some of those that can have
   * data in them, and those that can show objects to somebody, at rates that cost little.
   */
  wantsReply(asked: AskedReply, nowMs: number): boolean {
    const type = mediaTypeOf(findField(asked.responseHeaders, 'content-type'));
    if (type !== null && isReadableType(type)) return asked.detectsPii && this.piiBudget.take(nowMs);
    if (!showsObjects(asked.method, asked.status, type)) return false;
    return mayShowOthers(asked.method, pathOf(asked.uri)) || asked.detectsPii ? this.objectBudget.take(nowMs) : false;
  }

  private lookIntoReply(cell: Cell, body: Buffer): void {
    const { request } = this;
    if (!request.detectsPii || request.status >= 400) return;
    const type = mediaTypeOf(findField(request.responseHeaders, 'content-type'));
    // that of other types was kept for this, and has had its turn already
    if ((isJsonType(type) || type === 'text/html') && !this.piiBudget.take(request.atMs)) return;
    lookForPii('response', type, body, (place, kind) => cell.addPii(place, kind));
  }

  private addPerson(cell: Cell, principal: Principal, path: string): void {
    const { request } = this;
    const people = (cell.people ??= new Map());
    const isApart = cell.isShape && this.options.records !== undefined && path.length <= pathCharsMax;
    const person = isApart ? `${path}\0${principal.kind}\0${principal.id}` : principal;
    let sums = people.get(person);
    if (sums === undefined) {
      if (this.peopleCount >= peopleMax) return;
      this.peopleCount += 1;
      sums = new PrincipalSums(principal, copyOf(request.clientIp), request.atMs, request.requestId);
      if (isApart) sums.path = path;
      people.set(person, sums);
    }
    const isUnknown = !request.knowsCredentials && principal.kind === 'none';
    const status = cell.isPrivileged ? privilegedStatus(request.status, isUnknown) : request.status;
    sums.add(status, request.atMs, request.requestId);
    const own = isApart ? path : cell.path;
    if (request.uri.length > own.length) sums.polluted ??= pollutedParameter(own, request.uri);
    if (own !== path && request.status < 400) sums.addPath(path);
    if (request.status < 400 && request.uri.length > path.length && idParameter.test(request.uri))
      for (const object of objectsOfQuery(request.uri))
        sums.addQueried(object.noun, objectHash(this.options.key, object), request.requestId);
    if (cell.isLogin && request.body !== null && this.loginBudget.take(request.atMs)) this.addLogin(sums, request.body);
  }

  private addLogin(sums: PrincipalSums, body: Buffer): void {
    const { key } = this.options;
    const attempt = readLogin(mediaTypeOf(this.fields.contentType), body);
    if (attempt === null) return;
    const { account, password } = attempt;
    const isAdmitted = this.request.status < 400;
    const tried = password === null ? null : keyedHash(key, 'password', password);
    sums.addAccount(keyedHash(key, 'account', account), tried, isAdmitted);
  }

  /** Called by a timer; sends what the window has seen when it is over, or `isLast`. */
  flush(nowMs: number, isLast = false): void {
    if (!isLast && nowMs - this.windowBegan < windowMs) return;
    this.windowBegan = nowMs;
    const all = [...this.shapes.values()];
    for (const methods of this.cells.values())
      for (const [method, paths] of methods) {
        for (const cell of paths.values()) {
          if (cell.count > 0) all.push(cell);
          this.age(cell, paths);
        }
        if (paths.size === 0) methods.delete(method);
      }
    const sightings: Sighting[] = [];
    const observations = all.map((cell) => {
      const path = cell.isShape ? cell.path : normalPath(cell.path);
      for (const sighting of cell.sightings(path)) sightings.push(sighting);
      const observation = cell.observation(path);
      cell.clear();
      return observation;
    });
    const { droppedSince: dropped } = this;
    const bySite = dropped === 0 ? {} : { dropped_by_site: Object.fromEntries(this.droppedSites) };
    const relations = this.learner.take();
    this.shapes.clear();
    this.droppedSince = 0;
    this.droppedSites.clear();
    this.peopleCount = 0;
    this.failingCount = 0;
    if (observations.length + relations.length + dropped === 0) return;
    this.options.send({ batch_id: randomUUID(), observations, sightings, relations, dropped, ...bySite });
  }

  /** A path that was asked for once only, or for long not, leaves its place to others. */
  private age(cell: Cell, paths: Map<string, Cell>): void {
    cell.idle = cell.count > 0 ? 0 : cell.idle + 1;
    if (cell.total > 1 && cell.idle <= idleWindowsMax) return;
    paths.delete(cell.path);
    this.cellCount -= 1;
  }

  /** By counterKey (metrics/metrics.ts). */
  metrics(): Record<string, number> {
    const { observed, dropped } = this.counters;
    return {
      [counterKey('observations', { outcome: 'counted' })]: observed,
      [counterKey('observations', { outcome: 'dropped' })]: dropped,
    };
  }
}

/** What is known of an answer when it begins. */
export interface AskedReply {
  readonly method: string;
  readonly uri: string;
  readonly status: number;
  readonly responseHeaders: readonly string[];
  readonly detectsPii: boolean;
}

/** Whether an answer can show its reader other objects than the one that was asked for: reading one shows that one. */
function mayShowOthers(method: string, path: string): boolean {
  if (method !== 'GET') return true;
  const last = segmentsOf(path).at(-1);
  return last === undefined || objectsOfPath(last).length === 0;
}

/** A part of a string keeps the whole of it in memory, here the head of a request. */
const copyOf = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');

/** Private, shared, loopback and link-local addresses (RFC 1918, 6598, 4193, 4291); what is no address is internal. */
export function isInternalAddress(ip: string): boolean {
  const mapped = ip.startsWith('::ffff:') ? ip.slice(7) : ip;
  if (mapped.startsWith('10.') || mapped.startsWith('192.168.') || mapped.startsWith('127.')) return true;
  if (mapped.startsWith('169.254.')) return true;
  if (mapped.startsWith('172.')) return inSecond(mapped, 4, 16, 31);
  if (mapped.startsWith('100.')) return inSecond(mapped, 4, 64, 127);
  if (mapped.includes('.')) return false;
  if (!mapped.includes(':') || mapped === '::1') return true;
  const lower = mapped.slice(0, 4).toLowerCase();
  return lower.startsWith('fc') || lower.startsWith('fd') || lower.startsWith('fe8') || lower.startsWith('fe9');
}

function inSecond(ip: string, from: number, least: number, most: number): boolean {
  const number = Number.parseInt(ip.slice(from, from + 3), 10);
  return number >= least && number <= most;
}

/**
 * The name of a parameter that comes twice with different values, or that names another object than the path does
 * (`/orders/12345?orderId=67890`). null: none.
 */
export function pollutedParameter(path: string, uri: string): string | null {
  const seen = new Map<string, string>();
  let polluted: string | null = null;
  const segments = path.split('/');
  eachPair(queryOf(uri), (name, value) => {
    const key = name.toLowerCase();
    const before = seen.get(key);
    if (before !== undefined && before !== value && !key.endsWith('[]')) polluted ??= name.slice(0, 128);
    seen.set(key, value);
    if (value === '' || segments.includes(value) || !(key === 'id' || key.endsWith('id'))) return;
    const noun = key.replace(/[_-]?id$/, '');
    const place = segments.findIndex((segment) => noun !== '' && isNoun(segment.toLowerCase(), noun));
    if (place > 0 && place + 1 < segments.length && segments[place + 1] !== '') polluted ??= name.slice(0, 128);
  });
  return polluted;
}

const isNoun = (segment: string, noun: string): boolean =>
  segment === noun || segment === `${noun}s` || segment === `${noun}es`;

/** So many a second, by the clock of who asks. */
class Rate {
  private second = 0;
  private used = 0;

  constructor(private readonly perSecond: number) {}

  take(nowMs: number): boolean {
    const second = Math.floor(nowMs / 1000);
    if (second !== this.second) {
      this.second = second;
      this.used = 0;
    }
    this.used += 1;
    return this.used <= this.perSecond;
  }
}
