// Workers: started, watched, replaced. No request ever touches this thread.
import { Worker } from 'node:worker_threads';
import type { GenerationPayload, LogLevel, ToMain, ToWorker, WorkerReport, WorkerStart } from '../worker/messages.js';
import { unreachable } from '../worker/messages.js';
import type { SecurityEvent } from '../contract.js';
import { emptyMetrics, mergeMetrics, type MetricsSnapshot } from '../metrics/metrics.js';
import type { RequestSample } from '../records/request-records.js';
import type { ThreatTable } from '../shared-state/threat-delta.js';

/**
 * V8's nursery per worker. A request allocates some 20 KB that die with it, but those under way survive each collection
 * and are copied: the longer it takes to fill, the fewer. Measured with 32 connections, three builds in turn, median of
 * ten: 90.7 µs a request with 12 MB, 87.7 with this, 87.8 with the default of 48 MB.
 */
const youngGenerationMbMax = 24;

export interface SupervisorOptions {
  readonly workers: number;
  readonly start: Omit<WorkerStart, 'workerId' | 'port' | 'generation' | 'threats'>;
  readonly port: number;
  /** What a worker started now has to load. */
  readonly generation: () => GenerationPayload;
  readonly threats: () => ThreatTable | null;
  readonly onEvents: (batch: readonly SecurityEvent[]) => void;
  readonly onRequests: (lines: readonly string[], dropped: number, samples: readonly RequestSample[]) => void;
  readonly log: (level: LogLevel, fields: Readonly<Record<string, unknown>>, message: string) => void;
  /** What a worker runs; worker.js where none is given. */
  readonly workerModule?: URL;
}

export type PrepareOutcome = { readonly kind: 'prepared' } | { readonly kind: 'refused'; readonly reason: string };

type Answer = Extract<ToMain, { kind: 'prepared' | 'refused' | 'committed' }>;

const reportTimeoutMs = 2_000;
const restartDelayMs = { first: 50, most: 10_000 } as const;
const calmAfterMs = 30_000; // a worker that served this long starts the back-off anew

interface Slot {
  readonly index: number;
  worker: Worker | null;
  state: 'starting' | 'ready' | 'dying' | 'gone';
  startedAtMs: number;
  failures: number;
  restarts: number;
  lastReason: string;
  /** What it serves, as far as main knows. */
  generation: number;
  /** Set while a prepare or commit waits for this worker; null = it is gone. */
  answer: ((message: Answer | null) => void) | null;
  /** Workers replaced but not gone yet. */
  readonly former: Set<Worker>;
  lastReport: WorkerReport | null;
}

export class Supervisor {
  port: number;
  private readonly slots: Slot[] = [];
  private preparing: Slot[] = [];
  private readonly reports = new Map<number, (report: WorkerReport) => void>();
  private readonly departed: MetricsSnapshot = emptyMetrics();
  private readonly drained = new Map<Worker, () => void>();
  private nextToken = 1;
  private isStopping = false;

  constructor(private readonly options: SupervisorOptions) {
    this.port = options.port;
  }

  /** Resolves when every worker listens; rejects with the first reason when one cannot. */
  async startAll(): Promise<void> {
    const { workers } = this.options;
    for (let index = 0; index < workers; index += 1) {
      const slot: Slot = {
        index,
        worker: null,
        state: 'gone',
        startedAtMs: 0,
        failures: 0,
        restarts: 0,
        lastReason: '',
        generation: 0,
        answer: null,
        former: new Set(),
        lastReport: null,
      };
      this.slots.push(slot);
    }
    const [first, ...others] = this.slots;
    if (first === undefined) return;
    await this.startOne(first); // it settles the port when any free one was asked for
    await Promise.all(others.map((slot) => this.startOne(slot)));
  }

