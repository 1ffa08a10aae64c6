// One of the places where a worker serves: started, watched, and filled again when a worker goes.
import { Worker } from 'node:worker_threads';
import { messageOf } from '../contract/errors.js';
import { PulseWatch } from '../time/pulse.js';
import type { ToMain, ToWorker, WorkerReport, WorkerSockets, WorkerStart } from '../worker/messages.js';

/**
 * V8's nursery per worker, of which a third fills before it is collected. A request allocates some 40 KB that die with
 * it, but those under way survive each collection and are copied, and what survives two is marked with all of the old
 * generation by threads beside this one: the longer it takes to fill, the fewer. Measured with 32 connections on the
 * corpus perf-mix, builds in turns, median of six, twice: 158.8 and 156.6 µs a request with 24 MB, 146.8 and 149.5
 * with this; on the mix 52.1 and 50.2. It costs 12 MB of resident memory a worker against 48 MB (156.5, 159.8 µs).
 */
const youngGenerationMbMax = 96;

const restartDelayMs = { first: 50, most: 10_000 } as const;
const calmAfterMs = 30_000; // a worker that served this long starts the back-off anew

/** The worker opens them itself. */
export const ownSockets: WorkerSockets = { plain: null, tls: null };

/** One alone, then the others a quarter at a time: most answer at any moment, also of many. */
export function turnsOf<T>(workers: readonly T[]): T[][] {
  const size = Math.max(1, Math.floor(workers.length / 4));
  const turns = [workers.slice(0, 1)];
  for (let at = 1; at < workers.length; at += size) turns.push(workers.slice(at, at + size));
  return turns;
}

/** An answer about a generation. */
export type Answer = ToMain<'prepared' | 'refused' | 'committed'>;

/** What a place needs of whoever keeps all of them. */
export interface SlotOwner {
  readonly isStopping: boolean;
  /** What a worker that starts now is told. */
  startData(index: number): WorkerStart;
  readonly workerModule: URL;
  /** What a worker that takes the place of another listens on. */
  socketsOf(index: number): WorkerSockets;
  /** It listens. */
  ready(slot: WorkerSlot, port: number): void;
  /** Nobody serves at this place at the moment. */
  vacant(slot: WorkerSlot): void;
  heard(slot: WorkerSlot, worker: Worker, message: Exclude<ToMain, { kind: 'loaded' | 'ready' | 'failed' }>): void;
  /** Its worker is gone, and this was its last word. */
  departed(report: WorkerReport): void;
  /** Its worker died, or found a bug and will; `start`: where stands what it was doing. */
  crashed(slot: WorkerSlot, reason: string, start: WorkerStart): void;
  /** A worker is gone for good. */
  exited(start: WorkerStart): void;
  log(level: 'info' | 'error', fields: Readonly<Record<string, unknown>>, message: string): void;
}

export class WorkerSlot {
  worker: Worker | null = null;
  /** `loaded`: it can take a generation, and takes no connections yet. */
  state: 'starting' | 'loaded' | 'ready' | 'gone' = 'gone';
  restarts = 0;
  lastReason = '';
  /** What it serves, as far as main knows. */
  generation = 0;
  /** Set while a prepare or commit waits for this worker; null = it is gone. */
  answer: ((message: Answer | null) => void) | null = null;
  /** Workers replaced but not gone yet. */
  readonly former = new Set<Worker>();
  lastReport: WorkerReport | null = null;
  private started: WorkerStart | null = null;
  private startedAtMs = 0;
  private failures = 0;

  constructor(
    readonly index: number,
    private readonly owner: SlotOwner,
  ) {}

  /** It takes connections. */
  get isReady(): boolean {
    return this.state === 'ready' && this.worker !== null;
  }

  /** It can be asked to take another generation. */
  get hasLoaded(): boolean {
    return this.isReady || (this.state === 'loaded' && this.worker !== null);
  }

  post(message: ToWorker): void {
    this.worker?.postMessage(message);
  }

