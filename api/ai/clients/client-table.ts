// What clients did within the window, added up from what nodes tell. Bounded: `clientsMax` clients of ten slices each,
// those that were seen longest ago go first. What principals did at an address is kept apart within it, so that the
// address can be judged without one of them; `principalsOfSliceMax` a slice, the rest is the address's own.
import { clientCountNames, noCounts, principalKeyOf, type ClientWindow } from '#proxy/contract';
import { toDenied } from '../../addresses/denied.js';
import { toSourceKey } from '../../addresses/address.js';
import { Bits } from './bits.js';

const clientsMaxDefault = 50_000;
const slicesMax = 10;
const sitesMax = 8;
const principalsOfSliceMax = 32;
const samplesMax = 5;
const rulesMax = 24;
const shapesMax = 256;

/** Sums of one client at one site. */
export class Sums {
  readonly count = noCounts();
  scoreMax = 0;
  firstMs = Number.POSITIVE_INFINITY;
  lastMs = 0;
  readonly groups = new Map<string, number>();
  readonly rules = new Map<string, number>();
  readonly agents = new Map<string, number>();
  readonly paths = new Bits();
  readonly sessions = new Bits();
  readonly userAgents = new Bits();
  readonly shapes = new Set<number>();
  readonly samples = new Set<string>();

  addWindow(window: ClientWindow): void {
    for (const name of clientCountNames) this.count[name] += window[name];
    this.scoreMax = Math.max(this.scoreMax, window.score_max);
    this.firstMs = Math.min(this.firstMs, window.first_ms);
    this.lastMs = Math.max(this.lastMs, window.last_ms);
    addAll(this.groups, Object.entries(window.groups), rulesMax * 4);
    addAll(this.rules, Object.entries(window.rules), rulesMax);
    addAll(this.agents, Object.entries(window.agents), rulesMax);
    this.paths.addText(window.paths);
    this.sessions.addText(window.sessions);
    this.userAgents.addText(window.user_agents);
    for (const shape of window.shapes) if (this.shapes.size < shapesMax) this.shapes.add(shape);
    for (const id of window.samples) if (this.samples.size < samplesMax) this.samples.add(id);
  }

  addSums(other: Sums): void {
    for (const name of clientCountNames) this.count[name] += other.count[name];
    this.scoreMax = Math.max(this.scoreMax, other.scoreMax);
    this.firstMs = Math.min(this.firstMs, other.firstMs);
    this.lastMs = Math.max(this.lastMs, other.lastMs);
    addAll(this.groups, other.groups, rulesMax * 4);
    addAll(this.rules, other.rules, rulesMax);
    addAll(this.agents, other.agents, rulesMax);
    this.paths.add(other.paths);
    this.sessions.add(other.sessions);
    this.userAgents.add(other.userAgents);
    for (const shape of other.shapes) if (this.shapes.size < shapesMax) this.shapes.add(shape);
    for (const id of other.samples) if (this.samples.size < samplesMax) this.samples.add(id);
  }
}

type Sites = Map<string, Sums>;

interface Slice {
  readonly at: number;
  /** What nobody who is known by a credential did. */
  readonly sites: Sites;
  /** By principal; null: there is none. */
  principals: Map<string, Sites> | null;
}

export interface Client {
  /** An IPv4 address, or the /64 of an IPv6 address, as the deny list has it. */
  readonly network: string;
  slices: Slice[];
  lastMs: number;
}

export class ClientTable {
  private readonly clients = new Map<string, Client>();
  /** Clients that made room for others since the start. */
  evicted = 0;

  constructor(private readonly clientsMax = clientsMaxDefault) {}

  get size(): number {
    return this.clients.size;
  }

  /** What is older than the window, or from the future by more than it, is left out. */
  add(window: ClientWindow, windowMs: number, nowMs: number): void {
    const atMs = Math.min(window.last_ms, nowMs);
    if (atMs <= nowMs - windowMs) return;
    const network = networkOf(window.address);
    if (network === null) return;
    const client = this.clients.get(network) ?? { network, slices: [], lastMs: 0 };
    // the order of the map is that of last use
    this.clients.delete(network);
    this.clients.set(network, client);
    client.lastMs = Math.max(client.lastMs, atMs);
    const at = Math.floor(atMs / sliceMs(windowMs));
    let slice = client.slices.find((one) => one.at === at);
    if (slice === undefined) client.slices.push((slice = { at, sites: new Map(), principals: null }));
    addTo(sitesFor(slice, window), window);
    if (this.clients.size <= this.clientsMax) return;
    const [oldest] = this.clients.keys();
    if (oldest !== undefined && this.clients.delete(oldest)) this.evicted += 1;
  }

  /** Clients with something in the window; others are forgotten. */
  *current(windowMs: number, nowMs: number): Generator<Client> {
    const from = Math.floor((nowMs - windowMs) / sliceMs(windowMs));
    for (const client of this.clients.values()) {
      client.slices = client.slices.filter(({ at }) => at > from).slice(-slicesMax - 1);
      if (client.slices.length === 0) this.clients.delete(client.network);
      else yield client;
    }
  }

  clear(): void {
    this.clients.clear();
  }
}

/** Where the requests of a window are counted within a slice. */
function sitesFor(slice: Slice, { principal }: ClientWindow): Sites {
  if (principal === undefined) return slice.sites;
  slice.principals ??= new Map();
  const key = principalKeyOf(principal);
  const known = slice.principals.get(key);
  if (known !== undefined) return known;
  if (slice.principals.size >= principalsOfSliceMax) return slice.sites;
  const made: Sites = new Map();
  slice.principals.set(key, made);
  return made;
}

function addTo(sites: Sites, window: ClientWindow): void {
  let sums = sites.get(window.site);
  if (sums === undefined) {
    if (sites.size >= sitesMax) return;
    sites.set(window.site, (sums = new Sums()));
  }
  sums.addWindow(window);
}

const nobody: ReadonlySet<string> = new Set();

/** By site, over all slices. `without`: principals whose requests are left out. */
export function sumsOf({ slices }: Client, without: ReadonlySet<string> = nobody): Map<string, Sums> {
  const [first] = slices;
  if (first !== undefined && slices.length === 1 && first.principals === null) return first.sites;
  const sites: Sites = new Map();
  for (const slice of slices) {
    addSites(sites, slice.sites);
    if (slice.principals !== null)
      for (const [key, own] of slice.principals) if (!without.has(key)) addSites(sites, own);
  }
  return sites;
}

function addSites(sites: Sites, more: Sites): void {
  for (const [site, sums] of more) {
    const total = sites.get(site) ?? new Sums();
    if (total.count.requests === 0) sites.set(site, total);
    total.addSums(sums);
  }
}

/** Keys of those who are known by a credential. */
export function principalsOf({ slices }: Client): ReadonlySet<string> {
  if (slices.every(({ principals }) => principals === null)) return nobody;
  return new Set(slices.flatMap(({ principals }) => (principals === null ? [] : [...principals.keys()])));
}

export const sliceMs = (windowMs: number): number => windowMs / slicesMax;

/** null: it is no address, as of a peer on a Unix socket. */
export function networkOf(address: string): string | null {
  const key = toSourceKey(address);
  if (key === 'unknown') return null;
  const denied = toDenied(key);
  return 'network' in denied ? denied.network : null;
}

function addAll(sums: Map<string, number>, more: Iterable<readonly [string, number]>, most: number): void {
  for (const [name, count] of more) {
    const before = sums.get(name);
    if (before !== undefined || sums.size < most) sums.set(name, (before ?? 0) + count);
  }
}
