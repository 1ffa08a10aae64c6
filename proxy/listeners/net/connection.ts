// One client connection: its requests one after another, each begun when the answer before it is out, what may come
// between and behind them, and how long each part of it may take. Bytes that nobody can take yet are held, up to a
// bound, and then the socket is not read any more.
import type { Socket } from 'node:net';
import type { RequestHead } from '#engine';
import type { Refusal } from '../../http/framing.js';
import { checkRequestHead, upgradeWithBody } from '../../http/request-syntax.js';
import type { ActiveMember } from '../../worker/active-list.js';
import { factsOf, type ConnectionFacts } from '../front/connection-facts.js';
import type { BorrowedReads } from './borrowed-reads.js';
import { ClientOutput } from './client-output.js';
import type { ConnectionHome } from './connection-home.js';
import { NetExchange, type Channel } from './exchange.js';
import { HeadParser, type ParsedHead } from './head-parser.js';
import { RequestBodyReader } from './request-body.js';
import { wishesOf } from './request-wishes.js';
import { hasField, headText } from './response-text.js';
import type { Timed } from './time-limits.js';

/** What a client may send ahead of its turn. */
const pendingBytesMax = 64 * 1024;
/** How long an answered client may go on sending, and how long it may take to close. */
const lingerMs = 5000;
/** Of a body behind its answer, read away to keep the connection; behind more of it that is closed. */
const unreadBytesMax = 1024 * 1024;
/** The road has the limit for bodies and answers 408; this one is behind it, for bodies that nobody reads. */
const bodyGraceMs = 2000;

const enum Phase {
  Head,
  Body,
  Answer, // the request is whole; its answer is under way
  Tunnel,
  Ending, // answered for the last time: what still comes is read away
}

type Wait = 'nothing' | 'first' | 'idle' | 'head' | 'body' | 'drain' | 'linger';
type OnChunk = (chunk: Buffer, isLast: boolean) => void;

const discard: OnChunk = () => {};

export class Connection implements Channel, Timed, ActiveMember {
  place = -1;
  dueMs = Number.POSITIVE_INFINITY;
  bucket = -1;
  bucketPlace = 0;
  private phase = Phase.Head;
  private readonly parser: HeadParser;
  private readonly output: ClientOutput;
  private exchange: NetExchange | null = null;
  private body: RequestBodyReader | null = null;
  private onChunk: OnChunk = discard;
  private onTunnelBytes: (bytes: Buffer) => void = () => {};
  /** Came and was not taken yet. */
  private pending: Buffer | null = null;
  private isRunning = false;
  private isPaused = false;
  private isReadStopped = false;
  private waitsFor: Wait = 'first';
  private takenBytes = 0;
  /** Read away of the body whose answer is out. */
  private unreadBytes = 0;

  constructor(
    private readonly socket: Socket,
    private readonly home: ConnectionHome,
    private readonly facts: ConnectionFacts = factsOf(socket),
    reads: BorrowedReads | null = null,
  ) {
    this.output = new ClientOutput(socket, facts.tls === null, () => this.isSlow());
    this.parser = new HeadParser(home.options.limits, home.fields);
    if (reads === null) socket.on('data', (chunk: Buffer) => this.received(chunk));
    else reads.onBytes = (chunk) => this.received(chunk);
    socket.on('drain', () => this.drained());
    socket.on('end', () => this.ended());
    socket.on('error', () => {}); // "close" follows
    socket.on('close', () => this.closed());
    this.await('first', home.options.timeouts.clientHeadMs);
  }

  private await(what: Wait, ms: number): void {
    this.waitsFor = what;
    this.home.limits.set(this, ms);
  }

  private awaitNothing(): void {
    this.waitsFor = 'nothing';
    this.home.limits.clear(this);
  }

  private awaitBody(): void {
    this.await('body', this.home.options.timeouts.clientBodyIdleMs + bodyGraceMs);
  }

  /** A client that takes nothing for so long is not waited for any longer. */
  private isSlow(): void {
    if (this.waitsFor === 'drain' || this.waitsFor === 'linger' || this.phase === Phase.Ending) return;
    this.takenBytes = this.output.sentBytes;
    this.await('drain', this.writeMs);
  }

  /** How long it may take nothing of its answer. */
  private get writeMs(): number {
    return this.home.options.timeouts.clientWriteMs ?? this.home.options.timeouts.clientIdleMs;
  }

