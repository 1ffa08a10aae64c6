// What is kept of a request that is through: its measures, a security event where rules, gates or a failure have
// something to say, and a line for the request log of the control plane.
import { raisedRuleId, type GivenValues, type RequestHead, type SecondOpinion, type Verdict } from '#engine';
import type { Decided, Decision } from '../admit/decision.js';
import type { PreparedGate } from '../admit/gate.js';
import type { Metrics } from '../metrics/metrics.js';
import { asError } from '../contract/errors.js';
import type { EventVerdict, SecurityEvent } from '../contract/index.js';
import { findField } from '../http/header-fields.js';
import type { Exchange } from '../listeners/listener.js';
import type { Action } from '../metrics/families.js';
import type { ReplySample } from '../observation/reply-sample.js';
import { observeFinished } from '../observation/observe-finished.js';
import type { RequestTrace } from '../records/request-trace.js';
import { toSecurityEvent } from '../records/security-event.js';
import { isSimulatedAddress } from '../simulation/mark.js';
import type { Generation } from '../worker/generation.js';
import type { RoadContext } from './context.js';
import type { RequestBody } from './request-body.js';
import type { RequestInspection } from './request-inspection.js';
import type { Site } from './route.js';

/** What ended a request, or would have, as records have it. */
export type Stop = NonNullable<SecurityEvent['interruption']>;

/** What records are made from. */
export interface FinishedRequest {
  readonly context: RoadContext;
  readonly generation: Generation;
  readonly exchange: Pick<Exchange, 'head' | 'framing' | 'tls'>;
  readonly requestId: string;
  readonly atMs: number;
  readonly startedMs: number;
  readonly site: Site | null;
  /** As inspected. */
  readonly head: RequestHead;
  /** null: there is none, or nobody asked for it. */
  readonly body: Pick<RequestBody, 'inspected'> | null;
  /** null: no rules looked at it. */
  readonly inspection: RequestInspection | null;
  /** Of gates, in their order. */
  readonly decisions: readonly Decided[];
  /** What gates told of it, for rules and for the sums of its principal; absent: nothing. */
  readonly given?: GivenValues;
  /** Gates that the site has; those behind one that ended the request were not asked. */
  readonly gates: readonly PreparedGate[];
  /** Rules or a gate ended it. */
  readonly isBlocked: boolean;
  /** They would have, or flagged it. */
  readonly isFlagged: boolean;
  /** Rules or gates other than that of specifications flagged it; absent: it was not. */
  readonly isSuspicious?: boolean;
  readonly stop: Stop | null;
  /** The gate that ended it, `rules`, or `inspection failed`; null or absent: none of them did. */
  readonly endedBy?: string | null;
  /** A copy of the answer, where discovery wants one. */
  replySample?: ReplySample | null | undefined;
  /** null or absent: it was not chosen to become a trace. */
  readonly trace?: RequestTrace | null;
  /** Of inspection or a gate. */
  readonly failure: Error | null;
  /** What the client got. */
  readonly response: { readonly status: number; readonly fields: readonly string[]; readonly bytes: number };
}

/** A gate's decision in the form of an interruption; null where no rule stands for it, or it would end nothing. */
export function stopOf(decision: Decision): Stop | null {
  if (decision.kind === 'flag' || decision.rule === null) return null;
  const { kind, rule } = decision;
  switch (kind) {
    case 'deny':
      return {
        ruleId: rule.id,
        action: decision.shape === 'close' ? 'drop' : 'deny',
        phase: 1,
        status: decision.status,
      };
    case 'throttle':
      return { ruleId: rule.id, action: 'throttle', phase: 1, status: 429 };
    case 'challenge':
      return { ruleId: rule.id, action: 'challenge', phase: 1, status: decision.status };
  }
}

/** Phase 5. */
export function finishInspection(request: {
  readonly inspection: RequestInspection | null;
  readonly context: RoadContext;
  failure: Error | null;
}): Verdict | null {
  try {
    return request.inspection === null ? null : request.inspection.finish();
  } catch (error) {
    // The answer is out already: nothing to decide any more, but never silent.
    request.failure = asError(error);
    request.context.metrics.count('engineErrors', { outcome: 'logging' });
    return null;
  }
}

/**
 * What a gate decided, in the figures: all of it. Records have less where a flood would fill them: a decision without a
 * rule is no event.
 */
export function countGate(
  metrics: Metrics,
  { name: gate, counter }: Pick<PreparedGate, 'name' | 'counter'>,
  decision: Decision,
  isEnforced: boolean,
  site: string,
): void {
  const outcome = isEnforced ? 'enforced' : 'recorded';
  if (counter !== undefined) metrics.count(counter);
  metrics.count('gateDecisions', { gate, decision: decision.kind, outcome });
  if (decision.kind === 'throttle') metrics.count('rateLimited', { site, zone: decision.zone, outcome });
}

