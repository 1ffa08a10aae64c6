// All workers together: a change reaches every one of them or none, and their figures are added up. How one is started
// and replaced is worker-slot.ts. No request ever touches this thread.
import { availableParallelism } from 'node:os';
import type { Worker } from 'node:worker_threads';
import type { BanRecord } from '../admit/bans/auto-ban.js';
import type { CrawlerCount } from '../admit/bots/crawler-check.js';
import type { HeavyKey } from '../admit/heavy-keys.js';
import type { KeySetMessage } from '../admit/site-auth/key-set.js';
import type { SecurityEvent } from '../contract/index.js';
import { createConnectionShares, forgetShare } from '../listeners/connection-share.js';
import { putTogether } from '../inspection/put-together.js';
import { emptyMetrics, mergeMetrics, type MetricsSnapshot } from '../metrics/metrics.js';
import type { RequestSample } from '../records/request-records.js';
import type { AddressTable } from '../shared-state/address-set-holder.js';
import type { MeasureTables } from '../shared-state/measure-tables.js';
import { expireAfter } from '../time/late-timers.js';
import type { CertificateSet } from '../tls-edge/certificates/certificate-set.js';
import type { ChallengeTable } from '../tls-edge/challenges/challenge-table.js';
import { flightTableBytes } from '../worker/flight-table.js';
import { dispatch, type GenerationPayload, type Handlers, type LogLevel, type ToMain } from '../worker/messages.js';
import type { ToWorker, WorkerNews, WorkerReport, WorkerSockets, WorkerStart } from '../worker/messages.js';
import { pulseBytes } from '../time/pulse.js';
import type { Crashes } from './crashes.js';
import { ProvenArtifacts } from './proven-artifacts.js';
import { upstreamsOf, type UpstreamStatus } from './admin/upstream-status.js';
import { ownSockets, turnsOf, WorkerSlot, type Answer, type SlotOwner } from './worker-slot.js';

export interface SupervisorOptions {
  readonly workers: number;
  readonly start: Omit<
    WorkerStart,
    | 'workerId'
    | 'port'
    | 'generation'
    | 'measures'
    | 'safe'
    | 'siteKeys'
    | 'challenges'
    | 'connections'
    | 'flights'
    | 'flightFile'
    | 'flightMap'
    | 'pulse'
  >;
  readonly crashes: Pick<Crashes, 'flightFile' | 'flightMap' | 'flightsOf' | 'forget' | 'record'>;
  readonly port: number;
  /** Sockets for workers that begin together, asked when they are to listen; left out: each opens its own. */
  readonly openSockets?: () => readonly WorkerSockets[];
  /** For a worker that takes the place of another; left out: it opens its own. */
  readonly socketsOf?: (index: number) => WorkerSockets;
  /** What a worker started now has to load. */
  readonly generation: () => GenerationPayload;
  readonly measures: () => MeasureTables | null;
  readonly safe: () => AddressTable | null;
  readonly siteKeys: () => KeySetMessage | null;
  readonly challenges?: () => ChallengeTable | null;
  readonly onBan: (record: BanRecord) => void;
  readonly onKeysWanted: () => void;
  /** Nobody serves at this place any more, until another worker does. */
  readonly onVacant?: (index: number) => void;
  readonly onEvents: (batch: readonly SecurityEvent[]) => void;
  readonly onRequests: (lines: readonly string[], dropped: number, samples: readonly RequestSample[]) => void;
  readonly onObservations: (text: string) => void;
  readonly onClients: (text: string) => void;
  readonly log: (level: LogLevel, fields: Readonly<Record<string, unknown>>, message: string) => void;
  /** What a worker runs; worker.js where none is given. */
  readonly workerModule?: URL;
}

export type PrepareOutcome = { readonly kind: 'prepared' } | { readonly kind: 'refused'; readonly reason: string };

const reportTimeoutMs = 2_000;

export interface SupervisorReport {
  readonly metrics: MetricsSnapshot;
  readonly workers: readonly Record<string, unknown>[];
  /** By the name of the site. */
  readonly upstreams: ReadonlyMap<string, readonly UpstreamStatus[]>;
  /** Clients that were limited most, by worker. */
  readonly heavy: readonly HeavyKey[];
  readonly crawlers: readonly CrawlerCount[];
}

