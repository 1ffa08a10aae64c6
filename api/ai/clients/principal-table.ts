// What principals did within the window at all addresses together, and at which. Bounded: `principalsMax` of eleven
// slices each, those that were seen longest ago go first; the first `networksMax` addresses of a slice are told apart.
import { principalKeyOf, type ClientWindow, type PrincipalName } from '#proxy/contract';
import { networkOf, sliceMs, Sums } from './client-table.js';

const principalsMaxDefault = 20_000;
const slicesMax = 11;
const sitesMax = 8;
const networksMax = 64;

interface Slice {
  readonly at: number;
  readonly sites: Map<string, Sums>;
  readonly networks: Map<string, { requests: number; isClean: boolean }>;
}

export interface KnownPrincipal {
  readonly key: string;
  readonly name: PrincipalName;
  slices: Slice[];
}

/** Where a principal was. */
export interface Whereabouts {
  /** Addresses, by requests, most first. */
  readonly networks: readonly string[];
  /** How many of them sent requests of this principal that nothing was ever said against. */
  readonly clean: number;
}

export class PrincipalTable {
  private readonly principals = new Map<string, KnownPrincipal>();
  /** Principals that made room for others since the start. */
  evicted = 0;

  constructor(private readonly principalsMax = principalsMaxDefault) {}

  get size(): number {
    return this.principals.size;
  }

  /** Of a window without a principal nothing is taken; what is older than the window is left out. */
  add(window: ClientWindow, windowMs: number, nowMs: number): void {
    const { principal: name } = window;
    const atMs = Math.min(window.last_ms, nowMs);
    const network = networkOf(window.address);
    if (name === undefined || network === null || atMs <= nowMs - windowMs) return;
    const key = principalKeyOf(name);
    const one = this.principals.get(key) ?? { key, name, slices: [] };
    // the order of the map is that of last use
    this.principals.delete(key);
    this.principals.set(key, one);
    addToSlice(one, Math.floor(atMs / sliceMs(windowMs)), network, window);
    if (this.principals.size <= this.principalsMax) return;
    const [oldest] = this.principals.keys();
    if (oldest !== undefined && this.principals.delete(oldest)) this.evicted += 1;
  }

  /** Principals with something in the window; others are forgotten. */
  *current(windowMs: number, nowMs: number): Generator<KnownPrincipal> {
    const from = Math.floor((nowMs - windowMs) / sliceMs(windowMs));
    for (const one of this.principals.values()) {
      one.slices = one.slices.filter(({ at }) => at > from).slice(-slicesMax);
      if (one.slices.length === 0) this.principals.delete(one.key);
      else yield one;
    }
  }

  clear(): void {
    this.principals.clear();
  }
}

function addToSlice(one: KnownPrincipal, at: number, network: string, window: ClientWindow): void {
  let slice = one.slices.find((known) => known.at === at);
  if (slice === undefined) one.slices.push((slice = { at, sites: new Map(), networks: new Map() }));
  let sums = slice.sites.get(window.site);
  if (sums === undefined && slice.sites.size < sitesMax) slice.sites.set(window.site, (sums = new Sums()));
  sums?.addWindow(window);
  const isClean = window.score_sum + window.blocked + window.flagged + window.denied + window.held === 0;
  const known = slice.networks.get(network);
  if (known !== undefined) {
    known.requests += window.requests;
    known.isClean &&= isClean;
  } else if (slice.networks.size < networksMax) slice.networks.set(network, { requests: window.requests, isClean });
}

/** By site, over all slices. */
export function sumsOfPrincipal({ slices }: KnownPrincipal): Map<string, Sums> {
  const sites = new Map<string, Sums>();
  for (const slice of slices)
    for (const [site, sums] of slice.sites) {
      const total = sites.get(site) ?? new Sums();
      sites.set(site, total);
      total.addSums(sums);
    }
  return sites;
}

export function whereaboutsOf({ slices }: KnownPrincipal): Whereabouts {
  const all = new Map<string, { requests: number; isClean: boolean }>();
  for (const slice of slices)
    for (const [network, { requests, isClean }] of slice.networks) {
      const known = all.get(network);
      all.set(network, {
        requests: (known?.requests ?? 0) + requests,
        isClean: (known?.isClean ?? true) && isClean,
      });
    }
  const byRequests = [...all].sort(([a, one], [b, other]) => other.requests - one.requests || (a < b ? -1 : 1));
  return {
    networks: byRequests.map(([network]) => network),
    clean: byRequests.filter(([, { isClean }]) => isClean).length,
  };
}
