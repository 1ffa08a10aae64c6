// THE ROAD of a request, in one place. Each step is a method below, in this order (the numbers are those of
// ARCHITECTURE.md):
//   take → route → admit → inspectHead → readBody → inspectBody → settle → forward → (reply.ts) → finish
// The generation is pinned once, at `take`: a swap in between changes nothing. The head was copied by the listener and
// is what the upstream gets; the engine gets it, too. What a request carries, and every way out of it, is
// ends/request-under-way.ts: `finish` runs exactly once on each.
import type { GivenVariable, Interruption } from '#engine';
import { askGates, type AskedRequest, type Pause } from '../admit/ask-gates.js';
import type { Decision } from '../admit/decision.js';
import type { PreparedGate } from '../admit/gate.js';
import { preflightHead, preflightReply, preflightTarget } from '../admit/preflight.js';
import { LimitFields } from '../admit/limits/fields.js';
import { ProxyError } from '../contract/errors.js';
import { dashboardSite } from '../contract/site-names.js';
import { graphqlGate } from '../graphql/gate.js';
import { findField } from '../http/header-fields.js';
import type { ForeignInspector } from '../inspection/inspection-pool.js';
import type { Exchange } from '../listeners/listener.js';
import { traceOf } from '../records/request-trace.js';
import { schemaGate, schemaGateName, schemaStep, type SchemaStep } from '../schema/step.js';
import type { UpstreamHead } from '../upstream/response-head.js';
import { actionOf, answerOfGate, answerOfRules, page } from './answers.js';
import { acceptableRequestId, behindTrustedProxy } from './client-address.js';
import type { RoadContext } from './context.js';
import { decide, decideOnFailure, decideOnGate } from './decide.js';
import { RequestUnderWay } from './ends/request-under-way.js';
import { refuseBody, refuseRequest } from './ends/unreadable.js';
import { countGate, stopOf } from './finish.js';
import { forwardHeadOf } from './forward-head.js';
import * as trouble from './limits/report-trouble.js';
import { Reply, type RepliedRequest } from './reply.js';
import { RequestBody, type BodyOwner } from './request-body.js';
import { RequestInspection } from './request-inspection.js';
import type { Site } from './route.js';

export function handleRequest(context: RoadContext, exchange: Exchange): void {
  const request = new ProxiedRequest(context, exchange);
  const { method, uri, clientIp } = request.head;
  request.flight = context.flights.begin(method, uri, clientIp, request.requestId);
  context.flights.enter(request.flight);
  request.take();
  context.flights.leave();
}

export class ProxiedRequest extends RequestUnderWay implements AskedRequest, BodyOwner, RepliedRequest {
  private schema: SchemaStep | null = null;
  private target = '';
  private isFromTrustedProxy = false;
  private hasWaited = false;
  isPreflight = false;

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
    const { router, admission, config } = this.generation;
    const { https } = this.context;
    const proof = https.challengeOf(this.head);
    if (proof !== null) return this.endWith({ shape: 'text', status: 200, text: proof }, 'served');
    const host = findField(this.head.headers, 'host') ?? '';
    if (this.exchange.tls?.isMisdirected?.(host) === true) return this.refuse(421, 'misdirected', !this.isBodyComplete);
    const routed = router.match(host, this.head.uri);
    // logins are typed at the console: it is never plain where it has a certificate
    const location =
      config.httpsRedirect || routed?.site.name === dashboardSite
        ? https.redirectOf(this.head, config.httpsPort, this.exchange.isTls, this.isFromTrustedProxy)
        : null;
    if (location !== null) return this.endWith({ shape: 'redirect', status: 308, location }, 'served');
    if (routed === null) return this.refuse(404, 'no_site', !this.isBodyComplete);
    const { site } = routed;
    this.site = site;
    if (this.context.loops.hasPassed(this.head, site.name)) {
      trouble.reportLoop(this);
      return this.refuse(508, 'loop', !this.isBodyComplete);
    }
    this.target = routed.target;
    if (this.generation.config.otelTracesPercent > 0) this.trace = traceOf(this, this.isFromTrustedProxy);
    // A path that can be read in two ways gets no benefit from an unprotected site next to a protected one.
    const isInspected = site.isProtected || (routed.isAmbiguous && router.hasProtected);
    this.gates = isInspected ? admission.ofProtected : admission.ofOthers;
    this.admit(site, isInspected, null);
  }

  /** Step 4: the gates, in the order of their table (admit/index.ts). */
  private admit(site: Site, isInspected: boolean, from: Pause | null): void {
    this.trace?.enter('admit');
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

  passAsPreflight(): void {
    this.isPreflight = true;
  }

  tellLimit(policy: string, state: string | null): void {
    this.toldLimits ??= new LimitFields();
    this.toldLimits.add(policy, state);
  }

  /** Step 5: phase 1. */
  private inspectHead(site: Site): void {
    const { inspection } = this.generation;
    if (inspection === null) {
      const failure = new ProxyError('PXY_NO_RULESET', 'this site is protected and no ruleset is loaded');
      this.failedOpenOrClosed(failure, site, null);
      return;
    }
    this.trace?.enter('inspect_head');
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
    this.trace?.enter('read_body');
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
      this.trace?.enter('inspect_body');
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
      this.isFlagged = this.isSuspicious = true;
      this.stop ??= interruption;
    } else if (decided === 'block') {
      this.isBlocked = true;
      this.endedBy = 'rules';
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
      // what a specification does not declare is what discovery is to find
      this.isSuspicious ||= decision.rule !== null && gate.name !== schemaGateName;
      this.stop ??= stopOf(decision);
      return;
    }
    const answer = answerOfGate(enforced);
    this.isBlocked = enforced.rule !== null;
    this.endedBy = gate.name;
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
    this.endedBy = 'inspection failed';
    this.giveUpUpstream();
    this.endWith(page(503), 'failed');
  }

  /** Step 9. */
  private forward(site: Site): void {
    const { exchange, body, isFromTrustedProxy, isPreflight } = this;
    const target = isPreflight ? preflightTarget(this.target) : this.target;
    this.trace?.enter('forward');
    const isStreaming = body !== null && body.isStreaming;
    const loopMark = this.context.loops.markOf(site.name);
    const sent = isPreflight ? preflightHead(this.head) : this.head;
    const head = forwardHeadOf(this, { site, target, isFromTrustedProxy, loopMark }, sent);
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

  replyToPreflight({ status, bodyBytes }: UpstreamHead): void {
    if (bodyBytes !== 0) this.giveUpUpstream();
    this.endWith({ shape: 'preflight', status, headers: preflightReply(this.response.fields) }, 'served');
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
}
