// One thread: a listener, the current generation, a mailbox. Nothing else.
import { randomInt } from 'node:crypto';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parentPort, workerData } from 'node:worker_threads';
import { finishSteps } from '#engine';
import { messageOf } from '../contract/errors.js';
import { isKeptOut } from '../admit/bans/kept-out.js';
import { systemNames } from '../admit/bots/crawler-check.js';
import { openGates } from '../admit/index.js';
import { shareLimits } from '../admit/limits/leases/share-limits.js';
import { readKeySet, type KeySet } from '../admit/site-auth/key-set.js';
import { createGateWorker, EventBudget } from '../admit/worker.js';
import { ClientFeatures } from '../features/clients.js';
import { Principals } from '../features/principals.js';
import type { InspectionModule } from '../inspection/inspection.js';
import { createInspectionPool } from '../inspection/inspection-pool.js';
import { shareOf } from '../listeners/index.js';
import type { ConnectionShare } from '../listeners/listener.js';
import { Metrics } from '../metrics/metrics.js';
import { TrafficObserver } from '../observation/observer.js';
import { EventRing } from '../records/event-ring.js';
import { RequestRing } from '../records/request-records.js';
import type { RoadContext } from '../road/context.js';
import { HttpsAnswers } from '../road/https/https-answers.js';
import { LoopGuard } from '../road/limits/loop-guard.js';
import { SimulatedClients } from '../simulation/mark.js';
import { ClientShares } from '../road/limits/client-shares.js';
import { StreamPlaces } from '../road/limits/stream-places.js';
import type { Relay } from '../road/limits/relay.js';
import type { BodyWatch } from '../road/request-body.js';
import { createRequestIds } from '../road/request-id.js';
import { AddressSetHolder } from '../shared-state/address-set-holder.js';
import { openGateMemory } from '../shared-state/gate-memory.js';
import { createSharedClock } from '../shared-state/shared-clock.js';
import { ClientMeasures } from '../shared-state/measure-tables.js';
import { besideRequests } from '../time/beside-requests.js';
import { watchEvery } from '../time/late-timers.js';
import type { CertificateSet } from '../tls-edge/certificates/certificate-set.js';
import { ActiveList } from './active-list.js';
import { createConnectionCap } from './connection-cap.js';
import { openFlights } from './flight-table.js';
import { HeapWatch } from './heap-watch.js';
import { beat } from '../time/pulse.js';
import { beginListening, type Listening } from './listening.js';
import { LogQuota } from './log-quota.js';
import {
  dispatch,
  type GenerationPayload,
  type Handlers,
  type ToMain,
  type ToWorker,
  type WorkerOrders,
  type WorkerSockets,
  type WorkerStart,
} from './messages.js';
import { GenerationRefused, preparingGeneration } from './prepare.js';
import { Serving } from './serving.js';
import { UpstreamPools } from './upstream-pools.js';

const eventsCapacity = 4096; // between two flushes; beyond, dropped and counted
const requestsCapacity = 1024; // between two flushes: 10,000 lines a second and worker; beyond, sampled and counted
const flushEveryMs = 100;
const sweepEveryMs = 500;

const port = parentPort;
if (port === null) throw new Error('worker.js runs as a worker thread, started by the supervisor');
const start = workerData as WorkerStart;
const post = (message: ToMain): void => port.postMessage(message);
const { write: log } = new LogQuota((level, fields, message) =>
  post({ kind: 'log', level, fields: { worker: start.workerId, ...fields }, message }),
);

const module = (await import(start.inspectionModule)) as InspectionModule;
const metrics = new Metrics();
const events = new EventRing(eventsCapacity, (batch) => post({ kind: 'events', batch }));
const requests = start.shipsRequests
  ? new RequestRing(
      requestsCapacity,
      (lines, dropped, samples) => post({ kind: 'requests', lines, dropped, samples }),
      () => serving.current.config.replaySampling,
    )
  : null;
const observer = start.shipsRequests
  ? new TrafficObserver({
      key: start.observationKey,
      send: (batch) => post({ kind: 'observations', text: JSON.stringify(batch) }),
    })
  : null;
