// Clients that open another HTTP/2 connection after one was ended for an excess. An excess ends its own connection and
// nothing else: many users may share the address (NAT), and they must stay connected and able to connect. So an address
// is never cut. Instead, in two steps:
// 1. From the second excess on, new connections of the address have smaller allowances (`shareOf`), so that another
//    flood costs less. They stay larger than what a browser needs.
// 2. Only after many ended connections (`excessesFree`, which refill over a minute) is the rate of new connections
//    limited, for as long as excesses go on and `limitedMs` after. A rate leaves room for others; a ban does not.
// What one address can cost is then bounded by step 2: `connections.perSecond` handshakes, each with the allowances of
// step 1. Each worker counts for itself.
import { networkOf } from '../../shared-state/client-key.js';
import { Bucket } from './excess.js';

/** Connections of an address that may end for an excess before the rate of new ones is limited. */
export const excessesFree = { burst: 16, perSecond: 16 / 60 } as const;
/** New connections of an address whose rate is limited. */
export const connectionsLimited = { burst: 20, perSecond: 5 } as const;
/** After the last excess beyond `excessesFree`. */
const limitedMs = 30_000;
/** After so long without another one nothing is remembered. */
const rememberedMs = 60_000;
/** Clients that are remembered; beyond it the one is forgotten whose last excess is the longest ago. */
export const penaltyClientsMax = 4096;

interface Record {
  excesses: number;
  lastMs: number;
  limitedUntilMs: number;
  readonly free: Bucket;
  readonly connections: Bucket;
}

export class Penalties {
  /** By client (an IPv4 address, a /64 of IPv6), the latest excess last. */
  private readonly clients = new Map<string, Record>();

  get size(): number {
    return this.clients.size;
  }

  /** A connection of `address` was ended for an excess. `nowMs` by a monotonic clock, here and below. */
  add(address: string, nowMs: number): void {
    const client = networkOf(address);
    const known = this.recordOf(client, nowMs) ?? {
      ...{ excesses: 0, lastMs: nowMs, limitedUntilMs: 0 },
      free: new Bucket(excessesFree, nowMs),
      connections: new Bucket(connectionsLimited, nowMs),
    };
    known.excesses += 1;
    known.lastMs = nowMs;
    if (!known.free.take(nowMs)) known.limitedUntilMs = nowMs + limitedMs;
    this.clients.delete(client);
    this.clients.set(client, known);
    if (this.clients.size <= penaltyClientsMax) return;
    const [oldest] = this.clients.keys();
    this.clients.delete(oldest as string);
  }

  /** Whether a new connection of `address` is refused before its handshake. Free where nobody was in excess. */
  isRefused(address: string, nowMs: number): boolean {
    if (this.clients.size === 0) return false;
    const known = this.recordOf(networkOf(address), nowMs);
    return known !== null && nowMs < known.limitedUntilMs && !known.connections.take(nowMs);
  }

  /** The share of its allowances that a new connection of `address` begins with: 1, a half, or a quarter. */
  shareOf(address: string, nowMs: number): number {
    if (this.clients.size === 0) return 1;
    const excesses = this.recordOf(networkOf(address), nowMs)?.excesses ?? 0;
    return excesses <= 1 ? 1 : excesses <= 4 ? 1 / 2 : 1 / 4;
  }

  private recordOf(client: string, nowMs: number): Record | null {
    const known = this.clients.get(client);
    return known === undefined || nowMs - known.lastMs > rememberedMs ? null : known;
  }
}
