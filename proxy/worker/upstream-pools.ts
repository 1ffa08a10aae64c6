// The connection pools of this worker, one for each upstream that its sites name.
import type { ProxyConfig } from '../contract/index.js';
import type { Site } from '../road/route.js';
import { UpstreamPool } from '../upstream/pool.js';
import type { Generation } from './generation.js';

export class UpstreamPools {
  private readonly pools = new Map<string, UpstreamPool>();

  of(site: Site, generation: Generation): UpstreamPool {
    const found = this.pools.get(site.origin);
    if (found !== undefined) return found;
    const { limits, timeouts } = generation.config;
    const pool = new UpstreamPool({
      host: site.upstreamHost,
      port: site.upstreamPort,
      tls: site.tls,
      serverName: site.upstreamHost,
      verifyCertificate: site.verifyCertificate,
      connectionsMax: limits.upstreamConnectionsMax,
      waitersMax: limits.upstreamWaitersMax,
      connectTimeoutMs: timeouts.upstreamConnectMs,
      headTimeoutMs: timeouts.upstreamHeadMs,
      bodyIdleTimeoutMs: timeouts.upstreamBodyIdleMs,
      keepAliveMs: timeouts.upstreamKeepAliveMs,
    });
    this.pools.set(site.origin, pool);
    return pool;
  }

  /** Pools whose limits or timeouts changed, or whose upstream is gone, end when their last request has. */
  closeUnused(previous: Generation, next: Generation): void {
    const tuning = ({ limits, timeouts }: ProxyConfig): string => JSON.stringify([limits, timeouts]);
    const isSameTuning = tuning(previous.config) === tuning(next.config);
    const wanted = new Set(next.router.sites.map((site) => site.origin));
    for (const [origin, pool] of this.pools) {
      if (isSameTuning && wanted.has(origin)) continue;
      this.pools.delete(origin);
      pool.close();
    }
  }

  close(): void {
    for (const pool of this.pools.values()) pool.close();
  }
}
