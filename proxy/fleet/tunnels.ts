// Tunnels of a node: one outgoing TLS connection to every address of every control plane, over which that control plane
// sends the requests that it would send to the admin interface. The node needs no open port and no fixed address. A
// tunnel that ends is opened again, with jitter, so that the nodes of a control plane that restarts do not all come at
// once.
import { lookup } from 'node:dns/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Http2Server, type ServerHttp2Session } from 'node:http2';
import { isIP } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { tunnelProtocol, type IdentityStore } from './identity.js';

export interface TunnelOptions {
  readonly identity: Pick<IdentityStore, 'current' | 'tls'>;
  /** Answers as the admin interface does; who asks has been authenticated by the certificate. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  readonly log: (level: 'info' | 'warn', fields: object, message: string) => void;
  /** Shorter in tests. */
  readonly times?: Partial<TunnelTimes>;
}

export interface TunnelTimes {
  readonly retryMsMin: number;
  readonly retryMsMax: number;
  readonly connectMsMax: number;
  /** Between two pings; a ping that is not answered until the next one ends the tunnel. */
  readonly pingMs: number;
  /** Between two looks at the addresses behind names, and at the list of addresses. */
  readonly lookMs: number;
}

const timesDefault: TunnelTimes = {
  retryMsMin: 500,
  retryMsMax: 4_000, // a fleet has to be one ten seconds after a control plane is back, and a first try may be lost
  connectMsMax: 10_000,
  pingMs: 5_000,
  lookMs: 10_000,
};

/** Window of one stream and of a whole tunnel: an artifact of 40 MB must not take a round trip for every 64 KiB. */
const windowBytes = 4 * 1024 * 1024;

export interface TunnelState {
  readonly address: string;
  readonly connected: boolean;
  /** Why it is not; '' while it is. */
  readonly detail: string;
}

export class Tunnels {
  private readonly lanes = new Map<string, Lane>();
  private readonly server: Http2Server;
  private readonly times: TunnelTimes;
  private timer: NodeJS.Timeout | null = null;
  private isClosed = false;
  private whenUp: (() => void)[] = [];

  constructor(private readonly options: TunnelOptions) {
    this.times = { ...timesDefault, ...options.times };
    this.server = createServer({ settings: { initialWindowSize: windowBytes } }, (request, response) =>
      // the compatibility interface of node:http2 has what the handler uses of node:http
      options.handle(request as unknown as IncomingMessage, response as unknown as ServerResponse),
    );
    this.server.on('sessionError', () => {}); // the session ends, and its lane opens another one
  }

  begin(): void {
    const look = (): void => {
      void this.look().finally(() => {
        if (!this.isClosed) this.timer = setTimeout(look, this.times.lookMs).unref();
      });
    };
    look();
  }

  get states(): TunnelState[] {
    return [...this.lanes.values()].map(({ endpoint, isUp, detail }) => ({
      address: endpoint.name,
      connected: isUp,
      detail: isUp ? '' : detail,
    }));
  }

  /** Resolves when one control plane can reach this node, at the latest after `msMax`; says whether one can. */
  async untilUp(msMax: number): Promise<boolean> {
    const isUp = (): boolean => [...this.lanes.values()].some((lane) => lane.isUp);
    if (!isUp())
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, msMax);
        this.whenUp.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    return isUp();
  }

  close(): void {
    this.isClosed = true;
    if (this.timer !== null) clearTimeout(this.timer);
    for (const lane of this.lanes.values()) lane.close();
    this.lanes.clear();
    for (const resolve of this.whenUp.splice(0)) resolve();
  }

  /** Opens lanes to addresses that are new, and gives up those that no name leads to any more. */
  private async look(): Promise<void> {
    const wanted = new Map<string, Endpoint>();
    let isSure = true;
    for (const address of this.options.identity.current.addresses)
      for (const endpoint of await endpointsOf(address).catch(() => {
        isSure = false; // the name server is away: what is open stays
        return [];
      }))
        wanted.set(`${endpoint.host}:${endpoint.port}`, endpoint);
    if (this.isClosed) return;
    for (const [key, endpoint] of wanted)
      if (!this.lanes.has(key))
        this.lanes.set(key, new Lane(endpoint, this.options, this.times, this.server, () => this.tellUp()));
    for (const [key, lane] of this.lanes)
      if (isSure && !wanted.has(key) && !lane.isUp) {
        lane.close();
        this.lanes.delete(key);
      }
  }

  private tellUp(): void {
    for (const resolve of this.whenUp.splice(0)) resolve();
  }
}

