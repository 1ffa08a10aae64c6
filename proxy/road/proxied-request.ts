// THE ROAD of a request, in one place. Each step is a method below, in this order (the numbers are those of
// ARCHITECTURE.md):
//   take → route → inspectHead → readBody → inspectBody → forward → (reply.ts: inspect and relay) → finish
// The generation is pinned once, at `take`: a swap in between changes nothing for this request. The head was copied by
// the listener and is what both the engine and the upstream get. `finish` runs exactly once on every way out.
import { isIP } from 'node:net';
import { performance } from 'node:perf_hooks';
import type { Interruption, RequestHead, Transaction, Verdict } from '#engine';
import { BodyCollector } from '../http/body-collector.js';
import type { EventVerdict } from '../contract.js';
import { decide, decideOnEngineError } from './decide.js';
import { ProxyError } from '../contract/errors.js';
import { toSecurityEvent } from '../records/events.js';
import { buildForwardHead } from './forward-head.js';
import { isTrusted, releaseGeneration, type Generation } from '../worker/generation.js';
import { findField, isFieldText, isToken, joinedField } from '../http/header-fields.js';
import type { ForeignVerdict } from '../inspection/inspection-pool.js';
import type { Exchange } from '../listeners/listener.js';
import type { Action } from '../metrics/metrics.js';
import { renderPage, type Page } from '../http/pages.js';
import { Reply } from './reply.js';
import type { BodyWatch, RoadContext } from './context.js';
import type { Site } from './route.js';
import { threatInterruption, threatRuleId } from '../main/threat-list.js';
import type { UpstreamExchange } from '../upstream/exchange.js';

/**
 * Bodies of unprotected sites up to this size are gathered: sent in one write, and sent again if a connection was
 * stale.
 */
const gatherBytesMax = 64 * 1024;
const lastChunk = Buffer.from('0\r\n\r\n', 'latin1');

export function handleRequest(context: RoadContext, exchange: Exchange): void {
  new Journey(context, exchange).take();
}

/**
 * The page for bytes that a listener's parser refused before there was a request: no head, no address, only the status.
 */
export function refuseUnreadable(context: RoadContext, status: number): Page {
  const requestId = context.makeRequestId(context.now());
  context.metrics.count(`waap_refused_total{status="${status}"}`);
  context.log('info', { requestId, status }, 'bytes that are no request were refused');
  return renderPage(status, requestId, { headers: [] });
}

/** An id from a trusted proxy: token characters only, of a length that logs and headers bear. */
function acceptableId(id: string | null): string | null {
  if (id === null || id.length < 8 || id.length > 128) return null;
  return isToken(id) ? id : null;
}

export class Journey implements BodyWatch {
  readonly generation: Generation;
  readonly atMs: number;
  requestId: string;
  readonly startedMs: number;
  site: Site | null = null;
  transaction: Transaction | null = null;
  inspectionMs = 0;
  status = 0;
  replyFields: readonly string[] = [];
  replyBytes = 0;
  isOver = false;
  /** The client has part of an answer: only cutting is left when something fails. */
  isHeadRelayed = false;

  private head: RequestHead;
  private target = '';
  private isFromTrustedProxy = false;
  private foreign: ForeignVerdict | null = null;
  private engineError: Error | null = null;
  private flagged: Interruption | null = null;
  private blocked: Interruption | null = null;
  private isListed = false;
  private body: Buffer | null = null;
  private collector: BodyCollector | null = null;
  /** Of the thread's budget for bodies; given back by `finish`. */
  private heldBytes = 0;
  /** Bytes beyond the inspected part, held until the upstream can have them (`partial` only). */
  private overflow: Buffer | null = null;
  private isBodyComplete: boolean;
  bodyAtMs = 0;
  /** The upstream has more of the request body than it takes, so the client is paused. */
  private isUpstreamFull = false;
  /** Among those whose body is still coming. */
  place = -1;
  upstream: UpstreamExchange | null = null;