const principals = new Principals(start.observationKey);
const measures = new ClientMeasures();
if (start.measures !== null) measures.change(start.measures);
const clients = start.shipsRequests
  ? new ClientFeatures({
      seeds: [randomInt(2 ** 32), randomInt(2 ** 32)],
      principals,
      send: (batch) => post({ kind: 'clients', text: JSON.stringify(batch) }),
    })
  : null;
const banSafe = new AddressSetHolder();
if (start.safe !== null) banSafe.swap(start.safe.version, start.safe.table);
const siteKeys: { current: KeySet | null } = { current: start.siteKeys === null ? null : readKeySet(start.siteKeys) };
const https = new HttpsAnswers();
if (start.challenges !== null) https.replaceChallenges(start.challenges);
if (start.tls !== null) https.replaceCertificates(start.tls.certificates);
const keysWanted = new EventBudget(1);
const heap = new HeapWatch();
const readingBody = new ActiveList<BodyWatch>();
const relaying = new ActiveList<Relay>();
const pools = new UpstreamPools({ metrics, log });
const loopDelay = monitorEventLoopDelay({ resolution: 20 });
loopDelay.enable();

let serving: Serving;
let listener: Listening | null = null;
let share: ConnectionShare | null = null;
let isStopping = false;
/** Newer ones than those of the start, while nothing listens yet. */
let certificates: CertificateSet | null = null;
let challenges = start.challenges;

const foreignInspector =
  start.inspectionThreads > 0 ? createInspectionPool(start.inspectionThreads, start.inspectionModule) : null;

const gateWorker = createGateWorker({
  clock: { wallMs: () => Date.now(), monotonicMs: () => performance.now(), sharedMs: createSharedClock() },
  given: { measures, banSafe, siteKeys },
  shared: openGateMemory(start.gateMemory, start.workerId),
  names: systemNames(),
  challengeSecret: Buffer.from(start.challengeSecret),
  principals: { principals, principalMeasures: measures.principals },
  holder: `${start.nodeId}.${start.workerId}`,
  onBan: (record) => post({ kind: 'ban', record }),
  onKeysWanted: () => {
    if (keysWanted.spend(performance.now())) post({ kind: 'keysWanted' });
  },
});
const sharing = shareLimits(gateWorker.leases, gateWorker.tables.sharing, start.limitsStore);
const guard = createConnectionCap({
  connections: gateWorker.tables.connections,
  workerId: start.workerId,
  config: () => serving.current.config,
  nowMs: () => gateWorker.clock.sharedMs(performance.now()),
  metrics,
  log: (fields, message) => log('warn', fields, message),
});
const prepareGates = openGates(gateWorker);
const generationSteps = (payload: GenerationPayload) =>
  preparingGeneration(payload, module, prepareGates, listener !== null);

const context: RoadContext = {
  current: () => serving.current,
  now: () => Date.now(),
  makeRequestId: createRequestIds(),
  poolFor: (site, generation) => pools.of(site, generation),
  flights: openFlights(start),
  loops: new LoopGuard(start.nodeId),
  simulations: new SimulatedClients(start.simulationKey),
  store: module.createStore(),
  metrics,
  record: (event) => events.record(event),
  requests,
  observer,
  clients,
  readingBody,
  bodies: new ClientShares(),
  relaying,
  https,
  relayed: new ClientShares(),
  waitedFor: new ClientShares(),
  streams: new StreamPlaces(),
  foreignInspector,
  log,
};

const flusher = setInterval(() => {
  events.flush();
  requests?.flush();
  observer?.flush(Date.now());
  clients?.flush(Date.now());
}, flushEveryMs);
// Until the very end: a worker that finishes what it has can hang as well.
beat(start.pulse);
setInterval(() => beat(start.pulse), start.pulseEveryMs / 2).unref();
const sweeper = watchEvery(sweepEveryMs, (nowMs, stoodStillMs) => {
  const { timeouts } = serving.current.config;
  for (const watch of readingBody.all()) {
    watch.standStill(stoodStillMs);
    if (nowMs - watch.bodyAtMs > timeouts.clientBodyIdleMs) watch.bodyTimedOut();
    else watch.sweep(nowMs, timeouts);
  }
  for (const relay of relaying.all()) {
    relay.standStill(stoodStillMs);
    relay.sweep(nowMs, timeouts);
  }
  const sharedMs = gateWorker.clock.sharedMs(performance.now());
  context.streams.endDenied((address) => isKeptOut(gateWorker, address, sharedMs));
  gateWorker.tables.attack.tell(start.workerId, metrics.requests);
  const tooFull = listener === null ? null : heap.look();
  if (tooFull !== null) void stop(timeouts.drainMs, tooFull);
});

