// One thread: a listener, the current generation, a mailbox. Nothing else.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parentPort, workerData } from 'node:worker_threads';
import { openGates } from '../admit/index.js';
import { defaultReplaySampling } from '../contract.js';
import { EventRing } from '../records/events.js';
import type { Generation } from './generation.js';
import { handleRequest } from '../road/proxied-request.js';
import { refuseUnreadable } from '../road/unreadable.js';
import type { InspectionModule } from '../inspection/inspection.js';
import { createInspectionPool } from '../inspection/inspection-pool.js';
import { listen, type Listener } from '../listeners/index.js';
import {
  unreachable,
  type GenerationPayload,
  type LogLevel,
  type ToMain,
  type ToWorker,
  type WorkerStart,
} from './messages.js';
import { InspectionTotals } from '../metrics/inspection-totals.js';
import { Metrics } from '../metrics/metrics.js';
import { GenerationRefused, prepareGeneration } from './prepare.js';
import { createRequestIds } from '../road/request-id.js';
import { RequestRing } from '../records/request-records.js';
import type { RoadContext } from '../road/context.js';
import type { BodyWatch } from '../road/request-body.js';
import { ActiveList } from './active-list.js';
import type { Site } from '../road/route.js';
import { AddressSetHolder } from '../shared-state/address-set-holder.js';
import { UpstreamPool } from '../upstream/pool.js';

const eventsCapacity = 4096; // between two flushes; beyond, dropped and counted
const requestsCapacity = 1024; // between two flushes: 10,000 lines a second and worker; beyond, sampled and counted
const flushEveryMs = 100;
const sweepEveryMs = 500;

const port = parentPort;
if (port === null) throw new Error('worker.js runs as a worker thread, started by main.js');
const start = workerData as WorkerStart;
const post = (message: ToMain): void => port.postMessage(message);

/**
 * An upstream that is down would otherwise write one line per request: beyond the quota lines are counted, not written.
 */
const logQuota = { perSecond: 20, second: 0, used: 0, suppressed: 0 };
function log(level: LogLevel, fields: Readonly<Record<string, unknown>>, message: string): void {
  const second = Math.floor(Date.now() / 1000);
  if (second !== logQuota.second) {
    if (logQuota.suppressed > 0)
      post({
        kind: 'log',
        level: 'warn',
        fields: { worker: start.workerId, suppressed: logQuota.suppressed },
        message: 'more lines than the log takes in a second were left out',
      });
    Object.assign(logQuota, { second, used: 0, suppressed: 0 });
  }
  logQuota.used += 1;
  if (logQuota.used > logQuota.perSecond) logQuota.suppressed += 1;
  else post({ kind: 'log', level, fields: { worker: start.workerId, ...fields }, message });
}

const module = (await import(start.inspectionModule)) as InspectionModule;
const metrics = new Metrics();
const inspections = new InspectionTotals(start.workerId);
const events = new EventRing(eventsCapacity, (batch) => post({ kind: 'events', batch }));
const requests = start.shipsRequests
  ? new RequestRing(
      requestsCapacity,
      (lines, dropped, samples) => post({ kind: 'requests', lines, dropped, samples }),
      () => current.config.replaySampling ?? defaultReplaySampling,
    )
  : null;
const threats = new AddressSetHolder();
if (start.threats !== null) threats.swap(start.threats.version, start.threats.table);
const readingBody = new ActiveList<BodyWatch>();
const pools = new Map<string, UpstreamPool>();
const retiring = new Set<Generation>();
const loopDelay = monitorEventLoopDelay({ resolution: 20 });
loopDelay.enable();

let current: Generation;
let prepared: Generation | null = null;
let listener: Listener | null = null;
let isStopping = false;

function poolFor(site: Site, generation: Generation): UpstreamPool {
  const found = pools.get(site.origin);
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
  pools.set(site.origin, pool);
  return pool;
}

const foreignInspector =
  start.inspectionThreads > 0 ? createInspectionPool(start.inspectionThreads, start.inspectionModule) : null;

const prepareGates = openGates({
  clock: { wallMs: () => Date.now(), monotonicMs: () => performance.now() },
  tables: { denyList: threats },
});

const context: RoadContext = {
  current: () => current,
  now: () => Date.now(),
  makeRequestId: createRequestIds(),
  poolFor,
  store: module.createStore(),
  metrics,
  record: (event) => events.record(event),
  requests,
  readingBody,
  bodies: { heldBytes: 0 },
  foreignInspector,
  log,
};

/** Commit: one assignment between two requests. What the old generation still carries, it finishes. */
function swapGeneration(next: Generation): void {
  const previous = current;
  current = next;
  prepared = null;
  closeUnusedPools(previous, next);
  retireGeneration(previous);
}