  private startOne(slot: Slot): Promise<void> {
    const data: WorkerStart = {
      ...this.options.start,
      workerId: slot.index,
      port: this.port,
      generation: this.options.generation(),
      threats: this.options.threats(),
    };
    const worker = new Worker(this.options.workerModule ?? new URL('../worker/worker.js', import.meta.url), {
      workerData: data,
      name: `gatehouse-${slot.index}`,
      resourceLimits: { maxYoungGenerationSizeMb: youngGenerationMbMax },
    });
    slot.worker = worker;
    slot.state = 'starting';
    slot.startedAtMs = performance.now();
    return new Promise((resolve, reject) => {
      worker.on('message', (message: ToMain) => {
        if (message.kind === 'ready') {
          slot.state = 'ready';
          slot.generation = data.generation.id;
          this.port = message.port;
          this.catchUp(slot);
          resolve();
        } else if (message.kind === 'failed') {
          slot.lastReason = message.reason;
          reject(new Error(message.reason));
        } else this.heard(slot, worker, message);
      });
      worker.on('error', (error) => {
        slot.lastReason = error.stack ?? error.message;
        this.options.log('error', { worker: slot.index, err: slot.lastReason }, 'worker died');
      });
      worker.on('exit', (code) => {
        reject(
          new Error(
            slot.lastReason === ''
              ? `worker ${slot.index} ended with code ${code} before it listened`
              : slot.lastReason,
          ),
        );
        this.gone(slot, worker);
      });
    });
  }

  private heard(slot: Slot, worker: Worker, message: Exclude<ToMain, { kind: 'ready' | 'failed' }>): void {
    switch (message.kind) {
      case 'prepared':
      case 'refused':
      case 'committed':
        slot.answer?.(message);
        return;
      case 'report':
        this.reports.get(message.token)?.(message.report);
        return;
      case 'events':
        this.options.onEvents(message.batch);
        return;
      case 'requests':
        this.options.onRequests(message.lines, message.dropped, message.samples);
        return;
      case 'log':
        this.options.log(message.level, message.fields, message.message);
        return;
      case 'drained':
        this.drained.get(worker)?.();
        return;
      case 'dying':
        slot.lastReason = message.reason;
        this.options.log(
          'error',
          { worker: slot.index, err: message.reason },
          'a bug ended a worker; it is being replaced',
        );
        slot.former.add(worker);
        this.replace(slot, worker);
        return;
      default:
        unreachable(message);
    }
  }

  private gone(slot: Slot, worker: Worker): void {
    if (slot.former.delete(worker)) return;
    this.replace(slot, worker);
  }

  private replace(slot: Slot, worker: Worker): void {
    if (slot.worker !== worker) return;
    const wasReady = slot.state === 'ready';
    slot.worker = null;
    slot.state = 'gone';
    slot.answer?.(null);
    if (slot.lastReport !== null) mergeMetrics(this.departed, slot.lastReport.metrics);
    slot.lastReport = null;
    if (this.isStopping) return;
    if (!wasReady && slot.restarts === 0 && slot.failures === 0) return; // never listened: startAll reports it
    slot.restarts += 1;
    slot.failures = performance.now() - slot.startedAtMs > calmAfterMs ? 0 : slot.failures + 1;
    const delayMs =
      slot.failures <= 1 ? 0 : Math.min(restartDelayMs.first * 2 ** (slot.failures - 1), restartDelayMs.most);
    setTimeout(() => this.restart(slot), delayMs);
  }

  private restart(slot: Slot): void {
    if (this.isStopping) return;
    this.startOne(slot).then(
      () => this.options.log('info', { worker: slot.index, restarts: slot.restarts }, 'worker replaced'),
      (error: unknown) =>
        this.options.log(
          'error',
          { worker: slot.index, err: error instanceof Error ? error.message : String(error) },
          'a worker could not be started again',
        ),
    );
  }

  private ready(): Slot[] {
    return this.slots.filter((slot) => slot.state === 'ready' && slot.worker !== null);
  }

