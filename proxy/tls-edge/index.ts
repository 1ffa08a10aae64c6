// The TLS edge: a port that ends TLS, tells clients apart by their handshakes (JA3, JA4), and hands requests of
// HTTP/1.1 and HTTP/2 to the same road as the plain port. node:tls does the handshake, node:http2 the frames, the own
// code of the `net` listener HTTP/1.1. What node:tls does not tell, the ClientHello, is read before it gets the socket.
import { createServer as createHttp2Server, type Http2Server, type ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import { createServer as createTlsServer, type Server as TlsServer, type TLSSocket } from 'node:tls';
import { Fronts, identify } from '../listeners/front/fronts.js';
import type { ClientTls, ConnectionFacts } from '../listeners/front/connection-facts.js';
import type { Listener, ListenerOptions } from '../listeners/listener.js';
import { Connection } from '../listeners/net/connection.js';
import type { NetExchange } from '../listeners/net/exchange.js';
import { FieldMemory } from '../listeners/net/field-memory.js';
import { DateField, headText } from '../listeners/net/response-text.js';
import { listenTcp } from '../listeners/net/tcp-port.js';
import { TimeLimits } from '../listeners/net/time-limits.js';
import { OpenRequests } from '../listeners/open-requests.js';
import type { Http2Excess } from '../metrics/families.js';
import { ActiveList } from '../worker/active-list.js';
import { Certificates, type CertificateSet, type TicketKeys } from './certificates/certificate-set.js';
import { ChallengeServer } from './challenges/challenge-server.js';
import type { ChallengeTable } from './challenges/challenge-table.js';
import { helloStep, type Hello, type HelloRefusal } from './hello-step.js';
import { Http2Connection, streamsMax } from './http2/connection.js';
import type { Http2Exchange } from './http2/exchange.js';

export interface TlsEdgeOptions extends Omit<ListenerOptions, 'share'> {
  readonly certificates: CertificateSet;
  readonly ticketKeys: TicketKeys;
  /** null: there are none yet. */
  readonly challenges: ChallengeTable | null;
  onHandshake(version: string, alpn: ClientTls['alpn']): void;
  onExcess(excess: Http2Excess, peerIp: string): void;
  shareOf(peerIp: string): number;
}

export interface TlsEdge extends Listener {
  /** For handshakes from now on; connections keep theirs. */
  replaceCertificates(set: CertificateSet): void;
  replaceChallenges(table: ChallengeTable): void;
}

/** How often connections of HTTP/2 are looked at for excess. */
const weighEveryMs = 500;
/** Fields of a head that are counted before the road's own limit is looked at (limits.header_fields_max has 1,000). */
const headerPairsMax = 1100;
/** What the library may hold for a connection: heads, frames, bodies that nobody has read yet. */
const sessionMegabytesMax = 16;

/** A connection of TCP is known by its ends: what was read of it before node:tls made another socket of it. */
const keyOf = (socket: Socket): string => `${socket.remoteAddress}|${socket.remotePort}|${socket.localAddress}`;

type Greeted = ConnectionFacts & { readonly hello: Hello };

/** Of a Host field: `a.example:8443`, `[2001:db8::1]:8443`. */
const hostWithoutPort = (host: string): string => host.replace(/:\d*$/, '');

class Edge {
  readonly open = new OpenRequests<NetExchange | Http2Exchange>();
  readonly fronts = new Fronts();
  readonly connections = new ActiveList<Connection>();
  readonly sessions = new ActiveList<Http2Connection>();
  readonly limits = new TimeLimits<Connection>();
  readonly sessionLimits = new TimeLimits<Http2Connection>();
  private readonly date = new DateField();
  private readonly fields = new FieldMemory();
  private readonly greeted = new Map<string, Greeted>();
  private readonly shaking = new Set<Socket>();
  private readonly tls: TlsServer;
  private readonly http2: Http2Server;
  private certificates: Certificates;
  readonly challenges = new ChallengeServer();
  private readonly weigher: NodeJS.Timeout;

  constructor(private readonly options: TlsEdgeOptions) {
    this.certificates = new Certificates(options.certificates, options.ticketKeys);
    if (options.challenges !== null) this.challenges.replace(options.challenges);
    this.tls = this.createTls();
    this.http2 = this.createHttp2();
    this.weigher = setInterval(() => {
      const nowMs = performance.now();
      for (const session of this.sessions.all()) session.weigh(nowMs);
    }, weighEveryMs).unref();
  }

  private createTls(): TlsServer {
    const { timeouts } = this.options;
    const server = createTlsServer({
      ALPNProtocols: ['h2', 'http/1.1'],
      minVersion: 'TLSv1.2',
      handshakeTimeout: timeouts.clientHeadMs,
      SNICallback: (name, done) => done(null, this.certificates.find(name)),
    });
    this.setFallback(server, this.options.certificates);
    server.on('secureConnection', (socket: TLSSocket) => this.secured(socket));
    server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
      const reason = error.code === 'ERR_TLS_HANDSHAKE_TIMEOUT' ? 'slow' : 'handshake';
      this.options.onConnectionRefused?.(reason, this.greeted.get(keyOf(socket))?.clientIp ?? '', error.message);
      socket.destroy();
    });
    return server;
  }

  private setFallback(server: TlsServer, { fallback: { chain, key } }: CertificateSet): void {
    const ticketKeys = Buffer.from(this.options.ticketKeys);
    server.setSecureContext({
      cert: chain,
      key,
      minVersion: 'TLSv1.2',
      ticketKeys,
      sessionIdContext: 'gatehouse-edge',
    });
  }

  replaceCertificates(set: CertificateSet): void {
    this.certificates = new Certificates(set, this.options.ticketKeys);
    this.setFallback(this.tls, set);
  }

  private createHttp2(): Http2Server {
    const server = createHttp2Server({
      settings: { maxConcurrentStreams: streamsMax, maxHeaderListSize: 64 * 1024, enablePush: false },
      maxHeaderListPairs: headerPairsMax,
      maxSessionMemory: sessionMegabytesMax,
      maxSessionInvalidFrames: 100,
      maxSessionRejectedStreams: 100,
      maxSettings: 32,
      maxOutstandingPings: 10,
    });
    server.on('sessionError', () => {}); // the session closes with it
    return server;
  }

  /** A connection of TCP; `allowHalfOpen`. */
  take(socket: Socket): void {
    identify(socket, this.fronts, this.options, (facts) => {
      const step = helloStep(
        (hello) => this.greet(socket, { ...facts, hello }),
        (refusal) => this.refuse(socket, facts.clientIp, refusal),
      );
      this.fronts.read(socket, this.options.timeouts.clientHeadMs, step, () =>
        this.options.onConnectionRefused?.('slow', facts.clientIp, 'no ClientHello came in time'),
      );
    });
  }

  private refuse(socket: Socket, clientIp: string, { reason, detail, isHttp }: HelloRefusal): void {
    this.options.onConnectionRefused?.(reason, clientIp, detail);
    if (!isHttp) {
      socket.destroy();
      return;
    }
    const text = 'This port speaks TLS: use https://\n';
    const fields = ['Content-Type', 'text/plain', 'Content-Length', String(text.length), 'Connection', 'close'];
    socket.on('error', () => {}); // it is over either way
    socket.setTimeout(1000, () => socket.destroy());
    socket.resume();
    socket.end(`${headText(400, '', fields)}\r\n${text}`, 'latin1');
  }

  private greet(socket: Socket, facts: Greeted): void {
    if (facts.hello.isChallenge && this.challenges.knows(facts.hello.serverName)) {
      this.shaking.add(socket);
      socket.on('close', () => this.shaking.delete(socket));
      this.challenges.take(socket);
      return;
    }
    const key = keyOf(socket);
    this.greeted.set(key, facts);
    this.shaking.add(socket);
    socket.on('close', () => {
      this.shaking.delete(socket);
      if (this.greeted.get(key) === facts) this.greeted.delete(key);
    });
    this.tls.emit('connection', socket);
  }

  private secured(socket: TLSSocket): void {
    const greeted = this.greeted.get(keyOf(socket));
    if (greeted === undefined) {
      socket.destroy(); // it is gone already
      return;
    }
    const { hello, ...connection } = greeted;
    const alpn = socket.alpnProtocol === 'h2' || socket.alpnProtocol === 'http/1.1' ? socket.alpnProtocol : null;
    const version = socket.getProtocol() ?? '';
    const { ja3, ja4, serverName, given } = hello;
    const tls: ClientTls = { version, serverName, alpn, ja3, ja4, given, ...this.directionOf(serverName) };
    this.options.onHandshake(version, alpn);
    const facts = { ...connection, tls };
    if (alpn === 'h2') this.beginHttp2(socket, facts);
    else this.beginHttp1(socket, facts);
  }

  /** The certificates of the handshake, whatever takes their place later. A client that names nothing chose nothing. */
  private directionOf(serverName: string | null): Pick<ClientTls, 'isMisdirected'> {
    const { certificates } = this;
    if (serverName === null) return {};
    return { isMisdirected: (host) => certificates.areApart(serverName, hostWithoutPort(host)) };
  }

  private beginHttp1(socket: TLSSocket, facts: ConnectionFacts): void {
    const { options, limits, date, fields } = this;
    const open = this.open as OpenRequests<NetExchange>;
    const forget = (connection: Connection): void => this.connections.delete(connection);
    const home = { options, open, limits, date, fields, forget };
    this.connections.add(new Connection(socket, home, facts));
  }

  private beginHttp2(socket: TLSSocket, facts: ConnectionFacts & { readonly tls: ClientTls }): void {
    const { options, sessionLimits: limits } = this;
    const open = this.open as OpenRequests<Http2Exchange>;
    this.http2.once('session', (session: ServerHttp2Session) => {
      const connection = new Http2Connection(
        session,
        socket,
        {
          options,
          open,
          limits,
          onExcess: (excess, peerIp) => options.onExcess(excess, peerIp),
          shareOf: (peerIp) => options.shareOf(peerIp),
          forget: (one) => this.sessions.delete(one),
        },
        facts,
      );
      this.sessions.add(connection);
      if (this.open.isStopping) connection.leave();
    });
    this.http2.emit('connection', socket);
  }

  leave(): void {
    for (const session of this.sessions.all()) session.leave();
  }

  destroy(): void {
    clearInterval(this.weigher);
    this.fronts.destroyAll();
    for (const connection of this.connections.all()) connection.destroy();
    for (const session of this.sessions.all()) session.destroy();
    for (const socket of this.shaking) socket.destroy();
    this.limits.stop();
    this.sessionLimits.stop();
  }
}

export async function listenTlsEdge(options: TlsEdgeOptions): Promise<TlsEdge> {
  const edge = new Edge(options);
  const { port, stop } = await listenTcp(options, edge);
  return {
    port,
    stop,
    replaceCertificates: (set) => edge.replaceCertificates(set),
    replaceChallenges: (table) => edge.challenges.replace(table),
  };
}
