// A request that the library reads, and its response that the library frames.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestHead } from '#engine';
import type { CheckedHead } from '../../http/request-syntax.js';
import type { TunnelAcceptance } from '../listener.js';
import type { OpenRequests } from '../open-requests.js';
import { statusLine } from '../status-text.js';
import { NodeExchange, noBytes } from './exchange.js';
import { headText } from './head-text.js';

/** How long an answered client may go on sending the request. */
const discardMsMax = 5000;

export class RequestExchange extends NodeExchange {
  readonly isUpgrade = false;
  private declaredBytes: number | null = null;
  private writtenBytes = 0;
  /** The client was told that its connection ends with this answer: what it sends behind it is no request any more. */
  isLastOfConnection = false;

  constructor(
    private readonly request: IncomingMessage,
    private readonly response: ServerResponse,
    head: RequestHead,
    checked: CheckedHead,
    /** It waits for 100 Continue before it sends its body. */
    private isExpectant: boolean,
    private readonly stallMs: number,
    open: OpenRequests<NodeExchange>,
  ) {
    super(head, checked, open);
    response.on('close', () => this.aborted());
    response.on('drain', () => {
      this.limitStall(0);
      this.onDrain?.();
    });
    response.on('error', () => this.aborted());
    request.on('error', () => this.aborted());
  }

  /** Only now: a request that is refused by its head need not send its body. */
  readBody(onChunk: (chunk: Buffer, isLast: boolean) => void): void {
    if (this.isExpectant) this.response.writeContinue();
    this.isExpectant = false;
    this.request.on('data', (chunk: Buffer) => {
      if (!this.isOver) onChunk(chunk, false);
    });
    this.request.on('end', () => {
      if (!this.isOver) onChunk(noBytes, true);
    });
  }
  pauseBody(): void {
    this.request.pause();
  }
  resumeBody(): void {
    this.request.resume();
  }

  private flat(headers: readonly string[], extra: readonly string[]): string[] {
    return extra.length === 0 ? (headers as string[]) : [...headers, ...extra];
  }

  respond(status: number, headers: readonly string[], body: string | Buffer, closeConnection: boolean): void {
    if (this.isOver) return;
    const bytes = typeof body === 'string' ? Buffer.from(body, 'latin1') : body;
    const extra = ['Content-Length', String(bytes.length)];
    // A client that was not told to go on may send its body or leave it: nothing that follows could be read with
    // certainty.
    this.isLastOfConnection = closeConnection || this.isExpectant || this.open.isStopping || this.open.isCrowded();
    if (this.isLastOfConnection) extra.push('Connection', 'close');
    this.finish();
    const { response } = this;
    const { socket } = response;
    const sent = this.head.method === 'HEAD' ? noBytes : bytes;
    const isRestComing = this.isRestComing;
    if (this.isLastOfConnection && isRestComing && socket !== null) {
      // The library would close the connection at once, and what the client is still sending would come back as a reset
      // that takes the answer away from it.
      socket.write(headText(status, '', [...headers, ...extra]), 'latin1');
      socket.end(sent);
    } else {
      this.writeHead(status, '', this.flat(headers, extra));
      response.end(sent);
    }
    if (isRestComing) this.discardRest();
  }

  private get isRestComing(): boolean {
    return !this.request.complete && (this.framing.kind !== 'none' || this.refusal !== null);
  }

  /** After an early answer: what is left of the request is read away for a while. */
  private discardRest(): void {
    const { request } = this;
    request.on('data', () => {});
    request.resume();
    setTimeout(() => {
      if (this.isLastOfConnection || !request.complete) request.socket.destroy();
    }, discardMsMax).unref();
  }

  /** The library waits for ever for a client that does not read: no byte taken for so long is the end. 0 = no limit. */
  private limitStall(stallMs: number): void {
    this.response.socket?.setTimeout(stallMs);
  }

  private writeHead(status: number, reason: string, headers: readonly string[]): void {
    if (!this.isRestComing && (this.open.isStopping || this.open.isCrowded())) {
      this.isLastOfConnection = true;
      this.response.shouldKeepAlive = false; // the library says so to the client, and closes behind the answer
    }
    const text = statusLine(status, reason).slice(4);
    this.response.writeHead(status, text, headers as unknown as string[]);
  }

  /** HTTP/1.0 knows neither chunks nor interim responses. */
  get relaysTrailers(): boolean {
    return this.request.httpVersionMinor === 1;
  }

  relayInterim(status: number, reason: string, headers: readonly string[]): void {
    const { response } = this;
    if (this.isOver || response.headersSent || response.socket === null || this.request.httpVersionMinor === 0) return;
    response.socket.write(headText(status, reason, headers), 'latin1');
  }

  startResponse(status: number, reason: string, headers: readonly string[], bodyBytes: number | null): void {
    if (this.isOver) return;
    this.declaredBytes = bodyBytes;
    this.writeHead(
      status,
      reason,
      bodyBytes === null ? headers : this.flat(headers, ['Content-Length', String(bodyBytes)]),
    );
    if (bodyBytes === null) this.response.flushHeaders();
  }

  respondBodyless(status: number, reason: string, headers: readonly string[], declaredBytes: number | null): void {
    if (this.isOver) return;
    this.writeHead(
      status,
      reason,
      declaredBytes !== null && status !== 204
        ? this.flat(headers, ['Content-Length', String(declaredBytes)])
        : headers,
    );
    this.finish();
    this.response.end();
    if (this.isRestComing) this.discardRest();
  }

  write(chunk: Buffer): boolean {
    if (this.isOver) return true;
    this.writtenBytes += chunk.length;
    // borrowed bytes; the library may hold them until the socket takes them
    const isFlowing = this.response.write(Buffer.from(chunk));
    if (!isFlowing) this.limitStall(this.stallMs);
    return isFlowing;
  }

  get unsentBytes(): number {
    return this.response.writableLength;
  }

  endResponse(trailers: readonly string[] | null): void {
    if (this.isOver) return;
    if (this.declaredBytes !== null && this.writtenBytes !== this.declaredBytes) {
      this.close();
      return;
    }
    this.finish();
    if (trailers !== null && this.declaredBytes === null) this.response.addTrailers(pairsOf(trailers));
    this.response.end();
    if (this.response.writableLength > 0) this.limitStall(this.stallMs);
    if (this.isRestComing) this.discardRest();
  }

  close(): void {
    if (this.isOver) return;
    this.finish();
    const { socket } = this.request;
    // Where the end of the connection is the end of the body, an orderly one would say that this was all.
    if (this.response.headersSent && this.declaredBytes === null && !this.response.chunkedEncoding)
      socket.resetAndDestroy();
    else socket.destroy();
  }

  acceptTunnel(tunnel: TunnelAcceptance): void {
    tunnel.closeUpstream();
    this.close();
  }
}

function pairsOf(fields: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index < fields.length; index += 2)
    pairs.push([fields[index] as string, fields[index + 1] as string]);
  return pairs;
}
