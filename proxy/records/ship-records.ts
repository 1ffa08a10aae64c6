// Records on their way to the control plane: request lines and security events in batches, each batch until it is
// acknowledged, under an id of its own (it is stored once however often it arrives). Runs in main. Bounded by bytes:
// when the control plane is slow or away, records are dropped and counted, the count travels with the next batch, and
// traffic never notices.
import { randomUUID } from 'node:crypto';
import type { SecurityEvent } from '../contract/index.js';
import { ObservationQueue } from '../observation/ship.js';
import { ControlPlaneClient, type ControlPlaneAddress } from './control-plane-client.js';
import { toEventRecord } from './event-record.js';
import type { RequestSample } from './request-records.js';

export interface RecordShipperOptions extends ControlPlaneAddress {
  /** Name of this node in the records. */
  readonly node: string;
  readonly onProblem: (message: string) => void;
  readonly flushEveryMs?: number;
  readonly batchRowsMax?: number;
  /** Waiting text beyond this is dropped. */
  readonly queueBytesMax?: number;
  /** Whole requests for replays that wait at most; further ones are left out. */
  readonly samplesMax?: number;
  readonly timeoutMs?: number;
}

export interface ShippingCounters {
  /** Stored there. */
  shipped: number;
  dropped: number;
  /** Left out by the control plane because more came than it can write. */
  sampledOut: number;
  /** Rows of batches that the control plane refused for good, and single ones that its database would not have. */
  refused: number;
  /** Attempts that failed and were or will be made again. */
  retries: number;
}

interface Batch {
  readonly id: string;
  readonly rows: number;
  readonly bytes: number;
  readonly body: string;
}

const retryMinMs = 250;
const retryMaxMs = 10_000;
const problemEveryMs = 60_000;
const batchBytesMax = 8 * 1024 * 1024;
/** Below what the control plane takes in one message (api/records/samples.ts). */
const samplesMax = 100;

export class RecordShipper {
  readonly counters: ShippingCounters = { shipped: 0, dropped: 0, sampledOut: 0, refused: 0, retries: 0 };
  private requests: string[] = [];
  private events: string[] = [];
  private samples: RequestSample[] = [];
  private waitingBytes = 0;
  private droppedSince = 0;
  private inFlight: Batch | null = null;
  private sending: Promise<void> | null = null;
  private isClosing = false;
  private problemAtMs = -problemEveryMs;
  private readonly wake = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private readonly controlPlane: ControlPlaneClient;
  /** What discovery saw, beside the records. */
  readonly observations: ObservationQueue;
  /** What clients did, for the detection engine. */
  readonly clients: ObservationQueue;

  constructor(private readonly options: RecordShipperOptions) {
    this.controlPlane = new ControlPlaneClient(options, options.timeoutMs ?? 30_000);
    const queue = {
      node: options.node,
      controlPlane: this.controlPlane,
      stop: this.wake.signal,
      onProblem: options.onProblem,
    };
    this.observations = new ObservationQueue(queue);
    this.clients = new ObservationQueue({ ...queue, path: '/api/dataplane/clients' });
    this.timer = setInterval(() => this.kick(), options.flushEveryMs ?? 500);
    this.timer.unref();
  }

  get waitingRows(): number {
    return this.requests.length + this.events.length + (this.inFlight?.rows ?? 0);
  }

  /**
   * Lines and samples of request-records.ts; `dropped` is what the worker itself had no room for. Never waits, never
   * throws.
   */
  addRequests(lines: readonly string[], dropped = 0, samples: readonly RequestSample[] = []): void {
    this.drop(dropped);
    for (const line of lines) this.keep(this.requests, line);
    for (const sample of samples)
      if (this.samples.length < (this.options.samplesMax ?? samplesMax)) this.samples.push(sample);
  }

  addEvents(events: readonly SecurityEvent[]): void {
    for (const event of events) this.keep(this.events, JSON.stringify(toEventRecord(event)));
  }

  /** What is about the node and no request. */
  addNodeEvent(record: object): void {
    this.keep(this.events, JSON.stringify(record));
  }

  /** Sends what waits, at most until `deadlineMs` from now; what is left then is dropped and counted. */
  async close(deadlineMs: number): Promise<void> {
    this.isClosing = true;
    clearInterval(this.timer);
    const over = setTimeout(() => this.wake.abort(), deadlineMs);
    while (!this.wake.signal.aborted && this.waitingRows > 0) {
      this.kick();
      await this.sending;
    }
    if (!this.wake.signal.aborted) await Promise.all([this.observations.drain(), this.clients.drain()]);
    clearTimeout(over);
    this.counters.dropped += this.waitingRows;
    this.controlPlane.close();
  }

  private drop(rows: number): void {
    this.counters.dropped += rows;
    this.droppedSince += rows;
  }