  /**
   * Sends one message about generation `id` to these workers and collects one answer each; null = it died or took too
   * long.
   * Answers about other generations (one that was too late, one of a worker that caught up) are not waited for by
   * anybody.
   */
  private askAll(slots: readonly Slot[], id: number, message: ToWorker, timeoutMs: number): Promise<(Answer | null)[]> {
    return Promise.all(
      slots.map(
        (slot) =>
          new Promise<Answer | null>((resolve) => {
            const timer = setTimeout(() => done(null), timeoutMs);
            const done = (answer: Answer | null): void => {
              if (answer !== null && answer.id !== id) return;
              clearTimeout(timer);
              slot.answer = null;
              resolve(answer);
            };
            slot.answer = done;
            slot.worker?.postMessage(message);
          }),
      ),
    );
  }

  /** All or none: on any refusal every worker discards, and what served goes on serving. */
  async prepare(generation: GenerationPayload, timeoutMs: number): Promise<PrepareOutcome> {
    this.preparing = this.ready();
    const answers = await this.askAll(this.preparing, generation.id, { kind: 'prepare', generation }, timeoutMs);
    let reason: string | null = answers.length === 0 ? 'no worker is running' : null;
    for (const answer of answers) {
      if (answer === null) reason ??= `a worker died or did not answer within ${timeoutMs} ms while preparing`;
      else if (answer.kind === 'refused') reason ??= answer.reason;
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
    const slots = this.preparing.filter((slot) => slot.state === 'ready' && slot.worker !== null);
    this.preparing = [];
    for (const slot of slots) slot.generation = id;
    const answers = await this.askAll(slots, id, { kind: 'commit', id }, timeoutMs);
    for (const slot of this.ready()) this.catchUp(slot);
    return answers.filter((answer) => answer?.kind === 'committed').length;
  }

  /** A worker that started with what was active then, and came up after a change. */
  private catchUp(slot: Slot): void {
    const generation = this.options.generation();
    if (slot.generation === generation.id || slot.worker === null) return;
    slot.generation = generation.id;
    slot.worker.postMessage({ kind: 'prepare', generation } satisfies ToWorker);
    slot.worker.postMessage({ kind: 'commit', id: generation.id } satisfies ToWorker);
  }

  /** To workers that still start as well: they read it when they have. Versions keep the order. */
  spreadThreats(list: ThreatTable): void {
    for (const { worker } of this.slots) worker?.postMessage({ kind: 'threats', list } satisfies ToWorker);
  }

  private tellAll(message: ToWorker): void {
    for (const slot of this.ready()) slot.worker?.postMessage(message);
  }

  async report(): Promise<{ readonly metrics: MetricsSnapshot; readonly workers: readonly Record<string, unknown>[] }> {
    const asked = await Promise.all(this.slots.map((slot) => this.reportOne(slot)));
    const metrics = emptyMetrics();
    mergeMetrics(metrics, this.departed);
    for (const report of asked) if (report !== null) mergeMetrics(metrics, report.metrics);
    const workers = this.slots.map((slot, index) => {
      const report = asked[index] ?? null;
      return {
        worker: slot.index,
        state: slot.state,
        restarts: slot.restarts,
        lastFailure: slot.lastReason,
        generation: report?.generation ?? null,
        inFlight: report?.inFlight ?? null,
        retiring: report?.retiring ?? null,
        eventsDropped: report?.eventsDropped ?? null,
        loopLagMsP99: report?.loopLagMsP99 ?? null,
      };
    });
    return { metrics, workers };
  }

  private reportOne(slot: Slot): Promise<WorkerReport | null> {
    const { worker } = slot;
    if (worker === null || slot.state !== 'ready') return Promise.resolve(null);
    const token = this.nextToken;
    this.nextToken += 1;
    return new Promise((resolve) => {
      const timer = setTimeout(() => done(slot.lastReport), reportTimeoutMs); // busy: its last word stands
      const done = (report: WorkerReport | null): void => {
        clearTimeout(timer);
        this.reports.delete(token);
        if (slot.worker === worker) slot.lastReport = report;
        resolve(report);
      };
      this.reports.set(token, done);
      worker.postMessage({ kind: 'report', token } satisfies ToWorker);
    });
  }

  get restarts(): number {
    return this.slots.reduce((sum, slot) => sum + slot.restarts, 0);
  }
  get readyCount(): number {
    return this.ready().length;
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
