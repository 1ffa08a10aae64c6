// The way back: the upstream's response is inspected (phase 3, and phase 4 where the rules ask for the body) and
// relayed as it came. Only a body that is to be inspected is held, up to a limit; streams never are.
import type { ProxyError } from '../contract/errors.js';
import { BodyCollector } from '../http/body-collector.js';
import { codingsOf, decodeBody } from '../http/decode-body.js';
import type { Journey } from './proxied-request.js';
import { findField, joinedField } from '../http/header-fields.js';
import type { TunnelClient } from '../listeners/listener.js';
import { isStream, relayedFields, relayedTrailers } from '../http/response-fields.js';
import type { Site } from './route.js';
import type { UpstreamHandler } from '../upstream/exchange.js';
import type { UpstreamHead } from '../upstream/response-head.js';

/** tunnel: a WebSocket; held: collected for phase 4; flowing: relayed. */
type State = 'waiting' | 'held' | 'inspecting' | 'flowing' | 'tunnel';

export class Reply implements UpstreamHandler {
  private state: State = 'waiting';
  private head: UpstreamHead | null = null;
  private fields: string[] = [];
  private readonly dispatchedMs = performance.now();
  private collector: BodyCollector | null = null;
  /** Bytes and the end that came while the held part was being decoded. */
  private late: Buffer[] = [];
  private isEnded = false;
  private trailers: readonly string[] | null = null;
  private client: TunnelClient | null = null;
  private earlyTunnel: Buffer[] = [];

  constructor(
    private readonly journey: Journey,
    private readonly site: Site,
  ) {}

  /** Ahead of everything a rule could say about the response: hints are about what comes, never the response itself. */
  onInterim(head: UpstreamHead): void {
    const { journey } = this;
    // 100 is this proxy's own business: what the client expected was answered before its body was read.
    if (journey.isOver || head.status === 100) return;
    journey.exchange.relayInterim(head.status, head.reason, relayedFields(head.headers, journey.requestId));
  }

  onHead(head: UpstreamHead): void {
    const { journey, site } = this;
    const { exchange } = journey;
    if (journey.isOver) return;
    this.head = head;
    journey.context.metrics.upstream(site.name, (performance.now() - this.dispatchedMs) / 1000);
    journey.status = head.status;
    this.fields = relayedFields(head.headers, journey.requestId);
    journey.replyFields = this.fields;
    const { inspection, config } = journey.generation;
    const { transaction } = journey;
    let wantsBody = false;
    if (transaction !== null && inspection !== null) {
      journey.inspect(site, () => {
        const interruption = inspection.inspector.responseHeaders(transaction, {
          status: head.status,
          protocol: head.protocol,
          headers: head.headers,
        });
        wantsBody = interruption === null && inspection.inspector.wantsResponseBody(transaction);
        return interruption;
      });
      if (journey.isOver) return;
    }
    if (head.status === 101) {
      this.joinTunnel(head);
      return;
    }
    if (head.bodyBytes === 0 && (exchange.head.method === 'HEAD' || head.status === 204 || head.status === 304)) {
      exchange.respondBodyless(head.status, head.reason, this.fields, head.declaredBytes);
      this.state = 'flowing';
      journey.isHeadRelayed = true;
      return;
    }
    if (wantsBody && !isStream(head.headers)) {
      this.state = 'held';
      this.collector = new BodyCollector(config.limits.responseBodyBytesMax);
    } else this.startRelay();
  }

  private startRelay(): void {
    const { head } = this;
    if (head === null) return;
    this.state = 'flowing';
    const { exchange } = this.journey;
    this.journey.isHeadRelayed = true;
    if (head.bodyBytes === null && exchange.relaysTrailers) {
      const announced = findField(head.headers, 'trailer');
      if (announced !== null) this.fields.push('Trailer', announced);
    }
    exchange.startResponse(head.status, head.reason, this.fields, head.bodyBytes);
  }

  onData(chunk: Buffer): void {
    const { journey } = this;
    if (journey.isOver) return;
    switch (this.state) {
      case 'flowing':
        journey.replyBytes += chunk.length;
        if (!journey.exchange.write(chunk)) journey.upstream?.pause();
        return;
      case 'held':
        this.hold(chunk);
        return;
      case 'inspecting':
        this.late.push(Buffer.from(chunk));
        return;
      case 'tunnel':
        this.sendToClient(chunk);
        return;
      case 'waiting':
    }
  }

