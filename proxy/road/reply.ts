// The way back: the upstream's response is inspected (phase 3, and phase 4 where the rules ask for the body) and
// relayed as it came. Only a body that is to be inspected is held, up to a limit; streams never are.
import type { ProxyError } from '../contract/errors.js';
import type { Limits } from '../contract/index.js';
import { BodyCollector } from '../http/body-collector.js';
import { codingsOf, decodeBody } from '../http/decode-body.js';
import { findField, joinedField } from '../http/header-fields.js';
import { isStream } from '../http/response-fields.js';
import type { Exchange } from '../listeners/listener.js';
import type { Action } from '../metrics/families.js';
import type { Metrics } from '../metrics/metrics.js';
import { masksReplies, replyMaskFor, type ReplyMask } from '../response-mask/reply-mask.js';
import type { RequestTrace } from '../records/request-trace.js';
import { sampleReply, type ReplySample } from '../observation/reply-sample.js';
import type { UpstreamExchange, UpstreamHandler } from '../upstream/exchange.js';
import { malformed, type UpstreamHead } from '../upstream/response-head.js';
import { page, type Answer } from './answers.js';
import { Relay, type RelayOwner, type RelayWorker, type SlowReason } from './limits/relay.js';
import { LeavingTunnel } from './limits/leaving-tunnel.js';
import type { OpenStream } from './limits/stream-places.js';
import type { ResponseWriter } from './response-writer.js';
import { messageInspectorOf, type HandshakenRequest } from './websocket-messages.js';

/** The request that this is the reply to. */
export interface RepliedRequest extends Omit<HandshakenRequest, 'exchange'> {
  readonly exchange: Pick<Exchange, 'head' | 'framing' | 'isUpgrade' | 'relaysTrailers' | 'onAbort' | 'acceptTunnel'>;
  readonly response: ResponseWriter;
  readonly upstream: UpstreamExchange | null;
  readonly limits: Limits;
  readonly metrics: Metrics;
  /** It was answered otherwise, or its client has gone: nothing of the reply is wanted any more. */
  readonly isOver: boolean;
  /** Phase 3; true: rules want to see the body. The request is over when they block. */
  inspectReplyHead(head: UpstreamHead): boolean;
  /** A gate let it pass as a preflight alone. */
  readonly isPreflight: boolean;
  replyToPreflight(head: UpstreamHead): void;
  /** A copy of the answer, where discovery wants one. */
  replySample?: ReplySample | null | undefined;
  readonly trace?: RequestTrace | null;
  readonly atMs: number;
  readonly isSuspicious: boolean;
  /** Phase 4, and what specifications declare. The request is over when either blocks. */
  inspectReplyBody(bytes: Buffer | null, wireBytes: number, head: UpstreamHead): void;
  upstreamDrained(): void;
  /** Whom limits count (client-address.ts). */
  readonly client: string;
  /** Bytes per second of a body that the upstream waits for, where others could have its connection; else null. */
  readonly yieldingUpload: number | null;
  refuse(status: number, reason: 'streams', isLast: boolean): void;
  /** It takes too little of its response, or sends too little of its body; the request ends. */
  clientTooSlow(side: 'response' | 'request', reason: SlowReason): void;
  /** Its client is denied by now: it is cut, where gates hold. */
  clientDenied(): void;
  failed(error: ProxyError): void;
  endWith(answer: Answer, action: Action, isLast: boolean): void;
  finish(action: Action): void;
}

/** tunnel: a WebSocket; held: collected for phase 4; flowing: relayed. */
type State = 'waiting' | 'held' | 'inspecting' | 'flowing' | 'tunnel';

export class Reply implements UpstreamHandler, RelayOwner, OpenStream {
  place = -1;
  private state: State = 'waiting';
  private head: UpstreamHead | null = null;
  private readonly dispatchedMs = performance.now();
  private collector: BodyCollector | null = null;
  /** Bytes and the end that came while the held part was being decoded. */
  private late: Buffer[] = [];
  private isEnded = false;
  private trailers: readonly string[] | null = null;
  private tunnelClient: LeavingTunnel | null = null;
  private earlyTunnel: Buffer[] = [];
  private relay: Relay | null = null;
  private mask: ReplyMask | null = null;
  private hasStreamPlace = false;

  constructor(
    private readonly request: RepliedRequest,
    private readonly site: string,
    private readonly worker: RelayWorker,
  ) {}

  /** Ahead of everything a rule could say about the response: hints are about what comes, never the response itself. */
  onInterim(head: UpstreamHead): void {
    const { request } = this;
    // 100 is this proxy's own business: what the client expected was answered before its body was read.
    if (request.isOver || head.status === 100 || request.isPreflight) return;
    request.response.interim(head);
  }

