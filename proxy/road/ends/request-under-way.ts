// What a request on the road carries, and every way out of it. The steps that it takes are proxied-request.ts.
import { performance } from 'node:perf_hooks';
import type { GivenValues, RequestHead } from '#engine';
import type { Decided } from '../../admit/decision.js';
import type { LimitFields } from '../../admit/limits/fields.js';
import type { PreparedGate } from '../../admit/gate.js';
import type { ProxyError } from '../../contract/errors.js';
import type { Limits } from '../../contract/index.js';
import { findField } from '../../http/header-fields.js';
import type { Exchange } from '../../listeners/listener.js';
import type { Action, RefusalReason } from '../../metrics/families.js';
import type { Metrics } from '../../metrics/metrics.js';
import type { RequestTrace } from '../../records/request-trace.js';
import type { UpstreamExchange } from '../../upstream/exchange.js';
import { releaseGeneration, type Generation } from '../../worker/generation.js';
import { page, type Answer } from '../answers.js';
import { clientKey } from '../client-address.js';
import type { RoadContext } from '../context.js';
import { finishInspection, recordFinished, type FinishedRequest, type Stop } from '../finish.js';
import { hstsOf } from '../https/https-answers.js';
import type { SlowReason } from '../limits/relay.js';
import * as trouble from '../limits/report-trouble.js';
import { endSlowClient, endStandstill } from '../limits/slow-ends.js';
import type { Reply } from '../reply.js';
import type { RequestBody } from '../request-body.js';
import type { RequestInspection } from '../request-inspection.js';
import { ResponseWriter } from '../response-writer.js';
import type { Site } from '../route.js';

const nothing: readonly never[] = [];

/**
 * One request between its head and its last byte. `atMs` is the wall clock and `startedMs` the monotonic one, both in
 * milliseconds and both of the moment in which the head was complete.
 */
export class RequestUnderWay implements FinishedRequest {
  readonly generation: Generation;
  readonly atMs: number;
  readonly startedMs: number;
  head: RequestHead;
  requestId: string;
  site: Site | null = null;
  inspection: RequestInspection | null = null;
  body: RequestBody | null = null;
  readonly response: ResponseWriter = new ResponseWriter(this);
  upstream: UpstreamExchange | null = null;
  decisions: readonly Decided[] = nothing;
  gates: readonly PreparedGate[] = nothing;
  /** TX variables that gates found out, for rules. */
  given: GivenValues = nothing;
  isBlocked = false;
  isFlagged = false;
  isSuspicious = false;
  endedBy: string | null = null;
  stop: Stop | null = null;
  failure: Error | null = null;
  replySample: FinishedRequest['replySample'] = null;
  trace: RequestTrace | null = null;
  toldLimits: LimitFields | null = null;
  isOver = false;
  flight = -1; // its slot among the requests under way (worker/flight-table.ts)
  protected reply: Reply | null = null;

  constructor(
    readonly context: RoadContext,
    readonly exchange: Exchange,
  ) {
    this.generation = context.current();
    this.generation.inFlight += 1;
    this.startedMs = performance.now();
    this.atMs = context.now();
    this.head = exchange.head;
    this.requestId = context.makeRequestId(this.atMs);
  }

  /** Only over TLS (RFC 6797 section 7.2). */
  get hsts(): string | null {
    return this.exchange.isTls ? hstsOf(this.generation.config) : null;
  }

  get limits(): Limits {
    return this.generation.config.limits;
  }

  get client(): string {
    return clientKey(this.head.clientIp);
  }

  get yieldingUpload(): number | null {
    return this.body?.yieldingPace ?? null;
  }

  get metrics(): Metrics {
    return this.context.metrics;
  }

  protected get isBodyComplete(): boolean {
    return this.exchange.framing.kind === 'none' || this.body?.isComplete === true;
  }

  /** Not taken, before any rule has looked at it. */
  refuse(status: number, reason: RefusalReason, isLast: boolean): void {
    this.metrics.count('refused', { status: String(status), reason });
    this.endWith(page(status), 'refused', isLast);
  }

  /** An answer of ours, in place of the application's. `isLast`: the connection ends with it. */
  endWith(answer: Answer, action: Action, isLast = !this.isBodyComplete): void {
    if (this.isOver) return;
    this.response.give(answer, isLast);
    this.finish(action);
  }

  protected giveUpUpstream(): void {
    this.upstream?.abort();
    this.upstream = null;
  }

  /** Something failed on the way. */
  failed(error: ProxyError): void {
    if (this.isOver) return;
    trouble.reportUpstreamFailure(this, error);
    if (this.response.isBegun) this.cut('failed');
    else this.endWith(page(error.status), 'failed');
  }

  bodyStoodStill(who: 'client' | 'upstream'): void {
    endStandstill(this, who);
  }

  clientTooSlow(side: 'response' | 'request', reason: SlowReason): void {
    endSlowClient(this, side, reason);
  }

  clientDenied(): void {
    const { head, generation } = this;
    const { router } = this.context.current();
    const site = router.match(findField(head.headers, 'host') ?? '', head.uri)?.site ?? this.site;
    // As it was when the stream began, and as it is now: monitoring ends nothing, nor does a site without protection.
    const isHeld = this.gates === generation.admission.ofProtected && site?.mode !== 'DetectionOnly';
    if (this.isOver || !isHeld) return;
    this.endedBy = 'denied meanwhile';
    this.metrics.count('refused', { status: '403', reason: 'gate' });
    this.giveUpUpstream();
    this.cut('refused');
  }

  cut(action: Action): void {
    this.response.cut();
    this.finish(action);
  }

  protected clientGone(): void {
    if (this.isOver) return;
    this.upstream?.abort();
    this.response.status = 499;
    this.finish('aborted');
  }

  /** Step 11: phase 5, the record, the measures, the pin. */
  finish(action: Action): void {
    if (this.isOver) return;
    this.isOver = true;
    this.context.flights.end(this.flight);
    this.body?.release();
    this.reply?.release();
    recordFinished(this, finishInspection(this), action);
    releaseGeneration(this.generation);
  }
}