  constructor(
    readonly context: RoadContext,
    readonly exchange: Exchange,
  ) {
    this.generation = context.current();
    this.generation.inFlight += 1;
    this.startedMs = performance.now();
    this.atMs = context.now();
    this.head = exchange.head;
    this.isBodyComplete = exchange.framing.kind === 'none';
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
    if (exchange.refusal !== null) {
      this.context.metrics.count(`waap_refused_total{status="${exchange.refusal.status}"}`);
      this.answer(exchange.refusal.status, 'refused', true);
      return;
    }
    if (this.generation.trusted !== null) this.believeProxy();
    this.route();
  }

  /** Behind a trusted proxy the client is the right-most address that is not itself a trusted proxy. */
  private believeProxy(): void {
    const { head } = this.exchange;
    if (!isTrusted(this.generation, head.clientIp)) return;
    this.isFromTrustedProxy = true;
    if (this.generation.config.acceptRequestId)
      this.requestId = acceptableId(findField(head.headers, 'x-request-id')) ?? this.requestId;
    // Several fields are one list: HAProxy adds its own field behind the one that the client sent.
    const hops = (joinedField(head.headers, 'x-forwarded-for') ?? '').split(',');
    for (let index = hops.length - 1; index >= 0; index -= 1) {
      const clientIp = (hops[index] as string).trim();
      if (isIP(clientIp) === 0) return; // not an address: what lies beyond it cannot be believed
      this.head = { ...head, clientIp };
      if (!isTrusted(this.generation, clientIp)) return;
    }
  }

  /** Step 3. */
  private route(): void {
    const { router } = this.generation;
    const routed = router.match(findField(this.head.headers, 'host') ?? '', this.head.uri);
    if (routed === null) {
      this.answer(404, 'refused', !this.isBodyComplete);
      return;
    }
    this.site = routed.site;
    this.target = routed.target;
    // A path that can be read in two ways gets no benefit from an unprotected site next to a protected one.
    const isInspected = routed.site.isProtected || (routed.isAmbiguous && router.hasProtected);
    if (isInspected) this.inspectHead(routed.site);
    if (!this.isOver) this.readBody(routed.site);
  }

  /** Step 4: the deny list, then phase 1. */
  private inspectHead(site: Site): void {
    const { inspection } = this.generation;
    if (this.context.threats.contains(this.head.clientIp)) {
      this.isListed = true;
      this.context.metrics.count('waap_threats_matched_total');
      this.settle(threatInterruption, site);
      if (this.isOver) return;
    }
    if (inspection === null) {
      this.engineFailed(new ProxyError('PXY_NO_RULESET', 'this site is protected and no ruleset is loaded'), site);
      return;
    }
    this.inspect(site, () => {
      const transaction = inspection.inspector.begin(this.head, {
        uniqueId: this.requestId,
        nowMs: this.atMs,
        store: this.context.store,
      });
      this.transaction = transaction;
      if (site.engineMode !== null && transaction.engineMode !== 'Off') transaction.engineMode = site.engineMode;
      return inspection.inspector.requestHeaders(transaction);
    });
  }

  /** Runs one phase, timed; what it throws is the engine's failure, what it returns is decided here. */
  inspect(site: Site, phase: () => Interruption | null): void {
    const startedMs = performance.now();
    let interruption: Interruption | null = null;
    try {
      interruption = phase();
    } catch (error) {
      this.inspectionMs += performance.now() - startedMs;
      this.engineFailed(error instanceof Error ? error : new Error(String(error)), site);
      return;
    }
    this.inspectionMs += performance.now() - startedMs;
    this.settle(interruption, site);
  }