/**
 * Ends everything that keeps this thread alive. `bug`: why main has to start another, which may need this one's port.
 */
async function stop(drainMs: number, bug: string | null = null): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  share?.leave();
  if (bug === null) context.streams.goAway();
  await listener?.stop(drainMs, () => {
    if (bug !== null) post({ kind: 'dying', reason: bug });
  });
  pools.close();
  await foreignInspector?.close();
  clearInterval(flusher);
  sweeper.stop();
  sharing.stop();
  loopDelay.disable();
  events.flush();
  requests?.flush();
  observer?.flush(Date.now(), true);
  clients?.flush(Date.now(), true);
  post({ kind: 'drained' });
  port?.close();
}

async function prepare(payload: GenerationPayload): Promise<void> {
  const { id, sha256, selfTest } = payload;
  try {
    await serving.prepare(() => besideRequests(generationSteps(payload)));
    post({ kind: 'prepared', id, sha256, selfTest });
  } catch (error) {
    if (!(error instanceof GenerationRefused)) throw error;
    post({ kind: 'refused', id, reason: error.message });
  }
}

function failed(error: unknown): void {
  post({ kind: 'failed', reason: messageOf(error) });
  void stop(0);
}

const tlsNow = (): WorkerStart['tls'] =>
  start.tls === null || certificates === null ? start.tls : { ...start.tls, certificates };

/** Not before main says so: who listens first would get every connection that clients keep. */
async function takeConnections(sockets: WorkerSockets): Promise<void> {
  try {
    share = shareOf(start.connections, start.workerId, () => performance.now());
    const begun = await beginListening({ ...start, tls: tlsNow(), challenges }, sockets, share, context, guard);
    listener = begun;
    if (isStopping) await begun.stop(0);
    else post({ kind: 'ready', port: begun.port });
  } catch (error) {
    failed(error);
  }
}

function report(token: number): void {
  const { current, retiringCount: retiring } = serving;
  post({
    kind: 'report',
    token,
    report: {
      workerId: start.workerId,
      generation: current.id,
      inFlight: current.inFlight,
      retiring,
      eventsDropped: events.dropped,
      upstreams: pools.view(),
      loopLagMsP99: loopDelay.percentile(99) / 1e6,
      metrics: metrics.snapshot({ ...serving.inspectionCounters(), ...observer?.metrics(), ...clients?.metrics() }),
      heavy: gateWorker.heavy.list(),
      crawlers: gateWorker.crawlers.list(),
    },
  });
}

/** Orders about generations, one after the other: another may come while preparing pauses for requests. */
let changes: Promise<void> = Promise.resolve();
function inTurn(change: () => void | Promise<void>): void {
  changes = changes.then(change);
}

const orders: Handlers<WorkerOrders> = {
  prepare: ({ generation }) => inTurn(() => prepare(generation)),
  commit: ({ id }) =>
    inTurn(() => {
      serving.commit(id);
      post({ kind: 'committed', id });
    }),
  discard: ({ id }) => inTurn(() => serving.discard(id)),
  report: ({ token }) => report(token),
  measures: ({ tables }) => void measures.change(tables),
  safe: ({ list }) => void banSafe.swap(list.version, list.table),
  siteKeys: ({ set }) => {
    siteKeys.current = readKeySet(set);
  },
  certificates: ({ set }) => {
    certificates = set;
    https.replaceCertificates(set);
    listener?.replaceCertificates(set);
  },
  challenges: ({ table }) => {
    challenges = table;
    https.replaceChallenges(table);
    listener?.replaceChallenges(table);
  },
  listen: ({ sockets }) => void takeConnections(sockets),
  stop: ({ drainMs }) => void stop(drainMs),
};
port.on('message', (message: ToWorker) => dispatch(orders, message));

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
  void stop(serving.current.config.timeouts.drainMs, reason);
});

try {
  serving = new Serving(finishSteps(generationSteps(start.generation)), start.workerId, (previous, next) =>
    pools.swap(previous, next),
  );
  pools.watch(serving.current);
  post({ kind: 'loaded' });
} catch (error) {
  failed(error);
}
