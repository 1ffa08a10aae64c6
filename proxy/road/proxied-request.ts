// THE ROAD of a request, in one place. Each step is a method below, in this order (the numbers are those of
// ARCHITECTURE.md):
//   take → route → admit → inspectHead → readBody → inspectBody → settle → forward → (reply.ts) → finish
// The generation is pinned once, at `take`: a swap in between changes nothing. The head was copied by the listener and
// is what the upstream gets; the engine gets it, too. `finish` runs exactly once on every way out.
import { performance } from 'node:perf_hooks';
import type { GivenValues, GivenVariable, Interruption, RequestHead } from '#engine';
import { askGates, type AskedRequest, type Pause } from '../admit/ask-gates.js';
import type { Decided, Decision } from '../admit/decision.js';
import type { PreparedGate } from '../admit/gate.js';
import { ProxyError } from '../contract/errors.js';
import type { Limits } from '../contract/index.js';
import { graphqlGate } from '../graphql/gate.js';
import { findField } from '../http/header-fields.js';
import type { ForeignInspector } from '../inspection/inspection-pool.js';
import type { Exchange } from '../listeners/listener.js';
import type { Action, RefusalReason } from '../metrics/families.js';
import type { Metrics } from '../metrics/metrics.js';
import { schemaGate, schemaStep, type SchemaStep } from '../schema/step.js';
import type { UpstreamExchange } from '../upstream/exchange.js';
import type { UpstreamHead } from '../upstream/response-head.js';
import { releaseGeneration, type Generation } from '../worker/generation.js';
import { actionOf, answerOfGate, answerOfRules, page, type Answer } from './answers.js';
import { acceptableRequestId, behindTrustedProxy, clientKey } from './client-address.js';
import type { RoadContext } from './context.js';
import { decide, decideOnFailure, decideOnGate } from './decide.js';
import { countGate, finishInspection, recordFinished, stopOf, type FinishedRequest, type Stop } from './finish.js';
import { forwardHeadOf } from './forward-head.js';
import type { SlowReason } from './limits/relay.js';
import * as trouble from './limits/report-trouble.js';
import { endSlowClient, endStandstill } from './limits/slow-ends.js';
import { Reply, type RepliedRequest } from './reply.js';
import { RequestBody, type BodyOwner } from './request-body.js';
import { RequestInspection } from './request-inspection.js';
import { ResponseWriter } from './response-writer.js';
import type { Site } from './route.js';
import { refuseBody, refuseRequest } from './unreadable.js';

const nothing: readonly never[] = [];

export function handleRequest(context: RoadContext, exchange: Exchange): void {
  const request = new ProxiedRequest(context, exchange);
  const { method, uri, clientIp } = request.head;
  request.flight = context.flights.begin(method, uri, clientIp, request.requestId);
  context.flights.enter(request.flight);
  request.take();
  context.flights.leave();
}

export class ProxiedRequest implements AskedRequest, BodyOwner, RepliedRequest, FinishedRequest {
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
  stop: Stop | null = null;
  failure: Error | null = null;
  replySample: FinishedRequest['replySample'] = null;
  isOver = false;
  flight = -1; // its slot among the requests under way (worker/flight-table.ts)
  private reply: Reply | null = null;
  private schema: SchemaStep | null = null;
  private target = '';
  private isFromTrustedProxy = false;
  private hasWaited = false;

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

  /** Steps 1 and 2: the listener has copied the head; one that is not acceptable ends here. */
  take(): void {
    const { exchange } = this;
    // Named first, on purpose: V8 takes a function literal that is assigned to a property for a method and places it in
    // the old generation at once. From there it keeps the whole request until the next full collection: half of what a
    // request allocates was copied twice for that.
    const onAbort = (): void => this.clientGone();
    exchange.onAbort = onAbort;
    const onBodyFault = (reason: string): void => refuseBody(this, reason);
    exchange.onBodyFault = onBodyFault;
    if (exchange.refusal !== null) refuseRequest(this, 'head', exchange.refusal.status, exchange.refusal.reason);
    else {
      if (this.generation.trusted !== null) this.believeProxies();
      this.head = this.context.simulations.read(this.head, this.atMs) ?? this.head;
      this.route();
    }
  }

  private believeProxies(): void {
    const { trusted, config } = this.generation;
    const head = behindTrustedProxy(this.exchange.head, trusted);
    if (head === null) return;
    this.isFromTrustedProxy = true;
    if (config.acceptRequestId) this.requestId = acceptableRequestId(head.headers) ?? this.requestId;
    this.head = head;
  }