  /** Step 5: the body, whole where it is to be inspected or small, else passed on as it comes. */
  private readBody(site: Site): void {
    const { framing } = this.exchange;
    if (framing.kind === 'none') {
      this.inspectBody(site, 0);
      return;
    }
    const { limits } = this.generation.config;
    const isInspected = this.transaction !== null;
    if (!isInspected && (framing.kind === 'chunked' || framing.bytes > gatherBytesMax)) {
      this.forward(site);
      if (this.isOver) return;
    } else {
      const bytesMax = isInspected ? limits.requestBodyBytesMax : gatherBytesMax;
      if (framing.kind === 'length' && framing.bytes > bytesMax && limits.requestBodyOverLimit === 'reject') {
        this.answer(413, 'refused', true);
        return;
      }
      this.collector = new BodyCollector(framing.kind === 'length' ? Math.min(framing.bytes, bytesMax) : bytesMax);
    }
    this.bodyAtMs = this.startedMs;
    this.context.readingBody.add(this);
    this.exchange.readBody((chunk, isLast) => this.takeChunk(site, chunk, isLast));
  }

  private takeChunk(site: Site, chunk: Buffer, isLast: boolean): void {
    if (this.isOver) return;
    this.bodyAtMs = performance.now();
    if (isLast) {
      this.isBodyComplete = true;
      this.context.readingBody.delete(this);
    }
    const { collector } = this;
    if (collector === null) {
      this.passOn(chunk, isLast);
      return;
    }
    const taken = collector.add(chunk);
    const { limits } = this.generation.config;
    if (!this.hold(collector.heldBytes, limits.heldBodyBytesMax)) return;
    if (taken < chunk.length) {
      if (limits.requestBodyOverLimit === 'reject') {
        this.answer(413, 'refused', true);
        return;
      }
      this.overflow = Buffer.from(chunk.subarray(taken));
      this.exchange.pauseBody();
    } else if (!isLast) return;
    const { framing } = this.exchange;
    this.collector = null;
    this.body = collector.take();
    this.inspectBody(
      site,
      this.overflow === null
        ? collector.bytes
        : framing.kind === 'length'
          ? framing.bytes
          : collector.bytes + this.overflow.length,
    );
  }

  /** False: all bodies together are too much, and this one is the one too many. */
  private hold(heldBytes: number, heldBytesMax: number): boolean {
    const { bodies, metrics } = this.context;
    bodies.heldBytes += heldBytes - this.heldBytes;
    this.heldBytes = heldBytes;
    if (bodies.heldBytes <= heldBytesMax) return true;
    metrics.count('waap_refused_total{status="503"}');
    this.answer(503, 'refused', true);
    return false;
  }

  /** More of a body that is not collected: to the upstream, or behind what is held while inspection runs elsewhere. */
  private passOn(chunk: Buffer, isLast: boolean): void {
    if (this.upstream === null) {
      this.overflow = this.overflow === null ? Buffer.from(chunk) : Buffer.concat([this.overflow, chunk]);
      return;
    }
    if (chunk.length > 0 && !this.sendBody(chunk)) this.holdBack();
    if (isLast) this.endBody();
  }

  /** The client waits until the upstream has taken what it has got. */
  private holdBack(): void {
    this.isUpstreamFull = true;
    this.exchange.pauseBody();
  }