  onHead(head: UpstreamHead): void {
    const { request } = this;
    const { exchange, response } = request;
    if (request.isOver) return;
    this.head = head;
    request.trace?.enter('reply');
    request.metrics.upstream(this.site, (performance.now() - this.dispatchedMs) / 1000);
    response.prepare(head);
    const wantsBody = request.inspectReplyHead(head);
    if (request.isOver) return;
    if (request.isPreflight) {
      request.replyToPreflight(head);
      return;
    }
    if (head.status === 101) {
      if (this.takeStreamPlace()) this.joinTunnel(head);
      return;
    }
    if (head.bodyBytes === 0 && (exchange.head.method === 'HEAD' || head.status === 204 || head.status === 304)) {
      this.state = 'flowing';
      response.writeBodyless(head);
      return;
    }
    const lasts = head.bodyBytes === null && isStream(head.headers);
    if (lasts && !this.takeStreamPlace()) return;
    if (wantsBody && !isStream(head.headers)) {
      this.state = 'held';
      this.collector = new BodyCollector(request.limits.responseBodyBytesMax);
    } else this.startRelay(head.bodyBytes);
  }

  /** What lasts leaves the upstream's connections to others. False: there are too many of its kind, and it is over. */
  private takeStreamPlace(): boolean {
    const { request } = this;
    this.hasStreamPlace = this.worker.streams.take(request.client, request.limits.streamsMax);
    if (this.hasStreamPlace) {
      request.upstream?.outlast();
      this.worker.streams.open.add(this);
    } else {
      request.upstream?.abort();
      request.refuse(503, 'streams', true);
    }
    return this.hasStreamPlace;
  }

  private startRelay(bodyBytes: number | null): void {
    const { head } = this;
    if (head === null) return;
    this.state = 'flowing';
    const { exchange, response } = this.request;
    if (masksReplies(this.request)) this.startMask(head);
    const bytes = this.mask?.isDecoded === true ? null : bodyBytes;
    const mayHaveTrailers = bytes === null && exchange.relaysTrailers;
    response.begin(head, bytes, mayHaveTrailers ? findField(head.headers, 'trailer') : null);
    this.relay = new Relay(this, response, this.worker);
    sampleReply(this.request);
  }

  private startMask(head: UpstreamHead): void {
    const mask = replyMaskFor(head, {
      write: (chunk) => this.relay?.write(chunk),
      pause: () => this.request.upstream?.pause(),
      resume: () => this.request.upstream?.resume(),
      broken: () => this.request.failed(malformed('its body is none of its content coding')),
    });
    this.mask = mask;
    if (mask !== null) this.request.response.fields = mask.fields(this.request.response.fields);
  }

  get client(): string {
    return this.request.client;
  }
  get address(): string {
    return this.request.head.clientIp;
  }
  clientDenied(): void {
    const { tunnelClient } = this;
    this.request.clientDenied();
    // The library of uws has taken the connection of a WebSocket over; cutting the request does not reach it.
    if (this.isOver) tunnelClient?.end();
  }
  get limits(): Limits {
    return this.request.limits;
  }
  get isOver(): boolean {
    return this.request.isOver;
  }
  pauseUpstream(): void {
    this.mask?.hold(true);
    this.request.upstream?.pause();
  }
  resumeUpstream(): void {
    this.mask?.hold(false);
    this.request.upstream?.resume();
  }
  relayed(): void {
    this.request.finish('served');
  }
  clientTooSlow(reason: SlowReason): void {
    this.request.clientTooSlow('response', reason);
  }

  /** The client's connection takes more. */
  clientDrained(): void {
    if (this.relay === null) this.resumeUpstream();
    else if (!this.isOver) this.relay.drained();
  }

  get yieldingPace(): number | null {
    if (this.isOver) return null;
    return this.relay === null ? this.request.yieldingUpload : this.relay.yieldingPace;
  }

  giveWay(): void {
    this.request.clientTooSlow(this.relay === null ? 'request' : 'response', 'pressure');
  }

  /** The request is through. */
  release(): void {
    this.relay?.release();
    this.mask?.release();
    this.worker.streams.open.delete(this);
    if (this.hasStreamPlace) this.worker.streams.giveBack(this.request.client);
    this.hasStreamPlace = false;
  }

