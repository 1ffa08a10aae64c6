// One request of an HTTP/2 connection and its response, behind the contract of all listeners.
import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { RequestHead } from '#engine';
import type { ClientTls } from '../../listeners/front/connection-facts.js';
import type { Exchange, TunnelAcceptance } from '../../listeners/listener.js';
import type { ActiveMember } from '../../worker/active-list.js';
import type { Http2Head } from './request-head.js';
import { http2Fields } from './response-fields.js';

const { NGHTTP2_CANCEL, NGHTTP2_INTERNAL_ERROR, NGHTTP2_NO_ERROR } = constants;

/** What an exchange needs of its connection. */
export interface Http2Home {
  readonly tls: ClientTls;
  /** A client that takes nothing of a response for so long is not waited for any longer. */
  readonly stallMs: number;
  /** So many bytes of a body were read. */
  took(bytes: number): void;
  /** The road is through with it, or its client went away. */
  ended(exchange: Http2Exchange): void;
}

export class Http2Exchange implements Exchange, ActiveMember {
  onAbort: (() => void) | null = null;
  onDrain: (() => void) | null = null;
  onBodyFault: ((reason: string) => void) | null = null;
  readonly isTls = true;
  readonly isUpgrade = false; // WebSockets over HTTP/2 (RFC 8441) are not offered; browsers take HTTP/1.1 for them
  readonly tunnelsRawBytes = true;
  readonly relaysTrailers = true;
  readonly framing: Http2Head['framing'];
  readonly refusal: Http2Head['refusal'];
  isOver = false;
  place = -1;
  private isExpectant: boolean;
  private isBodyOver = false;
  private receivedBytes = 0;
  private declaredBytes: number | null = null;
  private writtenBytes = 0;

  constructor(
    private readonly stream: ServerHttp2Stream,
    private readonly home: Http2Home,
    readonly head: RequestHead,
    { framing, refusal, isExpectant }: Http2Head,
  ) {
    this.framing = framing;
    this.refusal = refusal;
    this.isExpectant = isExpectant;
    stream.on('drain', () => this.onDrain?.());
    stream.on('end', () => {
      this.isBodyOver = true;
    });
  }

  get tls(): ClientTls {
    return this.home.tls;
  }

  readBody(onChunk: (chunk: Buffer, isLast: boolean) => void): void {
    const { stream, framing } = this;
    if (this.isExpectant && !stream.headersSent) stream.additionalHeaders({ ':status': 100 });
    this.isExpectant = false;
    const declared = framing.kind === 'length' ? framing.bytes : null;
    stream.on('data', (chunk: Buffer) => {
      this.receivedBytes += chunk.length;
      this.home.took(chunk.length);
      if (this.isOver) return;
      if (declared !== null && this.receivedBytes > declared) this.bodyFault('a body longer than its Content-Length');
      else onChunk(chunk, false);
    });
    stream.on('end', () => {
      if (this.isOver) return;
      if (declared !== null && this.receivedBytes !== declared)
        this.bodyFault('a body that is not as long as its Content-Length');
      else onChunk(Buffer.alloc(0), true);
    });
  }

  private bodyFault(reason: string): void {
    this.onBodyFault?.(reason);
    if (this.isOver) return;
    this.stream.close(constants.NGHTTP2_PROTOCOL_ERROR);
    this.gone();
  }

  pauseBody(): void {
    if (!this.isOver) this.stream.pause();
  }

  resumeBody(): void {
    if (!this.isOver) this.stream.resume();
  }

  respond(status: number, headers: readonly string[], body: string | Buffer, _closeConnection: boolean): void {
    if (this.isOver) return;
    const bytes = typeof body === 'string' ? Buffer.from(body, 'latin1') : body;
    const fields = this.fieldsOf(status, headers);
    fields['content-length'] = String(bytes.length);
    const isBodyless = this.head.method === 'HEAD' || bytes.length === 0;
    this.finish();
    if (!this.send(fields, { endStream: isBodyless })) return;
    if (!isBodyless) this.stream.end(bytes);
    this.endRequest();
  }

