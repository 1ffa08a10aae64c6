// Addresses whose connections of HTTP/2 were ended for an excess come back: another handshake, another allowance of
// requests to take back, as fast as the line carries them. So the next connections of such an address are cut before a
// handshake, for twice as long each time. One excess is free: a program with a bug must not take its neighbours behind
// the same address along. Each worker counts for itself.
import { networkOf } from '../../shared-state/client-key.js';

const freeExcesses = 1;
const firstMs = 1000;
const longestMs = 30_000;
/** After so long without another one nothing is remembered. */
const rememberedMs = 60_000;
/** Clients that are remembered; beyond it the one is forgotten whose last excess is the longest ago. */
export const penaltyClientsMax = 4096;

interface Record {
  excesses: number;
  lastMs: number;
  refusedUntilMs: number;
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
    const known = this.clients.get(client);
    const excesses = known === undefined || nowMs - known.lastMs > rememberedMs ? 1 : known.excesses + 1;
    const ms = excesses <= freeExcesses ? 0 : Math.min(longestMs, firstMs * 2 ** (excesses - freeExcesses - 1));
    this.clients.delete(client);
    this.clients.set(client, { excesses, lastMs: nowMs, refusedUntilMs: nowMs + ms });
    if (this.clients.size <= penaltyClientsMax) return;
    const [oldest] = this.clients.keys();
    this.clients.delete(oldest as string);
  }

  /** Whether a new connection of `address` is cut. Costs nothing where nobody was in excess. */
  isRefused(address: string, nowMs: number): boolean {
    if (this.clients.size === 0) return false;
    const known = this.clients.get(networkOf(address));
    return known !== undefined && nowMs < known.refusedUntilMs;
  }
}