function retireGeneration(generation: Generation): void {
  const release = (): void => {
    retiring.delete(generation);
    inspections.retire(generation.inspection);
    generation.inspection?.release();
  };
  if (generation.inFlight === 0) {
    release();
    return;
  }
  retiring.add(generation);
  generation.onIdle = release;
}

/** Pools whose limits or timeouts changed, or whose upstream is gone, end when their last request has. */
function closeUnusedPools(previous: Generation, next: Generation): void {
  const isSameTuning =
    JSON.stringify([previous.config.limits, previous.config.timeouts]) ===
    JSON.stringify([next.config.limits, next.config.timeouts]);
  const wanted = new Set(next.router.sites.map((site) => site.origin));
  for (const [origin, pool] of pools) {
    if (isSameTuning && wanted.has(origin)) continue;
    pools.delete(origin);
    pool.close();
  }
}

function prepare(payload: GenerationPayload): void {
  try {
    prepared?.inspection?.release();
    prepared = null;
    prepared = prepareGeneration(payload, module, prepareGates);
    post({ kind: 'prepared', id: payload.id });
  } catch (error) {
    if (!(error instanceof GenerationRefused)) throw error;
    post({ kind: 'refused', id: payload.id, reason: error.message });
  }
}

const flusher = setInterval(() => {
  events.flush();
  requests?.flush();
}, flushEveryMs);
const sweeper = setInterval(() => {
  const nowMs = performance.now();
  const { clientBodyIdleMs } = current.config.timeouts;
  for (const watch of readingBody.all()) if (nowMs - watch.bodyAtMs > clientBodyIdleMs) watch.bodyTimedOut();
}, sweepEveryMs);

/**
 * Ends everything that keeps this thread alive. `bug`: why main has to start another, which may need this one's port.
 */
async function stop(drainMs: number, bug: string | null = null): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  await listener?.stop(drainMs, () => {
    if (bug !== null) post({ kind: 'dying', reason: bug });
  });
  for (const pool of pools.values()) pool.close();
  await foreignInspector?.close();
  clearInterval(flusher);
  clearInterval(sweeper);
  loopDelay.disable();
  events.flush();
  requests?.flush();
  post({ kind: 'drained' });
  port?.close();
}

function report(token: number): void {
  post({
    kind: 'report',
    token,
    report: {
      workerId: start.workerId,
      generation: current.id,
      inFlight: current.inFlight,
      retiring: retiring.size,
      eventsDropped: events.dropped,
      loopLagMsP99: loopDelay.percentile(99) / 1e6,
      metrics: metrics.snapshot(inspections.counters([current, ...retiring].map(({ inspection }) => inspection))),
    },
  });
}

port.on('message', (message: ToWorker) => {
  switch (message.kind) {
    case 'prepare':
      prepare(message.generation);
      return;
    case 'commit':
      if (prepared === null || prepared.id !== message.id)
        throw new Error(`commit of generation ${message.id}, which this worker has not prepared`);
      swapGeneration(prepared);
      post({ kind: 'committed', id: message.id });
      return;
    case 'discard':
      if (prepared?.id === message.id) {
        prepared.inspection?.release();
        prepared = null;
      }
      return;
    case 'report':
      report(message.token);
      return;
    case 'threats':
      threats.swap(message.list.version, message.list.table);
      return;
    case 'stop':
      void stop(message.drainMs);
      return;
    default:
      unreachable(message);
  }
});

/**
 * A bug ends this worker like a stop: others' requests are finished, what still comes on kept connections is answered,
 * and main starts a replacement at once. Not by ending the thread: one that ends with open uWebSockets.js sockets takes
 * the whole process with it (the library's handles outlive the thread's loop), and every request under way would pay
 * for one.
 */
process.on('uncaughtException', (error) => {
  const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
  if (listener === null) {
    post({ kind: 'failed', reason });
    port.close();
    return;
  }
  if (isStopping) {
    log('error', { err: reason }, 'a bug in a worker that is stopping');
    return;
  }
  void stop(current.config.timeouts.drainMs, reason);
});

try {
  current = prepareGeneration(start.generation, module, prepareGates);
  listener = await listen(start.listener, {
    host: start.host,
    port: start.port,
    sharedPort: start.sharedPort,
    limits: () => current.config.limits,
    timeouts: start.generation.config.timeouts,
    handler: {
      onRequest: (exchange) => handleRequest(context, exchange),
      onUnreadable: (status) => refuseUnreadable(context, status),
    },
  });
  post({ kind: 'ready', port: listener.port });
} catch (error) {
  post({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
  void stop(0);
}
