// What the data plane says of itself: `GET /status` for programs, `GET /metrics` for scrapers.
import { availableParallelism, loadavg } from 'node:os';
import type { ListenerKind } from '../../listeners/listener.js';
import { renderPrometheus } from '../../metrics/exposition.js';
import { readCounterKey } from '../../metrics/metrics.js';
import type { AuditLog } from '../../records/audit-log.js';
import type { RecordShipper } from '../../records/ship-records.js';
import type { CrawlerCount } from '../../admit/bots/crawler-check.js';
import { gates as gateTable } from '../../admit/index.js';
import type { AttackWatch } from '../gates/attack-watch.js';
import type { GateState } from '../gates/gate-state.js';
import type { MeasureList } from '../gates/measure-list.js';
import type { SharedRates } from '../gates/shared-rates.js';
import type { Generations } from '../generations.js';
import type { Supervisor } from '../supervisor.js';
import type { Crashes } from '../crashes.js';
import { countDown } from './upstream-status.js';
import type { CertificateStore } from '../../tls-edge/certificates/certificate-store.js';
import type { HttpsState } from '../https/https-state.js';

/** Of the clients that were limited most. */
const heavyMax = 100;

export interface Parts {
  readonly supervisor: Supervisor;
  readonly generations: Generations;
  readonly listener: ListenerKind;
  readonly audit: AuditLog;
  readonly measures: MeasureList;
  readonly shipper: RecordShipper | null;
  readonly gates: GateState;
  readonly attack: AttackWatch;
  readonly sharing: SharedRates;
  readonly crashes: Crashes;
  /** Of the TLS edge; null: there is none. */
  readonly certificates: CertificateStore | null;
  readonly https: HttpsState;
  /** Of the program; null: who started it did not say. */
  readonly release: string | null;
}

export async function describe({
  supervisor,
  generations,
  listener,
  audit,
  measures,
  shipper,
  crashes,
  certificates,
  attack,
  release,
}: Parts): Promise<Record<string, unknown>> {
  const { workers, upstreams } = await supervisor.report();
  const { id, sha256, config } = generations.active;
  return {
    generation: id,
    ruleset: sha256,
    mode: config.mode,
    sites: config.sites.map(({ name, prefix, host, upstream, protected: isProtected }) => ({
      name,
      prefix,
      host,
      upstream,
      protected: isProtected,
      upstreams: upstreams.get(name) ?? [],
    })),
    sitesFrom: config.sitesFromEnvironment === true ? 'environment' : 'settings',
    listener,
    // where clients are answered in plain HTTP
    port: supervisor.port,
    tls: certificates === null ? null : { certificates: certificates.view },
    lastApply: generations.lastOutcome,
    closed: generations.closed,
    restarts: supervisor.restarts,
    crashes: { count: crashes.count, last: crashes.last },
    audit: { written: audit.written, dropped: audit.dropped },
    measures: measures.describe(),
    // for control planes of a release before client measures
    threats: { sha256: measures.sha256, networks: measures.networks, intervals: measures.intervals },
    shipping: shipper === null ? null : { ...shipper.counters, waiting: shipper.waitingRows },
    workers,
    // what PUT /generation understands beside what every release does
    takesGzip: true,
    release,
    // requests of the last minute; processes that want a core, as a share of the cores there are
    load: { rpm: attack.rpm, cpu: Math.round(((loadavg()[0] ?? 0) / availableParallelism()) * 100) / 100 },
  };
}

/** The same crawler and verdict of all workers as one row, the most frequent first. */
function addUp(counts: readonly CrawlerCount[]): CrawlerCount[] {
  const rows = new Map<string, CrawlerCount>();
  for (const { crawler, verdict, requests } of counts) {
    const key = `${crawler} ${verdict}`;
    rows.set(key, { crawler, verdict, requests: (rows.get(key)?.requests ?? 0) + requests });
  }
  return [...rows.values()].sort((left, right) => right.requests - left.requests);
}

/** `GET /gates`: the table of gates in its order, what limits have counted, and the clients that were limited most. */
export async function describeGates({ supervisor, gates, attack, sharing }: Parts): Promise<Record<string, unknown>> {
  const { heavy, crawlers, metrics } = await supervisor.report();
  const limited = new Map<string, { zone: string; network: string; limited: number }>();
  for (const { zone, network, limited: count } of heavy) {
    const key = `${zone} ${network}`;
    const known = limited.get(key);
    limited.set(key, { zone, network, limited: (known?.limited ?? 0) + count });
  }
  const decisions = Object.entries(metrics.counters).flatMap(([key, count]) => {
    const { name, values } = readCounterKey(key);
    const [gate, decision, outcome] = values;
    return name === 'gateDecisions' ? [{ gate, decision, outcome, count }] : [];
  });
  const zones = Object.entries(metrics.counters).flatMap(([key, count]) => {
    const { name, values } = readCounterKey(key);
    const [site, zone, outcome] = values;
    return name === 'rateLimited' ? [{ site, zone, outcome, count }] : [];
  });
  return {
    gates: gateTable.map(({ name, appliesTo, bound }) => ({ name, appliesTo, bound })),
    decisions,
    zones,
    heavy: [...limited.values()].sort((left, right) => right.limited - left.limited).slice(0, heavyMax),
    rateKeys: { ...gates.countRateKeys(), evicted: gates.rateKeysEvicted },
    bans: gates.bans.length,
    siteKeys: gates.keysState,
    crawlers: addUp(crawlers),
    attack: attack.describe(),
    sharing: sharing.describe(),
  };
}

export async function scrape({ supervisor, generations, audit, measures, shipper, ...parts }: Parts): Promise<string> {
  const { gates, attack, sharing } = parts;
  const { metrics, workers, upstreams } = await supervisor.report();
  const lag = Math.max(0, ...workers.map((worker) => Number(worker['loopLagMsP99'] ?? 0)));
  const dropped = workers.reduce((sum, worker) => sum + Number(worker['eventsDropped'] ?? 0), 0);
  return renderPrometheus(metrics, {
    configVersion: generations.active.id,
    configLastApplySuccess: generations.lastOutcome === 'refused' ? 0 : 1,
    workersReady: supervisor.readyCount,
    workerRestarts: supervisor.restarts,
    eventLoopLagSeconds: lag / 1000,
    upstreamsDown: countDown(upstreams),
    eventsDropped: dropped,
    auditWritten: audit.written,
    auditDropped: audit.dropped,
    threatNetworks: measures.networks,
    rateKeysEvicted: gates.rateKeysEvicted,
    rateSharingDegraded: sharing.isDegraded ? 1 : 0,
    rateSharingLost: gates.tables.sharing.lost,
    bansActive: gates.bans.length,
    attackModeActive: attack.isActive ? 1 : 0,
    requestsPerMinute: attack.rpm,
    baselineRequestsPerMinute: attack.baselineRpm,
    ...(shipper === null
      ? {}
      : {
          recordsShipped: shipper.counters.shipped,
          recordsDropped: shipper.counters.dropped,
          recordsRefused: shipper.counters.refused,
          recordsSampledOut: shipper.counters.sampledOut,
          recordsRetries: shipper.counters.retries,
          recordsWaiting: shipper.waitingRows,
        }),
  });
}
