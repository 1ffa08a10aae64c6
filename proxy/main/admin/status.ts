// What the data plane says of itself: `GET /status` for programs, `GET /metrics` for scrapers.
import type { ListenerKind } from '../../listeners/listener.js';
import { renderPrometheus } from '../../metrics/exposition.js';
import type { AuditLog } from '../../records/audit-log.js';
import type { RecordShipper } from '../../records/ship-records.js';
import type { Generations } from '../generations.js';
import type { Supervisor } from '../supervisor.js';
import type { Crashes } from '../crashes.js';
import { countDown } from './upstream-status.js';
import type { ThreatList } from '../threat-list.js';

export interface Parts {
  readonly supervisor: Supervisor;
  readonly generations: Generations;
  readonly listener: ListenerKind;
  readonly audit: AuditLog;
  readonly threats: ThreatList;
  readonly shipper: RecordShipper | null;
  readonly crashes: Crashes;
}

export async function describe({
  supervisor,
  generations,
  listener,
  audit,
  threats,
  shipper,
  crashes,
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
    lastApply: generations.lastOutcome,
    closed: generations.closed,
    restarts: supervisor.restarts,
    crashes: { count: crashes.count, last: crashes.last },
    audit: { written: audit.written, dropped: audit.dropped },
    threats: { sha256: threats.sha256, networks: threats.networks, intervals: threats.intervals },
    shipping: shipper === null ? null : { ...shipper.counters, waiting: shipper.waitingRows },
    workers,
  };
}

export async function scrape({ supervisor, generations, audit, threats, shipper }: Parts): Promise<string> {
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
    threatNetworks: threats.networks,
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
