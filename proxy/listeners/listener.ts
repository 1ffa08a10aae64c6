// What the road needs of an HTTP server, and nothing else. Three implementations, one contract suite
// (listener.contract.ts); where they differ is listed, with reasons, in `differences.ts`.
import type { Timeouts } from '../contract/index.js';
import type { RequestHead } from '#engine';
import type { Framing, Refusal } from '../http/framing.js';
import type { Page } from '../http/pages.js';
import type { SyntaxLimits } from '../http/request-syntax.js';
import type { ConnectionRefusal } from '../metrics/families.js';
import type { ClientTls } from './front/connection-facts.js';

/** One request and its response. Everything in `head` was copied: nothing refers to the server's own buffers. */
export interface Exchange {
  readonly head: RequestHead;
  readonly framing: Framing;
  /** Set when the framing or the syntax is not acceptable; the road answers it before anything else. */
  readonly refusal: Refusal | null;
  readonly isTls: boolean;
  /** What the TLS handshake of the connection said; null, or left out, on a plain one. */
  readonly tls?: ClientTls | null;
  /** A WebSocket handshake that can be carried on with `acceptTunnel`. */
  readonly isUpgrade: boolean;
  /** The tunnel carries the client's bytes untouched, so extensions negotiated end to end survive. */
  readonly tunnelsRawBytes: boolean;
  /** Trailers given to `endResponse` reach the client, if the body's length was unknown. */
  readonly relaysTrailers: boolean;
  /** The client went away, or its connection failed, before the response was complete. Called at most once. */
  onAbort: (() => void) | null;
  /** The client takes more bytes, after `write` returned false. */
  onDrain: (() => void) | null;
  /**
   * What comes is not the body that the head announced (chunks that are none). Whoever sets it answers, and the
   * connection ends with that; else the listener does (`onUnreadable`), and the request is aborted. Listeners whose
   * library answers by itself do not call it.
   */
  onBodyFault: ((reason: string) => void) | null;

  /**
   * Starts delivering the body. Must be called within `onRequest`, or the body is discarded; later only if `pauseBody`
   * was called within it, and `resumeBody` is then. Chunks are borrowed.
   */
  readBody(onChunk: (chunk: Buffer, isLast: boolean) => void): void;
  pauseBody(): void;
  resumeBody(): void;

  /** A whole response at once; Content-Length is written by the listener. `headers` without framing fields. */
  respond(status: number, headers: readonly string[], body: string | Buffer, closeConnection: boolean): void;
  /**
   * A 1xx response of the upstream, ahead of the response itself. Left out where it cannot be sent any more, or at all.
   */
  relayInterim(status: number, reason: string, headers: readonly string[]): void;
  /**
   * A response whose body follows: `bodyBytes` null = unknown (chunked). For HEAD, 204 and 304 use `respondBodyless`.
   */
  startResponse(status: number, reason: string, headers: readonly string[], bodyBytes: number | null): void;
  /** `declaredBytes` is announced and not sent (HEAD). */
  respondBodyless(status: number, reason: string, headers: readonly string[], declaredBytes: number | null): void;
  /** Borrowed bytes. False = the client is slow; wait for onDrain. */
  write(chunk: Buffer): boolean;
  /** Bytes given to `write` that the connection has not taken: how far a slow client has come. */
  readonly unsentBytes: number;
  /** `trailers`: flat, only fields that may stand there; for a body of unknown length, and where `relaysTrailers`. */
  endResponse(trailers: readonly string[] | null): void;
  /** Cuts the connection: the only honest end of a response that failed half-way. */
  close(): void;
  /** Answers the WebSocket handshake and joins the client's side to a tunnel. */
  acceptTunnel(tunnel: TunnelAcceptance): void;
}

/** The upstream's answer to a WebSocket handshake, to be given to the client; then bytes both ways. */
export interface TunnelAcceptance {
  /** The upstream's response headers, hop-by-hop ones removed. */
  readonly headers: readonly string[];
  readonly protocol: string | null;
  /** Sees messages of the client before the upstream has them; null = messages pass unseen. */
  readonly inspector: MessageInspector | null;
  readonly sendUpstream: (bytes: Buffer) => boolean;
  readonly unsentUpstreamBytes: () => number;
  readonly closeUpstream: () => void;
  /** The listener hands over its side. */
  readonly opened: (client: TunnelClient) => void;
}

/** Looks at whole messages of a WebSocket. */
export interface MessageInspector {
  /**
   * Of a message, all its fragments together; one of text that is longer closes the connection with 1009, and a binary
   * one is looked at in parts.
   */
  readonly messageBytesMax: number;
  /** False: the message is not to pass, and the connection ends with 1008. `message` is borrowed. */
  mayPass(message: Buffer, isBinary: boolean): boolean;
  /** What a longer binary message is by a part of it; `empty`: that is not known yet. */
  kindOfPart(part: Buffer, isFirst: boolean): 'text' | 'binary' | 'empty';
}
export interface TunnelClient {
  /** Raw WebSocket bytes from the upstream; borrowed. False = wait for onDrain. */
  send(bytes: Buffer): boolean;
  end(): void;
}

/** What a listener knows of bytes that are no request. */
export interface Unreadable {
  readonly reason: string;
  readonly clientIp: string;
}

export interface RequestHandler {
  onRequest(exchange: Exchange): void;
  /** What a parser refused before there was a request: the page that goes with 400, 408, 414, 431 or 505. */
  onUnreadable(status: number, found?: Unreadable): Page;
}

export interface ListenerOptions {
  readonly host: string;
  readonly port: number; // 0 = any free one
  /** Several threads of this process listen on the same port. */
  readonly sharedPort: boolean;
  /** Number of a socket that listens there already, for this listener alone; null or left out: it opens one. */
  readonly socket?: number | null;
  /** Of the generation that serves at the moment. */
  limits(): SyntaxLimits;
  /** Read at each wait, so that what changes them counts for open connections as well. */
  readonly timeouts: ClientTimeouts;
  readonly handler: RequestHandler;
  /** Whether a connection of this peer has to begin with a PROXY header (front/proxy-header.ts); left out: nobody's. */
  sendsProxyHeader?(peerIp: string): boolean;
  /** A connection was closed before anything on it could be a request. */
  onConnectionRefused?(reason: ConnectionRefusal, peerIp: string, detail: string): void;
  /** This worker among those that share the port; none where one serves alone. */
  readonly share?: ConnectionShare;
  /** Asked for each connection before it is read; absent: all are welcome. */
  readonly guard?: ConnectionGuard;
}

/** Waiting times that a listener enforces, ms. */
export type ClientTimeouts = Pick<Timeouts, 'clientHeadMs' | 'clientBodyIdleMs' | 'clientIdleMs' | 'clientWriteMs'>;

export interface ConnectionGuard {
  /** `address`: of the socket's peer. null: the connection is not to be served. Else called when it is over. */
  enter(address: string): (() => void) | null;
}

/** How many connections this worker has, beside the others. */
export interface ConnectionShare {
  opened(): void;
  closed(): void;
  /** It takes no more connections, and counts no more. */
  leave(): void;
  /** It has more than chance explains: one client is to come back, and so perhaps to another worker. */
  isCrowded(): boolean;
}

export interface Listener {
  readonly port: number;
  /**
   * Takes who is connected already, then nobody any more: `onClosed`, and the port is free. Connections that are kept
   * are served until nobody asks any more, each answer the last of its connection; resolves then, or when `drainMs`
   * passed, with every connection closed.
   */
  stop(drainMs: number, onClosed?: () => void): Promise<void>;
}

export type ListenerKind = 'net' | 'uws' | 'node';