  timedOut(): void {
    switch (this.waitsFor) {
      case 'head':
        this.refuseUnread(408, 'the request head did not come in time');
        return;
      case 'idle':
      case 'linger':
      case 'drain': {
        // Bytes of answers wait, and the client took some of them: it is slow, not gone.
        const { sentBytes, waitingBytes } = this.output;
        if (waitingBytes === 0 || sentBytes === this.takenBytes) break;
        this.takenBytes = sentBytes;
        this.await(this.waitsFor, this.writeMs);
        return;
      }
      default:
    }
    this.gone();
  }

  private received(chunk: Buffer): void {
    this.pending = this.pending === null ? chunk : Buffer.concat([this.pending, chunk]);
    if (this.waitsFor === 'body') this.awaitBody();
    this.run();
    // Borrowed: what has to wait would be another connection's bytes in a moment.
    if (this.pending?.buffer === chunk.buffer) this.pending = Buffer.from(this.pending);
  }

  /** Whoever does not read answers gets no further request begun. */
  private get isTaking(): boolean {
    if (this.phase === Phase.Head) return !this.socket.writableNeedDrain;
    if (this.phase === Phase.Answer) return false;
    return !this.isPaused;
  }

  private run(): void {
    if (this.isRunning) return;
    this.isRunning = true;
    while (this.pending !== null && this.isTaking) {
      const bytes: Buffer = this.pending;
      this.pending = null;
      const used = this.take(bytes);
      if (used < bytes.length) this.pending = bytes.subarray(used);
    }
    this.isRunning = false;
    this.regulate();
  }

  private regulate(): void {
    const isStopped =
      this.pending === null
        ? this.isPaused && this.phase !== Phase.Ending
        : this.isPaused || this.pending.length > pendingBytesMax;
    if (isStopped === this.isReadStopped) return;
    this.isReadStopped = isStopped;
    if (isStopped) this.socket.pause();
    else this.socket.resume();
  }

  private take(bytes: Buffer): number {
    switch (this.phase) {
      case Phase.Head:
        return this.takeHead(bytes);
      case Phase.Body:
        return this.takeBody(bytes);
      case Phase.Tunnel:
        this.onTunnelBytes(bytes);
        return bytes.length;
      case Phase.Answer:
      case Phase.Ending:
        return bytes.length;
    }
  }

  private takeHead(bytes: Buffer): number {
    const { parser } = this;
    const used = parser.push(bytes);
    if (parser.isDone) this.begin(parser.take() as ParsedHead, null);
    else if (parser.fault !== null) {
      const { status, reason } = parser.fault;
      const parsed = parser.take();
      if (parsed === null) this.refuseUnread(status, reason);
      else this.begin(parsed, { status, reason });
    } else if (this.waitsFor !== 'head') this.await('head', this.home.options.timeouts.clientHeadMs);
    return used;
  }

  /** A request. With `fault` it is none that can be taken: it is answered and recorded all the same. */
  private begin({ method, uri, protocol, headers }: ParsedHead, fault: Refusal | null): void {
    const { home } = this;
    const { clientIp, clientPort, serverIp, serverPort } = this.facts;
    const head: RequestHead = { method, uri, protocol, headers, clientIp, clientPort, serverIp, serverPort };
    const checked = checkRequestHead(method, uri, protocol, headers, home.options.limits(), true);
    const wishes = wishesOf(head, checked.framing);
    const isHandshakeWithBody = wishes.webSocketKey !== null && checked.framing.kind !== 'none';
    const refusal = fault ?? checked.refusal ?? (isHandshakeWithBody ? upgradeWithBody : null);
    const exchange = new NetExchange(this, home, head, checked.framing, refusal, wishes);
    home.open.add(exchange);
    this.exchange = exchange;
    this.onChunk = discard;
    this.awaitNothing();
    // What follows a refused head may be anything.
    if (refusal !== null) this.phase = Phase.Ending;
    else if (checked.framing.kind === 'none') this.phase = Phase.Answer;
    else {
      this.phase = Phase.Body;
      this.body = new RequestBodyReader(checked.framing);
      this.awaitBody();
    }
    home.options.handler.onRequest(exchange);
  }

  private takeBody(bytes: Buffer): number {
    const { body } = this;
    if (body === null) return bytes.length;
    const used = body.push(bytes, this.onChunk);
    if (this.exchange === null) this.unreadBytes += used;
    if (body.fault !== null) this.bodyFault(body.fault);
    else if (body.isDone && this.body === body) {
      this.body = null;
      this.onChunk = discard;
      if (this.exchange === null) this.next();
      else {
        this.phase = Phase.Answer;
        if (this.waitsFor === 'body') this.awaitNothing();
      }
    } else if (this.unreadBytes > unreadBytesMax && this.exchange === null) this.finishConnection();
    return used;
  }