  /** Step 3, and the order of the next. */
  private route(): void {
    const { router, admission } = this.generation;
    const host = findField(this.head.headers, 'host') ?? '';
    if (this.exchange.tls?.isMisdirected?.(host) === true) return this.refuse(421, 'misdirected', !this.isBodyComplete);
    const routed = router.match(host, this.head.uri);
    if (routed === null) return this.refuse(404, 'no_site', !this.isBodyComplete);
    const { site } = routed;
    this.site = site;
    if (this.context.loops.hasPassed(this.head, site.name)) {
      trouble.reportLoop(this);
      return this.refuse(508, 'loop', !this.isBodyComplete);
    }
    this.target = routed.target;
    // A path that can be read in two ways gets no benefit from an unprotected site next to a protected one.
    const isInspected = site.isProtected || (routed.isAmbiguous && router.hasProtected);
    this.gates = isInspected ? admission.ofProtected : admission.ofOthers;
    this.admit(site, isInspected, null);
  }

  /** Step 4: the gates, in the order of their table (admit/index.ts). */
  private admit(site: Site, isInspected: boolean, from: Pause | null): void {
    const pause = askGates(this, this.gates, site, from);
    if (pause !== null) {
      if (this.exchange.framing.kind !== 'none') this.exchange.pauseBody();
      this.hasWaited = true;
      void pause.until.then(() => this.goOn(() => this.admit(site, isInspected, pause)));
      return;
    }
    if (isInspected && !this.isOver) this.inspectHead(site);
    if (!this.isOver) this.readBody(site);
  }

  private goOn(step: () => void): void {
    if (this.isOver) return;
    this.context.flights.enter(this.flight);
    step();
    this.context.flights.leave();
  }

  give(name: GivenVariable, value: string): void {
    this.given = [...this.given, [name, value]];
  }

  /** Step 5: phase 1. */
  private inspectHead(site: Site): void {
    const { inspection } = this.generation;
    if (inspection === null) {
      const failure = new ProxyError('PXY_NO_RULESET', 'this site is protected and no ruleset is loaded');
      this.failedOpenOrClosed(failure, site, null);
      return;
    }
    const rules = new RequestInspection(inspection, this, site);
    this.inspection = rules;
    this.settle(rules.requestHead(this.context.store), site);
  }

  /** Step 6: the body, whole where it is to be inspected or small, else passed on as it comes. */
  private readBody(site: Site): void {
    const { exchange, context } = this;
    if (exchange.framing.kind === 'none') {
      this.inspectBody(site, 0);
      return;
    }
    const isInspected = this.inspection?.isOn === true;
    const body = new RequestBody(this, exchange, context, this.limits, this.startedMs, site);
    this.body = body;
    if (isInspected || !body.isLarge) body.collect(isInspected);
    else this.forward(site);
    if (!this.isOver) body.read();
    if (this.hasWaited && !this.isOver) exchange.resumeBody();
  }

  bodyTaken(wireBytes: number): void {
    this.goOn(() => this.inspectBody(this.site as Site, wireBytes));
  }

  /** Step 7: phase 2, inline or on the pool's threads. */
  private inspectBody(site: Site, wireBytes: number): void {
    const { inspection } = this;
    if (inspection !== null && inspection.isOn) {
      const { foreignInspector } = this.context;
      const bytes = this.body?.inspected ?? null;
      const { inlineInspectionBytesMax } = this.limits;
      if (bytes !== null && bytes.length > inlineInspectionBytesMax && foreignInspector !== null) {
        void this.inspectElsewhere(site, inspection, foreignInspector, bytes, wireBytes);
        return;
      }
      this.settle(inspection.requestBody(bytes, wireBytes), site);
    }
    this.fitThenForward(site);
  }

  private async inspectElsewhere(
    site: Site,
    inspection: RequestInspection,
    pool: ForeignInspector,
    bytes: Buffer,
    wireBytes: number,
  ): Promise<void> {
    this.metrics.count('inspectionsOffloaded');
    const interruption = await inspection.elsewhere(pool, this.generation, bytes, wireBytes);
    if (this.isOver) return;
    this.settle(interruption, site);
    this.fitThenForward(site);
  }