/** Workers that load at the same time. */
const atOnceMax = availableParallelism();

/** Whether a worker says that it has loaded this artifact, and not that of an earlier attempt with the same number. */
const isAbout = (answer: Answer, { sha256, selfTest }: GenerationPayload): boolean =>
  answer.kind === 'prepared' && answer.sha256 === sha256 && answer.selfTest === selfTest;

export class Supervisor implements SlotOwner {
  port: number;
  isStopping = false;
  private readonly connections: SharedArrayBuffer;
  private readonly slots: WorkerSlot[] = [];
  private preparing: WorkerSlot[] = [];
  private readonly reports = new Map<number, (report: WorkerReport) => void>();
  private readonly gone: MetricsSnapshot = emptyMetrics();
  private readonly drained = new Map<Worker, () => void>();
  private nextToken = 1;
  private readonly proven = new ProvenArtifacts();
  /** Newer ones than those of the options. */
  private certificates: CertificateSet | null = null;

  constructor(private readonly options: SupervisorOptions) {
    this.port = options.port;
    this.connections = createConnectionShares(options.workers);
  }

  get workerModule(): URL {
    return this.options.workerModule ?? putTogether(new URL('../worker/worker.js', import.meta.url));
  }

  /**
   * Resolves when every worker listens; rejects with the first reason when one cannot. They begin together, when the
   * last has loaded everything: clients that come back after a restart keep their connection for long, and all of them
   * would sit with the one that listened first. The first loads alone, and the others find its databases in memory; of
   * these there are as many at once as the machine has processors, since more only take turns and hang in the meantime.
   * `mayListen`: asked once all have loaded; from then on they take generations, and they listen when it is resolved.
   */
  async startAll(mayListen: () => Promise<void> = () => Promise.resolve()): Promise<void> {
    const { workers } = this.options;
    for (let index = 0; index < workers; index += 1) this.slots.push(new WorkerSlot(index, this));
    const [first, ...others] = this.slots;
    if (first === undefined) return;
    await new Promise<void>((resolve, reject) => {
      let open: (sockets: readonly WorkerSockets[]) => void = () => {};
      const gate = new Promise<readonly WorkerSockets[]>((pass) => (open = pass));
      let loaded = 0;
      let listening = 0;
      const begin = (slot: WorkerSlot): void => {
        const hasLoaded = async (): Promise<WorkerSockets> => {
          loaded += 1;
          if (loaded === 1) this.proven.add(this.options.generation());
          for (const next of others.splice(0, loaded === 1 ? atOnceMax : 1)) begin(next);
          if (loaded === workers)
            mayListen()
              .then(() => open(this.options.openSockets?.() ?? []))
              .catch(reject);
          return (await gate)[slot.index] ?? ownSockets;
        };
        slot.start(hasLoaded).then(() => {
          listening += 1;
          if (listening === workers) resolve();
        }, reject);
      };
      begin(first);
    });
  }

  startData(workerId: number): WorkerStart {
    const { start, generation, measures, safe, siteKeys } = this.options;
    const { certificates } = this;
    return {
      ...start,
      tls: start.tls === null || certificates === null ? start.tls : { ...start.tls, certificates },
      workerId,
      port: this.port,
      generation: this.proven.mark(generation()),
      measures: measures(),
      safe: safe(),
      siteKeys: siteKeys(),
      challenges: this.options.challenges?.() ?? null,
      connections: this.connections,
      flights: new SharedArrayBuffer(flightTableBytes),
      flightFile: this.options.crashes.flightFile(workerId),
      flightMap: this.options.crashes.flightMap(workerId),
      pulse: new SharedArrayBuffer(pulseBytes),
    };
  }

  readonly socketsOf = (index: number): WorkerSockets => this.options.socketsOf?.(index) ?? ownSockets;

  ready(slot: WorkerSlot, port: number): void {
    this.port = port;
    this.catchUp(slot);
  }