  private keep(list: string[], line: string): void {
    if (this.isClosing || this.waitingBytes + line.length > (this.options.queueBytesMax ?? 64 * 1024 * 1024)) {
      this.drop(1);
      return;
    }
    list.push(line);
    this.waitingBytes += line.length;
  }

  private kick(): void {
    if (this.sending !== null || this.waitingRows + this.droppedSince === 0) return;
    this.sending = this.sendAll().finally(() => {
      this.sending = null;
    });
  }

  private async sendAll(): Promise<void> {
    while (!this.wake.signal.aborted) {
      const batch = (this.inFlight ??= this.takeBatch());
      if (batch === null) return;
      await this.deliver(batch);
      if (this.samples.length > 0) await this.sendSamples();
    }
  }

  /** Text is pasted together, not parsed and serialised again. */
  private takeBatch(): Batch | null {
    const { node, batchRowsMax = 5000 } = this.options;
    let bytes = 0;
    const take = (list: string[], rowsMax: number): string[] => {
      let count = 0;
      while (count < list.length && count < rowsMax && (count === 0 || bytes < batchBytesMax))
        bytes += (list[count++] as string).length;
      return list.splice(0, count);
    };
    const events = take(this.events, batchRowsMax);
    const requests = take(this.requests, batchRowsMax - events.length);
    const rows = events.length + requests.length;
    if (rows + this.droppedSince === 0) return null;
    this.waitingBytes -= bytes;
    const id = randomUUID();
    const body =
      `{"node":${JSON.stringify(node)},"batch_id":"${id}","dropped":${this.droppedSince},` +
      `"events":[${events.join(',')}],"requests":[${requests.join(',')}]}`;
    this.droppedSince = 0;
    return { id, rows, bytes, body };
  }

  /** Again and again, the same batch under the same id, until it is stored, refused for good, or time is up. */
  private async deliver(batch: Batch): Promise<void> {
    for (let waitMs = retryMinMs; !this.wake.signal.aborted; waitMs = Math.min(retryMaxMs, waitMs * 2)) {
      const answer = await this.controlPlane.post('/api/dataplane/records', batch.body, this.wake.signal);
      if (answer.status === 200) {
        this.settle(batch, answer.text);
        this.inFlight = null;
        return;
      }
      // a batch that does not fit will never fit; a token, a route or a database can be fixed
      if (answer.status === 400 || answer.status === 413 || answer.status === 422) {
        this.counters.refused += batch.rows;
        this.inFlight = null;
        this.complain(
          `the control plane refused ${batch.rows} records (${answer.status}): ${answer.text.slice(0, 300)}`,
        );
        return;
      }
      this.counters.retries += 1;
      const why = answer.status === 0 ? answer.text : `${answer.status}: ${answer.text.slice(0, 200)}`;
      this.complain(
        `the control plane does not take records (${why}); they wait, ` +
          'and beyond the queue they are dropped and counted',
      );
      await pause(Math.max(waitMs, Math.min(retryMaxMs, answer.retryAfterMs)), this.wake.signal);
    }
  }

  /** What is not told is taken for stored: that is what 200 says. */
  private settle(batch: Batch, text: string): void {
    const answer = readAnswer(text);
    const refused = Math.min(batch.rows, Number(answer['refused'] ?? 0) || 0);
    const sampledOut = Math.min(batch.rows - refused, Number(answer['sampled_out'] ?? 0) || 0);
    this.counters.refused += refused;
    this.counters.sampledOut += sampledOut;
    this.counters.shipped += batch.rows - refused - sampledOut;
    if (refused > 0)
      this.complain(
        `the database of the control plane would not have ${refused} of ${batch.rows} records; they are lost`,
      );
  }

  /** Once: a sample that gets lost is no loss. */
  private async sendSamples(): Promise<void> {
    const samples = this.samples;
    this.samples = [];
    const body = JSON.stringify({ node: this.options.node, samples });
    const answer = await this.controlPlane.post('/api/dataplane/samples', body, this.wake.signal);
    if (answer.status !== 200)
      this.complain(
        `the control plane did not take samples for replays (${answer.status === 0 ? answer.text : answer.status})`,
      );
  }

  /** The first of a series of problems is told, not each of them. */
  private complain(message: string): void {
    const nowMs = performance.now();
    if (nowMs - this.problemAtMs < problemEveryMs) return;
    this.problemAtMs = nowMs;
    this.options.onProblem(message);
  }
}

function readAnswer(text: string): Readonly<Record<string, unknown>> {
  try {
    return (JSON.parse(text) ?? {}) as Record<string, unknown>;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error; // some proxy on the way: it said 200 all the same
    return {};
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    if (signal.aborted) done();
    else signal.addEventListener('abort', done);
  });
}
