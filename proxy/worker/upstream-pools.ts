// The connection pools of this worker, one for each upstream that its sites name, and for a site with several of them,
// or with a check, the group that chooses.
import type { ProxyConfig } from '../contract/index.js';
import type { Metrics } from '../metrics/metrics.js';
import type { Site, SiteUpstream } from '../road/route.js';
import type { UpstreamExchange, UpstreamHandler, UpstreamOptions, UpstreamRequest } from '../upstream/exchange.js';
import { UpstreamPool } from '../upstream/pool.js';
import { UpstreamGroup, type Target } from '../upstream/several/group.js';
import { Health } from '../upstream/several/health.js';
import { Probe } from '../upstream/several/probe.js';
import type { Generation } from './generation.js';
import type { LogLevel, SiteUpstreams } from './messages.js';

/** Where a request of a site goes. */
export interface Dispatcher {
  dispatch(request: UpstreamRequest, handler: UpstreamHandler): UpstreamExchange;
}

interface Watched {
  /** Sites that are alike share what is known; another configuration begins anew. */
  readonly key: string;
  readonly group: UpstreamGroup;
  readonly probes: readonly Probe[];
}

export interface PoolsParts {
  readonly metrics: Metrics;
  log(level: LogLevel, fields: Readonly<Record<string, unknown>>, message: string): void;
}

function optionsOf({ host, port, tls, verifyCertificate }: SiteUpstream, config: ProxyConfig): UpstreamOptions {
  const { limits, timeouts } = config;
  return {
    host,
    port,
    tls,
    serverName: host,
    verifyCertificate,
    connectionsMax: limits.upstreamConnectionsMax,
    waitersMax: limits.upstreamWaitersMax,
    connectTimeoutMs: timeouts.upstreamConnectMs,
    headTimeoutMs: timeouts.upstreamHeadMs,
    bodyIdleTimeoutMs: timeouts.upstreamBodyIdleMs,
    keepAliveMs: timeouts.upstreamKeepAliveMs,
    maxAgeMs: timeouts.upstreamMaxAgeMs,
    resolveMs: timeouts.upstreamResolveMs,
  };
}

const needsGroup = ({ upstreams, healthCheck }: Site): boolean => upstreams.length > 1 || healthCheck.path !== '';

const tuningOf = ({ limits, timeouts }: ProxyConfig): string => JSON.stringify([limits, timeouts]);

export class UpstreamPools {
  private readonly pools = new Map<string, UpstreamPool>();
  /** By the name of the site. */
  private readonly watched = new Map<string, Watched>();

  constructor(private readonly parts: PoolsParts) {}

  of(site: Site, { config }: Generation): Dispatcher {
    return this.watched.get(site.name)?.group ?? this.poolOf(site.upstreams[0], config);
  }

  private poolOf(upstream: SiteUpstream, config: ProxyConfig): UpstreamPool {
    let pool = this.pools.get(upstream.origin);
    if (pool === undefined) {
      pool = new UpstreamPool(optionsOf(upstream, config));
      this.pools.set(upstream.origin, pool);
    }
    return pool;
  }

  /** Begins to watch the upstreams of a generation that serves from now on. What stays the same stays known. */
  watch({ router: { sites }, config }: Generation): void {
    const tuning = tuningOf(config);
    const wanted = new Map(
      sites.filter(needsGroup).map((site) => {
        const { name, upstreams, healthCheck, preservesHost } = site;
        return [name, { site, key: JSON.stringify([upstreams, healthCheck, preservesHost, tuning]) }] as const;
      }),
    );
    for (const [name, { key, probes }] of this.watched) {
      if (wanted.get(name)?.key === key) continue;
      for (const probe of probes) probe.stop();
      this.watched.delete(name);
    }
    for (const [name, { site, key }] of wanted)
      if (!this.watched.has(name)) this.watched.set(name, this.watchSite(site, key, config));
  }

  private watchSite(
    { name: site, upstreams, healthCheck, preservesHost }: Site,
    key: string,
    config: ProxyConfig,
  ): Watched {
    const { metrics, log } = this.parts;
    const targets = upstreams.map((upstream): Target => {
      const { url, authority, weight } = upstream;
      return { url, authority, weight, pool: this.poolOf(upstream, config), health: new Health(healthCheck) };
    });
    const group = new UpstreamGroup({
      targets: targets as [Target, ...Target[]],
      preservesHost,
      onEjected: ({ url, health }) => {
        metrics.count('upstreamEjections', { site });
        log('warn', { site, upstream: url, why: health.detail }, 'an upstream is left out for a while');
      },
      onFailover: () => metrics.count('upstreamFailovers', { site }),
    });
    const checked = healthCheck.path === '' ? [] : upstreams;
    const probes = checked.map((upstream, index) => {
      const { url, authority } = upstream;
      const { health } = targets[index] as Target;
      return new Probe(optionsOf(upstream, config), authority, healthCheck, (problem) => {
        const before = health.state(performance.now());
        health.checkEnded(problem);
        const after = health.state(performance.now());
        metrics.count('upstreamChecks', { site, outcome: problem === '' ? 'good' : 'bad' });
        if ((before === 'down') === (after === 'down')) return;
        log('warn', { site, upstream: url, why: problem }, after === 'down' ? 'an upstream is down' : 'it is up again');
      });
    });
    return { key, group, probes };
  }

  /** Of sites whose upstreams are chosen among or checked. */
  view(): SiteUpstreams[] {
    return [...this.watched].map(([site, { group }]) => ({ site, upstreams: group.view() }));
  }

  /** Pools whose limits or timeouts changed, or whose upstream is gone, end when their last request has. */
  swap(previous: Generation, next: Generation): void {
    const isSameTuning = tuningOf(previous.config) === tuningOf(next.config);
    const wanted = new Set(next.router.sites.flatMap(({ upstreams }) => upstreams.map(({ origin }) => origin)));
    for (const [origin, pool] of this.pools) {
      if (isSameTuning && wanted.has(origin)) continue;
      this.pools.delete(origin);
      pool.close();
    }
    this.watch(next);
  }

  close(): void {
    for (const { probes } of this.watched.values()) for (const probe of probes) probe.stop();
    this.watched.clear();
    for (const pool of this.pools.values()) pool.close();
  }
}