  heard(slot: WorkerSlot, worker: Worker, message: Exclude<ToMain, { kind: 'loaded' | 'ready' | 'failed' }>): void {
    const { options } = this;
    const answered = (answer: Answer): void => slot.answer?.(answer);
    const handlers: Handlers<Omit<WorkerNews, 'loaded' | 'ready' | 'failed'>> = {
      prepared: (what) => answered({ ...what, kind: 'prepared' }),
      refused: ({ id, reason }) => answered({ kind: 'refused', id, reason }),
      committed: ({ id }) => answered({ kind: 'committed', id }),
      report: ({ token, report }) => this.reports.get(token)?.(report),
      events: ({ batch }) => options.onEvents(batch),
      requests: ({ lines, dropped, samples }) => options.onRequests(lines, dropped, samples),
      observations: ({ text }) => options.onObservations(text),
      clients: ({ text }) => options.onClients(text),
      log: ({ level, fields, message: text }) => options.log(level, fields, text),
      ban: ({ record }) => options.onBan(record),
      keysWanted: () => options.onKeysWanted(),
      drained: () => this.drained.get(worker)?.(),
      dying: ({ reason }) => slot.dying(worker, reason),
    };
    dispatch(handlers, message);
  }

  vacant(slot: WorkerSlot): void {
    forgetShare(this.connections, slot.index);
    this.options.onVacant?.(slot.index);
  }

  crashed({ index }: WorkerSlot, reason: string, { flights, flightMap }: WorkerStart): void {
    const { crashes } = this.options;
    crashes.record(index, reason, crashes.flightsOf(flightMap, flights));
  }

  exited({ flightMap }: WorkerStart): void {
    this.options.crashes.forget(flightMap);
  }

  departed(report: WorkerReport): void {
    mergeMetrics(this.gone, report.metrics);
  }

  log(level: LogLevel, fields: Readonly<Record<string, unknown>>, message: string): void {
    this.options.log(level, fields, message);
  }

  /** Those that can take a generation, or were given one. */
  private loaded(): WorkerSlot[] {
    return this.slots.filter(({ hasLoaded }) => hasLoaded);
  }

  /**
   * Sends one message about generation `id` to these workers and collects one answer each; null = it died or took too
   * long. Nobody waits for answers about other generations (one too late, one of a worker that caught up).
   */
  private askAll(
    slots: readonly WorkerSlot[],
    id: number,
    message: ToWorker,
    timeoutMs: number,
  ): Promise<(Answer | null)[]> {
    return Promise.all(
      slots.map(
        (slot) =>
          new Promise<Answer | null>((resolve) => {
            const timer = expireAfter(timeoutMs, () => done(null));
            const done = (answer: Answer | null): void => {
              if (answer !== null && answer.id !== id) return;
              timer.stop();
              slot.answer = null;
              resolve(answer);
            };
            slot.answer = done;
            slot.post(message);
          }),
      ),
    );
  }

  /**
   * All or none: on any refusal every worker discards, and what served goes on serving. The first loads alone, and the
   * others find its databases in memory; they take turns, because a worker that loads answers nobody meanwhile.
   * `timeoutMs`: for all of them together.
   */
  async prepare(generation: GenerationPayload, timeoutMs: number): Promise<PrepareOutcome> {
    this.preparing = this.loaded();
    const endMs = performance.now() + timeoutMs;
    let reason: string | null = this.preparing.length === 0 ? 'no worker is running' : null;
    for (const turn of turnsOf(this.preparing)) {
      if (reason !== null) break;
      const leftMs = Math.max(0, endMs - performance.now());
      const message: ToWorker = { kind: 'prepare', generation: this.proven.mark(generation) };
      for (const answer of await this.askAll(turn, generation.id, message, leftMs)) {
        if (answer === null) reason ??= `a worker died or did not answer within ${timeoutMs} ms while preparing`;
        else if (answer.kind === 'refused') reason ??= answer.reason;
        else if (isAbout(answer, generation)) this.proven.add(generation);
      }
    }
    if (reason === null) return { kind: 'prepared' };
    this.tellAll({ kind: 'discard', id: generation.id });
    return { kind: 'refused', reason };
  }

  /**
   * Cannot fail: a worker that dies now is replaced by one that loads the new generation, one that came up meanwhile
   * catches up. Returns how many serve it.
   */
  async commit(id: number, timeoutMs: number): Promise<number> {
    const slots = this.preparing.filter(({ hasLoaded }) => hasLoaded);
    this.preparing = [];
    for (const slot of slots) slot.generation = id;
    const answers = await this.askAll(slots, id, { kind: 'commit', id }, timeoutMs);
    for (const slot of this.loaded()) this.catchUp(slot);
    return answers.filter((answer) => answer?.kind === 'committed').length;
  }

