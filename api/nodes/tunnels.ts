// Nodes that are connected to this control plane by a tunnel: HTTP/2 over the connection that the node opened, with
// this side as the client. A node that has several connections here (several addresses of one control plane) is asked
// over the newest that lives.
import { connect, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import type { TLSSocket } from 'node:tls';

export interface TunnelRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly signal: AbortSignal;
}

export interface TunnelAnswer {
  readonly status: number;
  readonly body: AsyncIterable<Buffer>;
}

/** How requests reach nodes that enrolled. */
export interface NodeTunnels {
  /** Whether this control plane can reach the node. */
  has(name: string): boolean;
  /**
   * Sends one request; `write` sends its body and ends the stream. Rejects where the node is not connected here, or the
   * tunnel ends before the answer's head.
   */
  send(name: string, request: TunnelRequest, write: (stream: ClientHttp2Stream) => void): Promise<TunnelAnswer>;
}

export interface TunnelRegistry extends NodeTunnels {
  /** Takes a connection whose certificate has been checked; `onGone` when it ends. */
  add(name: string, socket: TLSSocket): void;
  /** Ends all connections of nodes that are not in `names`: they were revoked. */
  keepOnly(names: ReadonlySet<string>): void;
  drop(name: string): void;
  close(): void;
  /** Raised for each new connection. */
  onConnect: (name: string) => void;
}

const pingMs = 5_000;
const windowBytes = 4 * 1024 * 1024;
/** Of a request that a tunnel took and whose answer never began; `send` has its own limit beside it. */
const gone = (name: string, why: string): Error =>
  new Error(`node ${name} is not connected to this control plane (${why}); it connects again by itself`);

export function createTunnels(): TunnelRegistry {
  const sessions = new Map<string, Set<ClientHttp2Session>>();
  const newest = (name: string): ClientHttp2Session | null =>
    [...(sessions.get(name) ?? [])].findLast((session) => !session.destroyed && !session.closed) ?? null;
  const drop = (name: string): void => {
    for (const session of sessions.get(name) ?? []) session.destroy();
    sessions.delete(name);
  };
  const registry: TunnelRegistry = {
    onConnect: () => {},
    has: (name) => newest(name) !== null,
    add(name, socket) {
      const session = connect('http://node.gatehouse.invalid', {
        createConnection: () => socket,
        settings: { initialWindowSize: windowBytes, enablePush: false },
      });
      const own = sessions.get(name) ?? new Set();
      sessions.set(name, own.add(session));
      const timer = watch(session, socket);
      session.once('error', () => {}); // each request hears of it
      session.once('close', () => {
        clearInterval(timer);
        own.delete(session);
        socket.destroy();
        if (own.size === 0 && sessions.get(name) === own) sessions.delete(name);
      });
      registry.onConnect(name);
    },
    keepOnly(names) {
      for (const name of sessions.keys()) if (!names.has(name)) drop(name);
    },
    drop,
    close() {
      for (const name of sessions.keys()) drop(name);
    },
    send(name, request, write) {
      const session = newest(name);
      return session === null ? Promise.reject(gone(name, 'no tunnel')) : sendOver(session, name, request, write);
    },
  };
  return registry;
}

/** A connection whose other end is gone without a word (a machine that lost power) ends after two pings. */
function watch(session: ClientHttp2Session, socket: TLSSocket): NodeJS.Timeout {
  let isWaiting = false;
  socket.setKeepAlive(true, 10_000).setNoDelay(true);
  session.once('connect', () => session.setLocalWindowSize(windowBytes));
  return setInterval(() => {
    if (isWaiting) session.destroy(new Error('it stopped answering'));
    else if (!session.destroyed) {
      isWaiting = true;
      session.ping(() => (isWaiting = false));
    }
  }, pingMs).unref();
}

function sendOver(
  session: ClientHttp2Session,
  name: string,
  { method, path, headers, signal }: TunnelRequest,
  write: (stream: ClientHttp2Stream) => void,
): Promise<TunnelAnswer> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ...headers, ':method': method, ':path': path }, { signal });
    stream.once('error', (error) => reject(signal.aborted ? (signal.reason as Error) : error));
    stream.once('close', () => reject(gone(name, 'the tunnel ended')));
    stream.once('response', (head) => resolve({ status: Number(head[':status']), body: stream }));
    write(stream);
  });
}