  /**
   * Resolves when the worker listens; rejects with the reason when it cannot. `mayListen`: asked once it has loaded
   * everything; it listens when that is resolved, on the sockets that it resolves with.
   */
  start(mayListen: () => Promise<WorkerSockets> = () => Promise.resolve(ownSockets)): Promise<void> {
    const data = this.owner.startData(this.index);
    const worker = new Worker(this.owner.workerModule, {
      workerData: data,
      name: `gatehouse-${this.index}`,
      resourceLimits: {
        maxYoungGenerationSizeMb: youngGenerationMbMax,
        maxOldGenerationSizeMb: data.generation.config.limits.workerHeapMbMax,
      },
    });
    this.worker = worker;
    this.started = data;
    this.state = 'starting';
    this.generation = data.generation.id;
    this.startedAtMs = performance.now();
    return new Promise((resolve, reject) => {
      worker.on('message', (message: ToMain) => {
        if (message.kind === 'loaded') {
          this.state = 'loaded';
          void mayListen().then((sockets) => worker.postMessage({ kind: 'listen', sockets } satisfies ToWorker));
        } else if (message.kind === 'ready') {
          this.state = 'ready';
          this.owner.ready(this, message.port);
          resolve();
        } else if (message.kind === 'failed') {
          this.lastReason = message.reason;
          reject(new Error(message.reason));
        } else this.owner.heard(this, worker, message);
      });
      worker.on('error', (error) => {
        this.lastReason = error.stack ?? error.message;
        this.owner.log('error', { worker: this.index, err: this.lastReason }, 'worker died');
        this.owner.crashed(this, this.lastReason, data);
      });
      const pulse = new PulseWatch(data.pulse);
      const looking = setInterval(() => {
        if (pulse.look()) this.hangs(worker, data);
      }, data.pulseEveryMs).unref();
      worker.on('exit', (code) => {
        clearInterval(looking);
        this.owner.exited(data);
        const silently = `worker ${this.index} ended with code ${code} before it listened`;
        reject(new Error(this.lastReason === '' ? silently : this.lastReason));
        if (!this.former.delete(worker)) this.replace(worker);
      });
    });
  }

  /** It is at something that never ends: nothing but its end frees whoever waits for it. */
  private hangs(worker: Worker, data: WorkerStart): void {
    this.lastReason = 'it hung: nothing it was asked reached it any more';
    this.owner.log('error', { worker: this.index, err: this.lastReason }, 'a worker that hangs is ended');
    this.owner.crashed(this, this.lastReason, data);
    void worker.terminate();
  }

  /** A bug surfaced in it: it finishes what it has beside the one that takes its place. */
  dying(worker: Worker, reason: string): void {
    this.lastReason = reason;
    this.owner.log('error', { worker: this.index, err: reason }, 'a bug ended a worker; it is being replaced');
    if (this.started !== null) this.owner.crashed(this, reason, this.started);
    this.former.add(worker);
    this.replace(worker);
  }

  private replace(worker: Worker): void {
    if (this.worker !== worker) return;
    const wasReady = this.state === 'ready';
    this.worker = null;
    this.state = 'gone';
    this.owner.vacant(this);
    this.answer?.(null);
    if (this.lastReport !== null) this.owner.departed(this.lastReport);
    this.lastReport = null;
    if (this.owner.isStopping) return;
    if (!wasReady && this.restarts === 0 && this.failures === 0) return; // never listened: who started it reports it
    this.restarts += 1;
    this.failures = performance.now() - this.startedAtMs > calmAfterMs ? 0 : this.failures + 1;
    const delayMs =
      this.failures <= 1 ? 0 : Math.min(restartDelayMs.first * 2 ** (this.failures - 1), restartDelayMs.most);
    setTimeout(() => this.restart(), delayMs);
  }

  private restart(): void {
    if (this.owner.isStopping) return;
    const sockets = async (): Promise<WorkerSockets> => this.owner.socketsOf(this.index);
    this.start(sockets).then(
      () => this.owner.log('info', { worker: this.index, restarts: this.restarts }, 'worker replaced'),
      (error: unknown) =>
        this.owner.log('error', { worker: this.index, err: messageOf(error) }, 'a worker could not be started again'),
    );
  }
}