  /** A worker that started with what was active then, and came up after a change. */
  private catchUp(slot: WorkerSlot): void {
    const generation = this.options.generation();
    if (slot.generation === generation.id || slot.worker === null) return;
    slot.generation = generation.id;
    slot.post({ kind: 'prepare', generation: this.proven.mark(generation) });
    slot.post({ kind: 'commit', id: generation.id });
  }

  /** To workers that still start as well: they read it when they have. Versions keep the order. */
  spreadMeasures(tables: MeasureTables): void {
    for (const slot of this.slots) slot.post({ kind: 'measures', tables });
  }

  /** Other lists; as with the measures. */
  spread(message: ToWorker<'safe' | 'siteKeys' | 'challenges'>): void {
    for (const slot of this.slots) slot.post(message);
  }

  /** A worker that starts later gets them with its start. */
  spreadCertificates(set: CertificateSet): void {
    this.certificates = set;
    for (const slot of this.slots) slot.post({ kind: 'certificates', set });
  }

  private tellAll(message: ToWorker): void {
    for (const slot of this.loaded()) slot.post(message);
  }

  async report(): Promise<SupervisorReport> {
    const asked = await Promise.all(this.slots.map((slot) => this.reportOne(slot)));
    const metrics = emptyMetrics();
    mergeMetrics(metrics, this.gone);
    for (const report of asked) if (report !== null) mergeMetrics(metrics, report.metrics);
    const counts = new Int32Array(this.connections);
    const workers = this.slots.map((slot, index) => {
      const report = asked[index] ?? null;
      return {
        worker: slot.index,
        state: slot.state,
        restarts: slot.restarts,
        lastFailure: slot.lastReason,
        generation: report?.generation ?? null,
        connections: slot.isReady ? Math.max(0, Atomics.load(counts, slot.index)) : null,
        inFlight: report?.inFlight ?? null,
        retiring: report?.retiring ?? null,
        eventsDropped: report?.eventsDropped ?? null,
        loopLagMsP99: report?.loopLagMsP99 ?? null,
      };
    });
    const upstreams = upstreamsOf(asked.flatMap((report) => report?.upstreams ?? []));
    return {
      metrics,
      workers,
      upstreams,
      heavy: asked.flatMap((one) => one?.heavy ?? []),
      crawlers: asked.flatMap((one) => one?.crawlers ?? []),
    };
  }

  private reportOne(slot: WorkerSlot): Promise<WorkerReport | null> {
    const { worker } = slot;
    if (worker === null || slot.state !== 'ready') return Promise.resolve(null);
    const token = this.nextToken;
    this.nextToken += 1;
    return new Promise((resolve) => {
      const timer = expireAfter(reportTimeoutMs, () => done(slot.lastReport)); // busy: its last word stands
      const done = (report: WorkerReport | null): void => {
        timer.stop();
        this.reports.delete(token);
        if (slot.worker === worker) slot.lastReport = report;
        resolve(report);
      };
      this.reports.set(token, done);
      slot.post({ kind: 'report', token });
    });
  }

  get restarts(): number {
    return this.slots.reduce((sum, slot) => sum + slot.restarts, 0);
  }
  get readyCount(): number {
    return this.slots.filter(({ isReady }) => isReady).length;
  }

  /**
   * Workers finish what they have, up to `drainMs`, close their connections and end by themselves. Resolves when all
   * are gone, or `lingerMs` after the last connection was closed; true = all are gone.
   */
  async stop(drainMs: number, lingerMs: number | null = null): Promise<boolean> {
    this.isStopping = true;
    const gone: Promise<void>[] = [];
    const through: Promise<void>[] = [];
    for (const slot of this.slots) {
      for (const worker of [slot.worker, ...slot.former]) {
        if (worker === null) continue;
        const exit = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
        gone.push(exit);
        through.push(Promise.race([exit, new Promise<void>((resolve) => this.drained.set(worker, resolve))]));
        worker.postMessage({ kind: 'stop', drainMs } satisfies ToWorker);
      }
    }
    const all = Promise.all(gone).then(() => true);
    if (lingerMs === null) return all;
    await Promise.all(through);
    return Promise.race([all, new Promise<boolean>((resolve) => setTimeout(() => resolve(false), lingerMs))]);
  }
}