  /** Behind it nothing can be found any more. */
  private bodyFault(reason: string): void {
    const { exchange } = this;
    this.body = null;
    this.phase = Phase.Ending;
    if (exchange === null) this.gone();
    else if (exchange.bodyFault(reason)) return;
    else if (exchange.isAnswerBegun) this.gone();
    else {
      exchange.aborted();
      this.exchange = null;
      this.refuseUnread(400, reason);
    }
  }

  /** Answered here, because there is no request that the road could answer. */
  private refuseUnread(status: number, reason: string): void {
    const { clientIp } = this.facts;
    const { headers, body } = this.home.options.handler.onUnreadable(status, { reason, clientIp });
    const length = `Content-Length: ${Buffer.byteLength(body)}\r\n`;
    const date = hasField(headers, 'date') ? '' : this.home.date.line;
    const head = headText(status, '', headers) + length + date;
    this.write(`${head}Connection: close\r\n\r\n${Buffer.from(body, 'utf8').toString('latin1')}`);
    this.finishConnection();
  }

  /** The last answer is out: what still comes is read away, so that no reset takes the answer from the client. */
  private finishConnection(): void {
    this.phase = Phase.Ending;
    this.isPaused = false;
    this.body = null;
    this.output.flush();
    this.socket.end();
    this.linger();
    this.run();
  }

  /** Whoever still takes its answer has the time for that. */
  private linger(): void {
    this.takenBytes = this.output.sentBytes;
    this.await('linger', this.output.waitingBytes > 0 ? this.writeMs : lingerMs);
  }

  private next(): void {
    this.phase = Phase.Head;
    this.isPaused = false;
    this.parser.reset();
    this.takenBytes = this.output.sentBytes;
    this.await('idle', this.home.options.timeouts.clientIdleMs);
  }

  private drained(): void {
    if (this.waitsFor === 'drain') {
      if (this.phase === Phase.Body && !this.isPaused) this.awaitBody();
      else this.awaitNothing();
    } else if (this.waitsFor === 'linger') this.await('linger', lingerMs);
    this.exchange?.onDrain?.();
    this.run();
  }

  private ended(): void {
    if (this.phase === Phase.Ending && this.exchange === null) return; // both sides have ended
    if (this.phase === Phase.Head && !this.parser.isBegun && this.pending === null) {
      this.output.flush();
      this.socket.end();
    } else this.gone();
  }

  /** The client is not there any more, or not wanted any more. */
  private gone(): void {
    const { exchange } = this;
    this.exchange = null;
    this.phase = Phase.Ending;
    this.socket.destroy();
    exchange?.aborted();
  }

  private closed(): void {
    this.home.limits.remove(this);
    this.home.forget(this);
    this.gone();
  }

  destroy(): void {
    this.gone();
  }

  // What an exchange asks of its connection (Channel).

  get tls(): ConnectionFacts['tls'] {
    return this.facts.tls;
  }

  write(text: string): boolean {
    return this.output.write(text);
  }

  writeBoth(text: string, bytes: Buffer): boolean {
    return this.output.writeBoth(text, bytes);
  }

  get waitingBytes(): number {
    return this.output.waitingBytes;
  }

  readBody(onChunk: OnChunk): void {
    this.onChunk = onChunk;
  }

  pauseReading(): void {
    this.isPaused = true;
    if (this.waitsFor === 'body') this.awaitNothing(); // who does not read cannot complain
    if (!this.isRunning) this.regulate();
  }

  resumeReading(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    if (this.waitsFor === 'nothing' && this.phase === Phase.Body) this.awaitBody();
    this.run();
  }

  answered(isLast: boolean): void {
    this.exchange = null;
    this.onChunk = discard;
    if (isLast) {
      this.finishConnection();
      return;
    }
    this.isPaused = false;
    const { body } = this;
    if (body !== null && !body.isDone) {
      this.unreadBytes = 0; // the rest of the request is read away
      this.output.flush();
      this.linger();
    } else {
      this.body = null;
      this.next();
    }
    this.run();
  }

  cut(isReset: boolean): void {
    this.exchange = null;
    this.phase = Phase.Ending;
    this.output.flush();
    // Over TLS an end without its closing message is no orderly one (RFC 8446 section 6.1).
    if (isReset && this.facts.tls === null) this.socket.resetAndDestroy();
    else this.socket.destroy();
  }

  beginTunnel(onBytes: (bytes: Buffer) => void): void {
    this.phase = Phase.Tunnel;
    this.onTunnelBytes = onBytes;
    this.awaitNothing();
    this.run();
  }

  end(): void {
    this.exchange = null;
    this.finishConnection();
  }
}