interface Endpoint {
  /** As the operator wrote it, with the address behind it. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
}

/** Every address behind a name: a name of several control planes leads to all of them. */
async function endpointsOf(address: string): Promise<Endpoint[]> {
  const { hostname, port } = new URL(address);
  const bare = hostname.replace(/^\[|\]$/g, '');
  const of = (host: string): Endpoint => ({
    name: host === bare ? address : `${address} (${host})`,
    host,
    port: Number(port || 443),
  });
  if (isIP(bare) !== 0) return [of(bare)];
  return (await lookup(bare, { all: true })).map((one) => of(one.address));
}

/** One tunnel that is opened again whenever it ends. */
class Lane {
  isUp = false;
  detail = 'not tried yet';
  private socket: TLSSocket | null = null;
  private failures = 0;
  private timer: NodeJS.Timeout | null = null;
  private isClosed = false;

  constructor(
    readonly endpoint: Endpoint,
    private readonly options: TunnelOptions,
    private readonly times: TunnelTimes,
    private readonly server: Http2Server,
    private readonly onUp: () => void,
  ) {
    this.open();
  }

  close(): void {
    this.isClosed = true;
    if (this.timer !== null) clearTimeout(this.timer);
    this.socket?.destroy();
  }

  private open(): void {
    const { host, port } = this.endpoint;
    const socket = connect({
      ...this.options.identity.tls,
      host,
      port,
      ALPNProtocols: [tunnelProtocol],
      minVersion: 'TLSv1.3',
    });
    this.socket = socket;
    let reason = 'the connection was closed';
    const late = setTimeout(
      () => socket.destroy(new Error('it did not answer in time')),
      this.times.connectMsMax,
    ).unref();
    socket.setKeepAlive(true, 10_000).setNoDelay(true);
    socket.once('error', (error: NodeJS.ErrnoException) => (reason = error.code ?? error.message));
    socket.once('secureConnect', () => {
      clearTimeout(late);
      if (socket.alpnProtocol !== tunnelProtocol) socket.destroy(new Error('what answers there takes no tunnels'));
      else this.serve(socket);
    });
    socket.once('close', () => {
      clearTimeout(late);
      this.again(reason);
    });
  }

  private serve(socket: TLSSocket): void {
    const onSession = (session: ServerHttp2Session): void => {
      if (session.socket !== undefined) this.watch(session, socket);
    };
    this.server.once('session', onSession); // raised within the next statement
    this.server.emit('connection', socket);
    this.server.off('session', onSession);
  }

  private watch(session: ServerHttp2Session, socket: TLSSocket): void {
    session.setLocalWindowSize(windowBytes);
    let isWaiting = false;
    // A first answer to a ping says that the control plane took the tunnel: it closes those of revoked nodes.
    const ping = (): void => {
      if (isWaiting) {
        socket.destroy(new Error('it stopped answering'));
        return;
      }
      if (session.destroyed) return;
      isWaiting = true;
      session.ping((error) => {
        if (error !== null) return;
        isWaiting = false;
        this.noteUp();
      });
    };
    const timer = setInterval(ping, this.times.pingMs).unref();
    session.once('close', () => {
      clearInterval(timer);
      socket.destroy();
    });
    ping();
  }

  private noteUp(): void {
    if (this.isUp || this.isClosed) return;
    this.isUp = true;
    this.failures = 0;
    this.options.log('info', { controlPlane: this.endpoint.name }, 'a control plane can reach this node');
    this.onUp();
  }

  private again(reason: string): void {
    const { retryMsMin, retryMsMax } = this.times;
    if (this.isUp || this.failures === 0)
      this.options.log('warn', { controlPlane: this.endpoint.name, reason }, 'no tunnel to a control plane');
    this.isUp = false;
    this.detail = reason;
    this.socket = null;
    if (this.isClosed) return;
    const ceiling = Math.min(retryMsMax, retryMsMin * 2 ** this.failures);
    this.failures += 1;
    // the least pause keeps a server that refuses at once from being asked without end
    this.timer = setTimeout(() => this.open(), retryMsMin / 2 + Math.random() * ceiling).unref();
  }
}