  /** Between steps 8 and 9: limits of GraphQL, and what the specifications of the site declare. */
  private fitThenForward(site: Site): void {
    const schema = this.isOver || this.inspection?.isOn !== true ? null : schemaStep(this.generation, site.name);
    this.schema = schema;
    const graphql = this.isOver ? null : (this.inspection?.graphql ?? null);
    if (graphql !== null) this.settleStep(graphqlGate(() => graphql.decide()));
    if (schema !== null && !this.isOver) this.settleStep(schemaGate(() => schema.request(this.head, this.body)));
    if (!this.isOver) this.forward(site);
  }

  private settleStep(step: PreparedGate): void {
    askGates(this, [step], this.site as Site, null);
    if (this.isOver) this.giveUpUpstream();
  }

  /** Step 8: what the engine says, under the site's mode; that it failed, under the site's fail mode. */
  private settle(interruption: Interruption | null, site: Site): void {
    const failure = this.inspection?.failure ?? null;
    if (failure !== null) return this.failedOpenOrClosed(failure, site, null);
    const decided = decide(interruption, site.mode);
    if (decided === 'flag') {
      this.isFlagged = true;
      this.stop ??= interruption;
    } else if (decided === 'block') {
      this.isBlocked = true;
      this.stop = interruption;
      this.giveUpUpstream();
      this.endWith(answerOfRules(interruption as Interruption), 'blocked');
    }
  }

  /** Step 8 for a gate. */
  settleGate(gate: PreparedGate, decision: Decision, site: Site): void {
    const enforced = decideOnGate(decision, site.mode);
    this.decisions = [...this.decisions, { gate: gate.name, decision }];
    countGate(this.metrics, gate, decision, enforced !== null, site.name);
    if (enforced === null) {
      this.isFlagged ||= decision.rule !== null;
      this.stop ??= stopOf(decision);
      return;
    }
    const answer = answerOfGate(enforced);
    this.isBlocked = enforced.rule !== null;
    this.stop = stopOf(enforced);
    if (answer.status >= 400) this.metrics.count('refused', { status: String(answer.status), reason: 'gate' });
    this.endWith(answer, actionOf(enforced));
  }

  /** Step 8 for inspection (`gate` null) or a gate that failed. */
  failedOpenOrClosed(error: Error, site: Site, gate: string | null): void {
    const { requestId, context } = this;
    const isOpen = decideOnFailure(site.failMode) === 'forward';
    this.failure = error;
    trouble.reportInspectionFailure(this, error, gate, isOpen);
    trouble.finishFailed(this.inspection, requestId, context);
    if (isOpen) return;
    this.giveUpUpstream();
    this.endWith(page(503), 'failed');
  }

  /** Step 9. */
  private forward(site: Site): void {
    const { exchange, body, target, isFromTrustedProxy } = this;
    const isStreaming = body !== null && body.isStreaming;
    const loopMark = this.context.loops.markOf(site.name);
    const head = forwardHeadOf(this, { site, target, isFromTrustedProxy, loopMark });
    const reply = new Reply(this, site.name, this.context);
    this.reply = reply;
    const onDrain = (): void => reply.clientDrained(); // named first: see `take`
    exchange.onDrain = onDrain;
    const request = { method: this.head.method, head, body: isStreaming ? null : (body?.bytes ?? null), isStreaming };
    const upstream = this.context.poolFor(site, this.generation).dispatch(request, reply);
    this.upstream = upstream;
    if (isStreaming) body.sendTo(upstream);
  }

  /** Step 10, for reply.ts: phase 3. */
  inspectReplyHead(head: UpstreamHead): boolean {
    const { inspection } = this;
    if (inspection === null || !inspection.isOn) return false;
    this.settle(inspection.responseHead(head), this.site as Site);
    return inspection.wantsResponseBody || (!this.isOver && this.schema?.wantsAnswer(head) === true);
  }

  /** Phase 4. */
  inspectReplyBody(bytes: Buffer | null, wireBytes: number, head: UpstreamHead): void {
    const { inspection, schema } = this;
    if (inspection?.isOn !== true) return;
    if (inspection.wantsResponseBody) this.settle(inspection.responseBody(bytes, wireBytes), this.site as Site);
    if (!this.isOver && schema !== null)
      this.settleStep(schemaGate(() => schema.answer(this.head.method, head, bytes, wireBytes === bytes?.length)));
  }

  upstreamDrained(): void {
    if (this.isOver) return;
    if (this.body === null)
      this.exchange.resumeBody(); // a tunnel
    else this.body.upstreamDrained();
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

  private get isBodyComplete(): boolean {
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

  private giveUpUpstream(): void {
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

  cut(action: Action): void {
    this.response.cut();
    this.finish(action);
  }

  private clientGone(): void {
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