  private hold(chunk: Buffer): void {
    const { collector, journey } = this;
    if (collector === null) return;
    const taken = collector.add(chunk);
    if (taken === chunk.length) return;
    // Over the limit: this part is inspected, the rest is relayed after it.
    this.late.push(Buffer.from(chunk.subarray(taken)));
    journey.upstream?.pause();
    this.inspectHeld(collector, this.head?.bodyBytes ?? collector.bytes + 1);
  }

  onEnd(trailers: readonly string[] | null): void {
    const { journey, collector } = this;
    this.isEnded = true;
    this.trailers = trailers;
    if (journey.isOver) return;
    switch (this.state) {
      case 'held':
        if (collector !== null) this.inspectHeld(collector, collector.bytes);
        return;
      case 'flowing':
        this.complete();
        return;
      case 'tunnel':
        this.client?.end();
        journey.finish('served');
        return;
      case 'waiting':
      case 'inspecting':
    }
  }

  private complete(): void {
    const { journey } = this;
    journey.exchange.endResponse(this.trailers === null ? null : relayedTrailers(this.trailers));
    journey.finish('served');
  }

  /** Phase 4 on what was held; decoded for the engine, relayed as it came. */
  private inspectHeld(collector: BodyCollector, wireBytes: number): void {
    this.collector = null;
    this.state = 'inspecting';
    const raw = collector.take();
    const codings = this.head === null ? [] : codingsOf(joinedField(this.head.headers, 'content-encoding'));
    if (raw === null || codings.length === 0) {
      this.inspectBytes(raw, raw, wireBytes);
      return;
    }
    const { metrics } = this.journey.context;
    if (codings === 'unknown') {
      metrics.count('waap_response_uninspected_total{reason="coding"}');
      this.inspectBytes(raw, null, wireBytes);
      return;
    }
    void decodeBody(raw, codings, this.journey.generation.config.limits.decodedBodyBytesMax).then((decoded) => {
      if (this.journey.isOver) return;
      if (decoded.isPartial) metrics.count('waap_inspection_truncated_total');
      // Nothing at all could be undone: what calls itself coded and is not, some clients show as it is.
      const bytes = decoded.bytes.length === 0 ? raw : decoded.bytes;
      this.inspectBytes(raw, bytes, decoded.isPartial ? bytes.length + 1 : bytes.length);
    });
  }

  private inspectBytes(raw: Buffer | null, bytes: Buffer | null, wireBytes: number): void {
    const { journey, site } = this;
    const { inspection } = journey.generation;
    const { transaction } = journey;
    if (transaction !== null && inspection !== null) {
      journey.inspect(site, () => inspection.inspector.responseBody(transaction, bytes, wireBytes));
      if (journey.isOver) return;
    }
    // All of it is here: a length can be told even where the upstream chunked, unless trailers need the chunks.
    if (this.head !== null && this.isEnded && this.late.length === 0 && this.trailers === null)
      this.head = { ...this.head, bodyBytes: raw?.length ?? 0 };
    this.startRelay();
    let isFlowing = true;
    if (raw !== null) this.late.unshift(raw);
    for (const chunk of this.late.splice(0)) {
      journey.replyBytes += chunk.length;
      isFlowing = journey.exchange.write(chunk) && isFlowing;
    }
    if (this.isEnded) this.complete();
    else if (isFlowing) journey.upstream?.resume();
  }

  onError(error: ProxyError): void {
    this.journey.failed(error);
  }

  onDrain(): void {
    this.journey.upstreamDrained();
  }

  private joinTunnel(head: UpstreamHead): void {
    const { journey } = this;
    const { upstream, exchange } = journey;
    if (!exchange.isUpgrade || upstream === null) {
      upstream?.abort();
      journey.answer(502, 'failed', true);
      return;
    }
    this.state = 'tunnel';
    journey.isHeadRelayed = true;
    const onAbort = (): void => {
      upstream.abort();
      journey.finish('served');
    };
    exchange.onAbort = onAbort; // named first: see Journey.take
    exchange.acceptTunnel({
      headers: this.fields,
      protocol: findField(head.headers, 'sec-websocket-protocol'),
      sendUpstream: (bytes) => upstream.write(bytes),
      unsentUpstreamBytes: () => upstream.unsentBytes,
      closeUpstream: () => {
        upstream.abort();
        journey.finish('served');
      },
      opened: (client) => {
        this.client = client;
        for (const bytes of this.earlyTunnel.splice(0)) client.send(bytes);
      },
    });
  }

  private sendToClient(chunk: Buffer): void {
    if (this.client === null) {
      this.earlyTunnel.push(Buffer.from(chunk));
      return;
    }
    if (!this.client.send(chunk)) this.journey.upstream?.pause();
  }
}