  private sendBody(chunk: Buffer): boolean {
    const { upstream } = this;
    if (upstream === null) return false;
    if (this.exchange.framing.kind !== 'chunked') return upstream.write(chunk);
    return upstream.write(
      Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`, 'latin1'), chunk, Buffer.from('\r\n', 'latin1')]),
    );
  }

  private endBody(): void {
    if (this.exchange.framing.kind === 'chunked') this.upstream?.write(lastChunk);
    this.upstream?.end();
  }

  /** Step 6: phase 2, inline or on the pool's threads. */
  private inspectBody(site: Site, wireBytes: number): void {
    const { transaction, body } = this;
    const { inspection, config } = this.generation;
    if (transaction === null || inspection === null) {
      this.forward(site);
      return;
    }
    const { foreignInspector } = this.context;
    if (body !== null && foreignInspector !== null && body.length > config.limits.inlineInspectionBytesMax) {
      void this.inspectElsewhere(site, body, wireBytes);
      return;
    }
    this.inspect(site, () => inspection.inspector.requestBody(transaction, body, wireBytes));
    if (!this.isOver) this.forward(site);
  }

  private async inspectElsewhere(site: Site, body: Buffer, wireBytes: number): Promise<void> {
    const { foreignInspector } = this.context;
    if (foreignInspector === null) return;
    this.context.metrics.count('waap_inspections_offloaded_total');
    try {
      this.foreign = await foreignInspector.inspect(this.generation, {
        head: this.head,
        uniqueId: this.requestId,
        nowMs: this.atMs,
        body,
        wireBytes,
        engineMode: site.engineMode,
      });
    } catch (error) {
      // The pool thread died or its engine threw: decided like any failure of inspection.
      if (!this.isOver) this.engineFailed(error instanceof Error ? error : new Error(String(error)), site);
      if (!this.isOver) this.forward(site);
      return;
    }
    if (this.isOver) return;
    this.inspectionMs += this.foreign.tookMs;
    this.settle(this.foreign.interruption, site);
    if (!this.isOver) this.forward(site);
  }

  /** Step 7: what the engine says, under the site's mode. */
  private settle(interruption: Interruption | null, site: Site): void {
    switch (decide(interruption, site.mode)) {
      case 'forward':
        return;
      case 'flag':
        this.flagged ??= interruption;
        return;
      case 'block':
        this.block(interruption as Interruption);
    }
  }

  private block(interruption: Interruption): void {
    this.blocked = interruption;
    this.upstream?.abort();
    this.upstream = null;
    switch (interruption.action) {
      case 'drop':
        this.status = interruption.status;
        this.exchange.close();
        this.finish('blocked');
        return;
      case 'redirect':
        // The location comes from a rule's macros, hence from the request: line breaks in it would write header lines.
        if (interruption.data === '' || !isFieldText(interruption.data)) {
          this.answer(403, 'blocked', !this.isBodyComplete);
          return;
        }
        this.status = interruption.status >= 300 && interruption.status < 400 ? interruption.status : 302;
        this.replyFields = ['Location', interruption.data, 'Cache-Control', 'no-store', 'X-Request-Id', this.requestId];
        this.exchange.respond(this.status, this.replyFields, '', !this.isBodyComplete);
        this.finish('blocked');
        return;
      case 'deny':
        this.answer(
          interruption.status >= 400 && interruption.status < 600 ? interruption.status : 403,
          'blocked',
          !this.isBodyComplete,
        );
    }
  }

  engineFailed(error: Error, site: Site): void {
    this.engineError = error;
    const outcome = decideOnEngineError(site.failMode);
    this.context.metrics.count(`waap_engine_errors_total{outcome="${outcome === 'forward' ? 'open' : 'closed'}"}`);
    this.context.log(
      'error',
      { site: site.name, requestId: this.requestId, failMode: site.failMode, err: error.stack ?? error.message },
      'inspection failed',
    );
    this.dropTransaction();
    if (outcome === 'forward') return;
    this.upstream?.abort();
    this.upstream = null;
    this.answer(503, 'failed', !this.isBodyComplete);
  }

  /**
   * After a failure the transaction's state cannot be trusted: it is finished for its memory, its verdict is not used.
   */
  private dropTransaction(): void {
    const { transaction } = this;
    this.transaction = null;
    if (transaction === null) return;
    try {
      this.generation.inspection?.inspector.finish(transaction);
    } catch (error) {
      this.context.log(
        'error',
        { requestId: this.requestId, err: error instanceof Error ? error.message : String(error) },
        'a failed inspection could not be finished',
      );
    }
  }

  /** Step 8. */
  private forward(site: Site): void {
    const { exchange } = this;
    const { framing } = exchange;
    const isStreaming = framing.kind !== 'none' && (!this.isBodyComplete || this.overflow !== null);
    const length =
      framing.kind === 'none'
        ? null
        : isStreaming
          ? framing.kind === 'chunked'
            ? 'chunked'
            : framing.bytes
          : (this.body?.length ?? 0);
    const head = buildForwardHead(this.head, {
      site,
      target: this.target,
      requestId: this.requestId,
      isFromTrustedProxy: this.isFromTrustedProxy,
      isTls: exchange.isTls,
      peerIp: exchange.head.clientIp,
      body: length,
      isUpgrade: exchange.isUpgrade,
      keepsExtensions: exchange.tunnelsRawBytes,
      isInspected: this.transaction !== null,
      relaysTrailers: exchange.relaysTrailers,
    });
    const reply = new Reply(this, site);
    const onDrain = (): void => this.upstream?.resume(); // named first: see `take`
    exchange.onDrain = onDrain;
    this.upstream = this.context
      .poolFor(site, this.generation)
      .dispatch({ method: this.head.method, head, body: isStreaming ? null : this.body, isStreaming }, reply);
    if (!isStreaming) return;
    let isFlowing = true;
    if (this.body !== null) isFlowing = this.sendBody(this.body) && isFlowing;
    if (this.overflow !== null && this.overflow.length > 0) isFlowing = this.sendBody(this.overflow) && isFlowing;
    this.overflow = null;
    if (this.isBodyComplete) this.endBody();
    this.bodyAtMs = performance.now(); // until now the client waited for inspection
    if (this.isBodyComplete || isFlowing) exchange.resumeBody();
    else this.isUpstreamFull = true;
  }

  /** The upstream takes more of the request body. */
  upstreamDrained(): void {
    if (this.isOver) return;
    this.isUpstreamFull = false;
    this.bodyAtMs = performance.now();
    this.exchange.resumeBody();
  }

  /** A page of ours instead of the application's answer. */
  answer(status: number, action: Action, closeConnection: boolean): void {
    if (this.isOver) return;
    const page = renderPage(status, this.requestId, this.exchange.head);
    this.status = status;
    this.replyFields = page.headers;
    this.replyBytes = page.body.length;
    this.exchange.respond(status, page.headers, page.body, closeConnection);
    this.finish(action);
  }

  /** Something failed on the way. */
  failed(error: ProxyError): void {
    if (this.isOver) return;
    this.context.metrics.count(`waap_upstream_errors_total{code="${error.code}"}`);
    this.context.log(
      'warn',
      { site: this.site?.name, requestId: this.requestId, code: error.code, err: error.message },
      'upstream failed',
    );
    if (!this.isHeadRelayed) {
      this.answer(error.status, 'failed', !this.isBodyComplete);
      return;
    }
    this.exchange.close();
    this.finish('failed');
  }

  /**
   * Nothing came for too long. Who stood still: the client, the upstream that takes nothing, or inspection (which has
   * limits of its own).
   */
  bodyTimedOut(): void {
    if (this.isOver || (this.upstream === null && this.overflow !== null)) return;
    this.upstream?.abort();
    if (this.isUpstreamFull) {
      this.failed(new ProxyError('PXY_UPSTREAM_BODY_TIMEOUT', 'the upstream took no more of the request body'));
      return;
    }
    if (!this.isHeadRelayed) {
      this.answer(408, 'refused', true);
      return;
    }
    this.exchange.close();
    this.finish('aborted');
  }

  private clientGone(): void {
    if (this.isOver) return;
    this.upstream?.abort();
    this.status = 499;
    this.finish('aborted');
  }

  /** Step 10: phase 5, the record, the measures, the pin. */
  finish(action: Action): void {
    if (this.isOver) return;
    this.isOver = true;
    this.context.readingBody.delete(this);
    this.context.bodies.heldBytes -= this.heldBytes;
    const { metrics } = this.context;
    const verdict = this.finishTransaction();
    const kind = this.conclude(verdict);
    const siteName = this.site?.name ?? 'none';
    metrics.request(siteName, kind === 'flag' && action === 'served' ? 'flagged' : action);
    metrics.stage('request', (performance.now() - this.startedMs) / 1000);
    if (this.inspectionMs > 0) metrics.stage('inspection', this.inspectionMs / 1000);
    if (kind !== 'pass' || (verdict !== null && verdict.matched.length > 0) || (this.foreign?.messages.length ?? 0) > 0)
      this.record(verdict, kind, siteName);
    if (this.context.requests?.hasRoom() === true) this.recordRequest(verdict, kind, action, siteName);
    releaseGeneration(this.generation);
  }

  private finishTransaction(): Verdict | null {
    const { transaction } = this;
    const { inspection } = this.generation;
    this.transaction = null;
    if (transaction === null || inspection === null) return null;
    const startedMs = performance.now();
    try {
      return inspection.inspector.finish(transaction);
    } catch (error) {
      // The answer is out already: nothing to decide any more, but never silent.
      this.engineError = error instanceof Error ? error : new Error(String(error));
      this.context.metrics.count('waap_engine_errors_total{outcome="logging"}');
      return null;
    } finally {
      this.inspectionMs += performance.now() - startedMs;
    }
  }

  private conclude(verdict: Verdict | null): EventVerdict {
    if (this.blocked !== null) return 'block';
    if (this.engineError !== null) return 'engine-error';
    if (
      this.flagged !== null ||
      this.foreign?.isFlagged === true ||
      verdict?.kind === 'flag' ||
      verdict?.kind === 'block'
    )
      return 'flag';
    return 'pass';
  }

  /** The line for the control plane's request log. */
  private recordRequest(verdict: Verdict | null, kind: EventVerdict, action: Action, site: string): void {
    const { exchange, head, foreign } = this;
    const ruleIds: number[] = this.isListed ? [threatRuleId] : [];
    if (foreign !== null) for (const { ruleId } of foreign.messages) ruleIds.push(ruleId);
    if (verdict !== null)
      for (const { rule, phase } of verdict.matched) if (foreign === null || phase > 2) ruleIds.push(rule.id);
    this.context.requests?.record({
      atMs: this.atMs,
      requestId: this.requestId,
      site,
      generation: this.generation.id,
      clientIp: head.clientIp,
      method: head.method,
      uri: head.uri,
      status: this.status,
      action,
      kind,
      inboundScore: foreign?.inboundScore ?? verdict?.inboundScore ?? 0,
      outboundScore: verdict?.outboundScore ?? 0,
      ruleIds,
      userAgent: findField(head.headers, 'user-agent') ?? '',
      requestBytes: exchange.framing.kind === 'length' ? exchange.framing.bytes : (this.body?.length ?? 0),
      responseBytes: this.replyBytes,
      latencyUs: (performance.now() - this.startedMs) * 1000,
      inspectionUs: this.inspectionMs * 1000,
      head,
      body: this.body,
    });
  }

  private record(verdict: Verdict | null, kind: EventVerdict, site: string): void {
    if (verdict?.truncated === true || this.foreign?.truncated === true)
      this.context.metrics.count('waap_inspection_truncated_total');
    this.context.record(
      toSecurityEvent({
        requestId: this.requestId,
        atMs: this.atMs,
        site,
        generation: this.generation,
        head: this.exchange.head,
        clientIp: this.head.clientIp,
        body: this.body,
        status: this.status,
        responseHeaders: this.replyFields,
        verdict,
        foreign: this.foreign,
        isListed: this.isListed,
        interruption: this.blocked ?? this.flagged,
        kind,
        mode: this.site?.mode ?? this.generation.config.mode,
        inspectionUs: Math.round(this.inspectionMs * 1000),
        error: this.engineError?.message ?? null,
      }),
    );
  }
}
