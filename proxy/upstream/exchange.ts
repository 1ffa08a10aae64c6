// What the road needs of an upstream, and nothing else: a request goes in, calls come back.
import type { ProxyError } from '../contract/errors.js';
import type { Resolve } from './addresses.js';
import type { UpstreamHead } from './response-head.js';

export interface UpstreamOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** Name for SNI and certificate checks. */
  readonly serverName: string;
  readonly verifyCertificate: boolean;
  readonly connectionsMax: number;
  readonly waitersMax: number;
  readonly connectTimeoutMs: number;
  readonly headTimeoutMs: number;
  readonly bodyIdleTimeoutMs: number;
  readonly keepAliveMs: number;
  /** A connection that is older takes no further request. */
  readonly maxAgeMs: number;
  /** The host's addresses are looked up again after this time, where no TTL says another. */
  readonly resolveMs: number;
  /** Default: as the system does. */
  readonly resolve?: Resolve;
}

export interface UpstreamRequest {
  readonly method: string;
  /** Request line and headers with the final blank line, latin1. */
  readonly head: string;
  /** The whole body when it is known; null when there is none or it is written with `write`. */
  readonly body: Buffer | null;
  /** More body follows through `write` and `end`: then nothing can be sent twice. */
  readonly isStreaming: boolean;
}

/** All calls come in order: onInterim…, onHead, onData…, then exactly one of onEnd and onError. */
export interface UpstreamHandler {
  /** A 1xx response other than 101. */
  onInterim(head: UpstreamHead): void;
  onHead(head: UpstreamHead): void;
  /** Borrowed bytes, valid during the call. */
  onData(chunk: Buffer): void;
  /** `trailers`: those behind a chunked body, as sent; null when there are none. */
  onEnd(trailers: readonly string[] | null): void;
  onError(error: ProxyError): void;
  /** The upstream takes more body again, after `write` returned false. */
  onDrain(): void;
  /**
   * Bytes per second of a client that the upstream waits for and that may have to give its connection to others; null
   * where it waits for nobody, or for nobody that slow. Absent: never.
   */
  readonly yieldingPace?: number | null;
  /** Others need the connection: the request is to end now. */
  giveWay?(): void;
}

/** A request under way; what the road holds on to. */
export interface UpstreamExchange {
  write(chunk: Buffer): boolean;
  end(): void;
  /** Stops and restarts the flow of the response (backpressure). */
  pause(): void;
  resume(): void;
  /** Bytes written and not yet taken by the upstream. */
  readonly unsentBytes: number;
  /** Its response lasts: the connection counts among `connectionsMax` no more, and ends behind it. */
  outlast(): void;
  /** Gives up: the connection is closed, no further call comes. */
  abort(): void;
}
