// The only way from a scan to its target. Every request passes the bounds, the budget, the rate and the stop button
// before the guarded way out of this server, which judges the address that it connects to. Redirects are answers.
import { ApiError } from '#http-kit';
import type { WayOut } from '../../host.js';
import { NotAllowed, ScanOver, type Exchange, type ScanRequest } from '../model.js';
import { isInWindow, judgeOf, type Bounds, type Judge } from './bounds.js';
import type { Budget, ClientCounts, Rate } from './pace.js';

export const runHeader = 'x-scan-run';
/** By what name scans ask: that of the installation, so that operators of targets know whose it is. */
export const scanAgent = ({ agent = 'Gatehouse' }: WayOut): string => `${agent}-Scan`;
const bytesMax = 2 * 1024 * 1024;
const timeoutMsDefault = 15_000;
/** So many failures one after another: the target is away. */
const failuresMax = 10;
const busyStatus: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const samplesOfBaseline = 10;

/** The target, or what stands before it, has no answer now. */
export const isBusy = (status: number): boolean => busyStatus.has(status);

const stoppedBy = ({ reason }: AbortSignal): ScanOver =>
  new ScanOver('stopped', typeof reason === 'string' ? reason : 'The scan was stopped.');

export interface ClientParts {
  readonly way: WayOut;
  readonly bounds: Bounds;
  readonly signal: AbortSignal;
  /** Stands in every request, so that the target's operator can tell whose it is. */
  readonly runId: string;
  readonly now: () => number;
  /** Shared with all that asks the same target. */
  readonly rate: Rate;
  readonly budget: Budget;
}

export class PoliteClient {
  readonly #parts: ClientParts;
  readonly #judge: Judge;
  #failures = 0;
  #baseline: number[] = [];

  constructor(parts: ClientParts) {
    this.#parts = parts;
    this.#judge = judgeOf(parts.bounds);
  }

  /** Of the whole run. */
  get counts(): ClientCounts {
    return this.#parts.budget.counts;
  }

  get signal(): AbortSignal {
    return this.#parts.signal;
  }

  /** null: it may be asked. */
  judge(url: string, method: ScanRequest['method']): ReturnType<Judge> {
    return this.#judge(url, method);
  }

  /** Throws NotAllowed for what is not sent, ScanOver where the run has ended; null: there was no answer. */
  async send(request: ScanRequest, timeoutMs = timeoutMsDefault): Promise<Exchange | null> {
    this.#requireAllowed(request);
    await this.#slot();
    return this.#deliver(request, timeoutMs);
  }

  /**
   * Sends these at the same moment, no more than the rate allows in a second: their turns are waited for first, and a
   * second of rest follows, so that no second has more requests than the rate.
   */
  async burst(requests: readonly ScanRequest[]): Promise<(Exchange | null)[]> {
    const { rate, bounds } = this.#parts;
    const sent = requests.slice(0, Math.max(1, bounds.perSecond));
    for (const request of sent) this.#requireAllowed(request);
    for (let turn = 0; turn < sent.length; turn++) await this.#slot();
    const answers = Promise.all(sent.map(async (request) => this.#deliver(request, timeoutMsDefault)));
    rate.rest(1);
    return answers;
  }

  #requireAllowed({ url, method }: ScanRequest): void {
    const refusal = this.#judge(url, method);
    if (refusal === null) return;
    this.counts.refused[refusal]++;
    throw new NotAllowed(refusal, `${method} ${url} is not asked: ${refusal.replaceAll('_', ' ')}`);
  }

  async #deliver(request: ScanRequest, timeoutMs: number): Promise<Exchange | null> {
    const { way, signal, runId } = this.#parts;
    const began = performance.now();
    try {
      const reply = await way.send(request.url, {
        method: request.method,
        headers: { 'user-agent': scanAgent(way), ...request.headers, [runHeader]: runId },
        ...(request.body === null ? {} : { body: request.body }),
        bytesMax,
        timeoutMs,
        keepsRedirects: true,
        signal,
      });
      const ms = performance.now() - began;
      this.#failures = 0;
      this.#heed(reply.status, ms, reply.headers['retry-after']);
      const { status, headers, cookies = [] } = reply;
      return { request, status, headers, cookies, body: reply.body.toString('utf8'), ms };
    } catch (error) {
      if (signal.aborted) throw stoppedBy(signal);
      if (!(error instanceof ApiError)) throw error;
      if (error.code === 'outbound_refused') throw new ScanOver('unreachable', error.message);
      this.counts.failed++;
      if (++this.#failures >= failuresMax) throw new ScanOver('unreachable', `The target is away: ${error.message}`);
      this.#slow();
      return null;
    }
  }

  /** Waits for the next moment at which a request may leave. */
  async #slot(): Promise<void> {
    const { bounds, signal, now, rate, budget } = this.#parts;
    this.#requireGoing();
    budget.take();
    await rate.turn(bounds.perSecond, signal);
    if (!isInWindow(bounds.windows, new Date(now())))
      throw new ScanOver('window', 'The time in which the target may be scanned is over.');
    this.#requireGoing();
  }

  #requireGoing(): void {
    const { signal, budget } = this.#parts;
    if (signal.aborted) throw stoppedBy(signal);
    budget.requireTime();
  }

  #slow(): void {
    this.counts.slowed++;
    this.#parts.rate.slow();
  }

  /** Slower while the target is busy, back to the rate by and by. */
  #heed(status: number, ms: number, retryAfter: string | undefined): void {
    const baseline = this.#baseline;
    if (baseline.length < samplesOfBaseline) baseline.push(ms);
    const usual = [...baseline].sort((left, right) => left - right)[baseline.length >> 1] ?? ms;
    // answers of attacks that make it wait are slow on purpose: those alone slow nothing down
    const isSlow = ms > Math.max(usual * 3, 250) && ms < 900;
    if (isBusy(status) || isSlow) {
      this.#slow();
      const seconds = Number(retryAfter);
      if (seconds > 0) this.#parts.rate.rest(seconds);
    } else this.#parts.rate.ease();
  }
}
