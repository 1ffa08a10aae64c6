// The port of nodes (NODES_PORT): TLS 1.3 with a certificate of our own CA. Without a certificate a node can join
// with a token and nothing else. With one it renews, sends what nodes send (`/api/dataplane/…`, answered by the API
// itself), and opens the tunnel over which the control plane reaches it.
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer, type AddressInfo, type Server as NetServer, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { tunnelProtocol } from '#proxy/contract';
import type { TunnelRegistry } from '../nodes/tunnels.js';
import type { Authority } from './authority.js';
import type { Enrolment } from './enrol.js';
import { answerNode } from './requests.js';
import type { EnrolledNode } from './store.js';

export interface DoorOptions {
  readonly host: string;
  readonly port: number;
  readonly authority: Authority;
  readonly enrolment: Enrolment;
  readonly tunnels: TunnelRegistry;
  /** The API, for what nodes send. */
  readonly route: (request: IncomingMessage, response: ServerResponse) => void;
  /** By which the API knows nodes. */
  readonly nodeToken: string;
  readonly now: () => number;
  readonly onProblem: (message: string) => void;
}

export interface Door {
  readonly port: number;
  readonly close: () => Promise<void>;
}

const certificateEveryMs = 86_400_000;
/** Connections that carry requests, at once: nodes need two each, and joining one. */
const connectionsMax = 5_000;
/** Connections without a certificate, at once. */
const strangersMax = 100;
/** Who joins asks one thing. */
const strangerMsMax = 30_000;
/** Connections that have not shaken hands, at once: all together, and of one address (nodes may share one). */
const waitingMax = 1000;
const waitingOfOneMax = 200;
const handshakeMsMax = 10_000;

/** Rejects where the port is taken. */
export async function openDoor(options: DoorOptions): Promise<Door> {
  const { authority, now, host, port, tunnels } = options;
  const context = async () => {
    const { certificate, key } = await authority.issueForServer(new Date(now()));
    // with the CA in the chain: a node that joins compares it with its token
    return { cert: `${certificate}\n${authority.certificate}`, key, ca: authority.certificate };
  };
  const server = createTlsServer({
    ...(await context()),
    requestCert: true,
    // gatehouse:ignore tls-not-verified certificates of clients are asked for, each request checks its own
    rejectUnauthorized: false, // who joins has none; each request says what it needs
    minVersion: 'TLSv1.3',
    handshakeTimeout: handshakeMsMax,
    ALPNProtocols: [tunnelProtocol, 'http/1.1'],
  });
  const connections = new Connections(options);
  server.on('tlsClientError', (_error, socket) => socket.destroy()); // scanners, and nodes whose connection broke
  const waiting = new Waiting();
  server.on('secureConnection', (socket) => {
    waiting.shook(socket);
    connections.take(socket);
  });
  const front = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => {}); // TLS hears of it, too
    if (waiting.take(socket)) server.emit('connection', socket);
    else socket.resetAndDestroy();
  });
  const timer = setInterval(() => {
    context().then(
      (next) => server.setSecureContext(next),
      (error: unknown) => options.onProblem(`the certificate of the node port was not renewed: ${String(error)}`),
    );
  }, certificateEveryMs).unref();
  await listen(front, host, port);
  return {
    port: (front.address() as AddressInfo).port,
    close: () =>
      new Promise<void>((resolve) => {
        clearInterval(timer);
        tunnels.close();
        front.close(() => resolve());
        connections.close();
        waiting.close();
      }),
  };
}

/**
 * In front of TLS: who connects and says nothing takes a descriptor of the control plane (CWE-774). Beyond the bounds a
 * connection is closed at once, and after `handshakeMsMax` (RFC 8446) in any case.
 */
class Waiting {
  private readonly ofAddress = new Map<string, number>();
  private readonly open = new Map<string, { readonly socket: Socket; readonly over: () => void }>();

  /** Whether it may shake hands. */
  take(socket: Socket): boolean {
    const address = socket.remoteAddress ?? '';
    const own = this.ofAddress.get(address) ?? 0;
    if (this.open.size >= waitingMax || own >= waitingOfOneMax) return false;
    const key = keyOf(socket);
    const late = setTimeout(() => socket.destroy(), handshakeMsMax).unref();
    this.ofAddress.set(address, own + 1);
    const over = (): void => {
      clearTimeout(late);
      if (!this.open.delete(key)) return;
      const left = (this.ofAddress.get(address) ?? 1) - 1;
      if (left > 0) this.ofAddress.set(address, left);
      else this.ofAddress.delete(address);
    };
    this.open.set(key, { socket, over });
    socket.once('close', over);
    return true;
  }

  shook(socket: Socket): void {
    this.open.get(keyOf(socket))?.over();
  }

  close(): void {
    for (const { socket } of this.open.values()) socket.destroy();
  }
}

const keyOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

function listen(server: NetServer, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error): void =>
      reject(new Error(`the port of nodes cannot listen on ${host}:${port}: ${error.message}`, { cause: error }));
    server.once('error', failed);
    server.listen(port, host, () => {
      server.off('error', failed);
      server.on('error', () => {}); // one connection could not be taken (no descriptor is left)
      resolve();
    });
  });
}

class Connections {
  private readonly http: Server;
  private readonly open = new Set<TLSSocket>();
  private strangers = 0;

  constructor(private readonly options: DoorOptions) {
    const { enrolment, route, nodeToken } = options;
    this.http = createHttpServer(
      { requestTimeout: 120_000, headersTimeout: 20_000, keepAliveTimeout: 65_000 },
      (request, response) =>
        void answerNode({ enrolment, route, nodeToken, nodeOf: (socket) => this.nodeOf(socket) }, request, response),
    );
  }

  take(socket: TLSSocket): void {
    socket.on('error', () => {}); // who uses the connection hears of its end
    const isStranger = !socket.authorized;
    if (this.open.size >= connectionsMax || (isStranger && this.strangers >= strangersMax)) {
      socket.destroy();
      return;
    }
    this.open.add(socket);
    if (isStranger) {
      this.strangers += 1;
      setTimeout(() => socket.destroy(), strangerMsMax).unref();
    }
    socket.once('close', () => {
      this.open.delete(socket);
      if (isStranger) this.strangers -= 1;
    });
    if (socket.alpnProtocol !== tunnelProtocol) this.http.emit('connection', socket);
    else if (isStranger) socket.destroy();
    else void this.takeTunnel(socket);
  }

  close(): void {
    for (const socket of this.open) socket.destroy();
  }

  private async takeTunnel(socket: TLSSocket): Promise<void> {
    socket.pause(); // what comes before the session reads is the session's
    const node = await this.nodeOf(socket).catch(() => null); // the database is away: it tries again
    if (node === null || socket.destroyed) socket.destroy();
    else this.options.tunnels.add(node.name, socket);
  }

  /** null: the certificate is not of a node of today. */
  private async nodeOf(socket: TLSSocket): Promise<EnrolledNode | null> {
    const certificate = socket.authorized ? socket.getPeerX509Certificate() : undefined;
    return certificate === undefined ? null : this.options.enrolment.nodeOf(certificate.serialNumber);
  }
}