  onData(chunk: Buffer): void {
    const { request } = this;
    if (request.isOver) return;
    switch (this.state) {
      case 'flowing':
        this.pass(chunk);
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

  private pass(chunk: Buffer): void {
    this.request.replySample?.add(chunk);
    if (this.mask === null) this.relay?.write(chunk);
    else this.mask.write(chunk);
  }

  private hold(chunk: Buffer): void {
    const { collector, request } = this;
    if (collector === null) return;
    const taken = collector.add(chunk);
    if (taken === chunk.length) return;
    // Over the limit: this part is inspected, the rest is relayed after it.
    this.late.push(Buffer.from(chunk.subarray(taken)));
    request.upstream?.pause();
    this.inspectHeld(collector, this.head?.bodyBytes ?? collector.bytes + 1);
  }

  onEnd(trailers: readonly string[] | null): void {
    const { request, collector } = this;
    this.isEnded = true;
    this.trailers = trailers;
    if (request.isOver) return;
    switch (this.state) {
      case 'held':
        if (collector !== null) this.inspectHeld(collector, collector.bytes);
        return;
      case 'flowing':
        this.complete();
        return;
      case 'tunnel':
        this.tunnelClient?.end();
        request.finish('served');
        return;
      case 'waiting':
      case 'inspecting':
    }
  }

  private complete(): void {
    const { relay, mask } = this;
    if (relay !== null) {
      if (mask === null) relay.end(this.trailers);
      else mask.end(() => this.isOver || relay.end(this.trailers));
      return;
    }
    this.request.response.end(this.trailers);
    this.request.finish('served');
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
    const { metrics, limits } = this.request;
    if (codings === 'unknown') {
      metrics.count('responseUninspected', { reason: 'coding' });
      this.inspectBytes(raw, null, wireBytes);
      return;
    }
    void decodeBody(raw, codings, limits.decodedBodyBytesMax).then((decoded) => {
      if (this.request.isOver) return;
      if (decoded.isPartial) metrics.count('inspectionTruncated');
      // Nothing at all could be undone: what calls itself coded and is not, some clients show as it is.
      const bytes = decoded.bytes.length === 0 ? raw : decoded.bytes;
      this.inspectBytes(raw, bytes, decoded.isPartial ? bytes.length + 1 : bytes.length);
    });
  }

  private inspectBytes(raw: Buffer | null, bytes: Buffer | null, wireBytes: number): void {
    const { request } = this;
    if (this.head !== null) request.inspectReplyBody(bytes, wireBytes, this.head);
    if (request.isOver) return;
    // All of it is here: a length can be told even where the upstream chunked, unless trailers need the chunks.
    const isAllHere = this.isEnded && this.late.length === 0 && this.trailers === null;
    this.startRelay(isAllHere ? (raw?.length ?? 0) : (this.head?.bodyBytes ?? null));
    if (!this.isEnded) request.upstream?.resume(); // paused while this part was looked at; a slow client pauses it anew
    if (raw !== null) this.late.unshift(raw);
    for (const chunk of this.late.splice(0)) this.pass(chunk);
    if (this.isEnded) this.complete();
  }

  onError(error: ProxyError): void {
    this.request.failed(error);
  }

  onDrain(): void {
    this.request.upstreamDrained();
  }

  private joinTunnel(head: UpstreamHead): void {
    const { request } = this;
    const { upstream, exchange, response } = request;
    if (!exchange.isUpgrade || upstream === null) {
      upstream?.abort();
      request.endWith(page(502), 'failed', true);
      return;
    }
    this.state = 'tunnel';
    response.isBegun = true;
    const onAbort = (): void => {
      upstream.abort();
      request.finish('served');
    };
    exchange.onAbort = onAbort; // named first: see ProxiedRequest.take
    exchange.acceptTunnel({
      headers: response.fields,
      protocol: findField(head.headers, 'sec-websocket-protocol'),
      inspector: messageInspectorOf(request),
      sendUpstream: (bytes) => upstream.write(bytes),
      unsentUpstreamBytes: () => upstream.unsentBytes,
      closeUpstream: () => {
        upstream.abort();
        request.finish('served');
      },
      opened: (client) => {
        const tunnel = (this.tunnelClient = new LeavingTunnel(client));
        for (const bytes of this.earlyTunnel.splice(0)) tunnel.send(bytes);
        if (this.worker.streams.isLeaving) tunnel.goAway();
      },
    });
  }

  goAway(): void {
    this.tunnelClient?.goAway();
  }

  private sendToClient(chunk: Buffer): void {
    if (this.tunnelClient === null) {
      this.earlyTunnel.push(Buffer.from(chunk));
      return;
    }
    if (!this.tunnelClient.send(chunk)) this.request.upstream?.pause();
  }
}
