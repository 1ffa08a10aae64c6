// What is known of a connection before its first request: whose it is, and what its TLS handshake said.
import type { Socket } from 'node:net';
import type { GivenValues } from '#engine';

/** Of a connection that came in over TLS. */
export interface ClientTls {
  /** As node:tls names it: `TLSv1.2` or `TLSv1.3`. */
  readonly version: string;
  /** The name that the client asked for; latin1. null: none. */
  readonly serverName: string | null;
  /** What both agreed on; null: the client offered nothing, and gets HTTP/1.1. */
  readonly alpn: 'h2' | 'http/1.1' | null;
  /** 32 hexadecimal digits. */
  readonly ja3: string;
  /** 36 characters. */
  readonly ja4: string;
  /** The same two as TX variables; one array for all requests of the connection. */
  readonly given: GivenValues;
  /**
   * Whether a host, as a request names it, is not to be asked for over this connection: another certificate stands for
   * it than the one that the client was shown (RFC 9110 section 15.5.20). Left out: nobody knows.
   */
  readonly isMisdirected?: (host: string) => boolean;
}

export interface ConnectionFacts {
  readonly clientIp: string;
  readonly clientPort: number;
  readonly serverIp: string;
  readonly serverPort: number;
  readonly tls: ClientTls | null;
}

/** IPv4 addresses of an IPv6 socket as IPv4 (RFC 4291 section 2.5.5.2). */
const plain = (address: string | undefined): string =>
  address === undefined ? '' : address.startsWith('::ffff:') ? address.slice(7) : address;

/** Whose connection it is, as the system says. */
export const peerOf = (socket: Socket): string => plain(socket.remoteAddress);

/** Of a plain connection whose peer is the client. */
export function factsOf(socket: Socket): ConnectionFacts {
  return {
    clientIp: peerOf(socket),
    clientPort: socket.remotePort ?? 0,
    serverIp: socket.localAddress ?? '',
    serverPort: socket.localPort ?? 0,
    tls: null,
  };
}