  private fieldsOf(status: number, headers: readonly string[]): OutgoingHttpHeaders {
    const fields = http2Fields(headers);
    fields[':status'] = status;
    return fields;
  }

  /** False: the client is gone, or the library does not take such fields; then the response ends here. */
  private send(fields: OutgoingHttpHeaders, how: { endStream?: boolean; waitForTrailers?: boolean }): boolean {
    const { stream } = this;
    if (stream.destroyed || stream.closed || stream.headersSent) return false;
    try {
      stream.respond(fields, how);
      return true;
    } catch {
      stream.close(NGHTTP2_INTERNAL_ERROR);
      return false;
    }
  }

  relayInterim(status: number, _reason: string, headers: readonly string[]): void {
    const { stream } = this;
    if (this.isOver || status === 101 || stream.headersSent || stream.destroyed || stream.closed) return;
    stream.additionalHeaders(this.fieldsOf(status, headers));
  }

  startResponse(status: number, _reason: string, headers: readonly string[], bodyBytes: number | null): void {
    if (this.isOver) return;
    const fields = this.fieldsOf(status, headers);
    this.declaredBytes = bodyBytes;
    if (bodyBytes !== null) fields['content-length'] = String(bodyBytes);
    this.send(fields, { waitForTrailers: bodyBytes === null });
  }

  respondBodyless(status: number, _reason: string, headers: readonly string[], declaredBytes: number | null): void {
    if (this.isOver) return;
    const fields = this.fieldsOf(status, headers);
    if (declaredBytes !== null && status !== 204) fields['content-length'] = String(declaredBytes);
    this.finish();
    if (this.send(fields, { endStream: true })) this.endRequest();
  }

  write(chunk: Buffer): boolean {
    const { stream } = this;
    if (this.isOver || chunk.length === 0 || stream.destroyed || stream.writableEnded) return true;
    this.writtenBytes += chunk.length;
    if (this.declaredBytes !== null && this.writtenBytes > this.declaredBytes) {
      this.close();
      return true;
    }
    return stream.write(Buffer.from(chunk)); // borrowed bytes, which the library holds until the client's window opens
  }

  get unsentBytes(): number {
    return this.stream.writableLength;
  }

  endResponse(trailers: readonly string[] | null): void {
    if (this.isOver) return;
    if (this.declaredBytes !== null && this.writtenBytes !== this.declaredBytes) {
      this.close();
      return;
    }
    const { stream } = this;
    this.finish();
    if (stream.destroyed || stream.closed) return;
    if (this.declaredBytes === null)
      stream.once('wantTrailers', () => {
        if (!stream.destroyed && !stream.closed) stream.sendTrailers(http2Fields(trailers ?? []));
      });
    stream.end();
    this.endRequest();
  }

  /**
   * The answer is said. What the client still sends of its request is not wanted (RFC 9113 section 8.1), and how long
   * it may take to fetch the answer is limited.
   */
  private endRequest(): void {
    const { stream } = this;
    stream.setTimeout(this.home.stallMs, () => stream.close(NGHTTP2_CANCEL));
    if (this.isBodyOver || stream.endAfterHeaders) return;
    const stopUpload = (): void => {
      if (!stream.destroyed && !this.isBodyOver) stream.close(NGHTTP2_NO_ERROR);
    };
    if (stream.writableFinished) stopUpload();
    else stream.once('finish', stopUpload);
  }

  close(): void {
    if (this.isOver) return;
    this.finish();
    this.stream.close(this.stream.headersSent ? NGHTTP2_INTERNAL_ERROR : NGHTTP2_CANCEL);
  }

  acceptTunnel(tunnel: TunnelAcceptance): void {
    tunnel.closeUpstream();
    this.close();
  }

  private finish(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.home.ended(this);
  }

  /** The client took it back, or went away. */
  gone(): void {
    if (this.isOver) return;
    this.finish();
    this.onAbort?.();
  }
}