/** Once, on every way out. */
export function recordFinished(request: FinishedRequest, verdict: Verdict | null, action: Action): void {
  const { context, inspection } = request;
  const { metrics } = context;
  const kind = kindOf(request, verdict);
  const site = request.site?.name ?? 'none';
  metrics.request(site, kind === 'flag' && action === 'served' ? 'flagged' : action);
  metrics.stage('request', (performance.now() - request.startedMs) / 1000);
  if (inspection !== null && inspection.tookMs > 0) metrics.stage('inspection', inspection.tookMs / 1000);
  const opinion = opinionOf(request, verdict);
  if (opinion !== null) metrics.count('secondOpinions', { site, decision: opinion.decision, mode: opinion.mode });
  const hasMatches =
    opinion !== null ||
    (verdict !== null && verdict.matched.length > 0) ||
    (inspection?.foreign?.messages.length ?? 0) > 0;
  // a flood is not recorded refusal by refusal; the report of a simulation needs each
  const isSimulation = action !== 'served' && isSimulatedAddress(request.head.clientIp);
  if (kind !== 'pass' || hasMatches || isSimulation) recordEvent(request, verdict, kind, site, action);
  if (context.requests?.hasRoom() === true) recordLine(request, verdict, kind, action, site);
  if (context.observer !== null && request.generation.config.apiDiscoveryEnabled)
    observeFinished(context.observer, request, action);
  if (context.clients !== null && request.generation.config.aiEnabled)
    context.clients.add(request, verdict, kind === 'flag', action);
}

/** The other thread ran phases 1 and 2 where there is one: its opinion stands. */
function opinionOf({ inspection }: FinishedRequest, verdict: Verdict | null): SecondOpinion | null {
  const foreign = inspection?.foreign ?? null;
  return foreign === null ? (verdict?.opinion ?? null) : foreign.opinion;
}

function kindOf(request: FinishedRequest, verdict: Verdict | null): EventVerdict {
  if (request.isBlocked) return 'block';
  if (request.failure !== null) return 'engine-error';
  const isFlagged = request.isFlagged || request.inspection?.foreign?.isFlagged === true;
  return isFlagged || verdict?.kind === 'flag' || verdict?.kind === 'block' ? 'flag' : 'pass';
}

/** A security event of this request. */
export function recordEvent(
  request: FinishedRequest,
  verdict: Verdict | null,
  kind: EventVerdict,
  site: string,
  action?: Action,
): void {
  const { context, generation, inspection, exchange, head, body, response } = request;
  const foreign = inspection?.foreign ?? null;
  if (verdict?.truncated === true || foreign?.truncated === true) context.metrics.count('inspectionTruncated');
  context.record(
    toSecurityEvent({
      requestId: request.requestId,
      atMs: request.atMs,
      site,
      generation,
      head: exchange.head,
      clientIp: head.clientIp,
      tls: exchange.tls ?? null,
      body: body?.inspected ?? null,
      status: response.status,
      responseHeaders: response.fields,
      verdict,
      foreign,
      decisions: request.decisions,
      asked: request.gates.map(({ name }) => name),
      interruption: request.stop,
      kind,
      ...(action === undefined ? {} : { action, endedBy: request.endedBy ?? null }),
      mode: request.site?.mode ?? generation.config.mode,
      inspectionUs: Math.round((inspection?.tookMs ?? 0) * 1000),
      error: request.failure?.message ?? null,
    }),
  );
}

/** The line for the control plane's request log. */
function recordLine(
  request: FinishedRequest,
  verdict: Verdict | null,
  kind: EventVerdict,
  action: Action,
  site: string,
): void {
  const { exchange, head, inspection, response } = request;
  const body = request.body?.inspected ?? null;
  request.context.requests?.record({
    atMs: request.atMs,
    requestId: request.requestId,
    site,
    generation: request.generation.id,
    clientIp: head.clientIp,
    method: head.method,
    uri: head.uri,
    status: response.status,
    action,
    kind,
    inboundScore: inspection?.foreign?.inboundScore ?? verdict?.inboundScore ?? 0,
    outboundScore: verdict?.outboundScore ?? 0,
    ruleIds: ruleIdsOf(request, verdict),
    userAgent: findField(head.headers, 'user-agent') ?? '',
    requestBytes: exchange.framing.kind === 'length' ? exchange.framing.bytes : (body?.length ?? 0),
    responseBytes: response.bytes,
    latencyUs: (performance.now() - request.startedMs) * 1000,
    inspectionUs: (inspection?.tookMs ?? 0) * 1000,
    tls: exchange.tls ?? null,
    trace: request.trace ?? null,
    head,
    body,
  });
}

function ruleIdsOf(request: FinishedRequest, verdict: Verdict | null): number[] {
  const { decisions, inspection } = request;
  const ids: number[] = [];
  const foreign = inspection?.foreign ?? null;
  for (const { decision } of decisions) if (decision.rule !== null) ids.push(decision.rule.id);
  if (foreign !== null) for (const { ruleId } of foreign.messages) ids.push(ruleId);
  // The other thread ran phases 1 and 2 as well: its findings stand for both.
  if (verdict !== null)
    for (const { rule, phase } of verdict.matched) if (foreign === null || phase > 2) ids.push(rule.id);
  if (request.stop?.ruleId === raisedRuleId) ids.push(raisedRuleId);
  return ids;
}
