// Where and with how many workers to listen, and the certificates of the port for TLS.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { canSharePort, type ListenerKind } from '../listeners/index.js';
import { listenPlace, openTogether } from '../listeners/net/shared-port.js';
import { CertificateStore } from '../tls-edge/certificates/certificate-store.js';
import type { TlsStart } from '../tls-edge/tls-start.js';
import type { WorkerSockets } from '../worker/messages.js';
import type { Generations } from './generations.js';
import type { DataPlaneOptions } from './options.js';
import type { OwnListener } from './own-listeners.js';
import type { KeptSockets } from './start/kept-sockets.js';

export interface ClaimedPort {
  /** For the workers; 0: the only worker takes whatever the system gives it. */
  readonly port: number;
  /** They have to share it, if only with this claim. */
  readonly isShared: boolean;
  /** The workers listen, or never will. Resolves when the claim itself listens no longer. */
  release(): Promise<void>;
}

const released = (): Promise<void> => Promise.resolve();

/**
 * The listeners can share a port with strangers; a taken one must be an error, not half of the traffic. A number that
 * was found for 0 stays claimed until the workers listen: any process, and any connection that leaves this machine, may
 * get it otherwise. Nobody knows it before, so that nobody connects to the claim.
 */
export async function claimPort(
  { host, port }: Pick<DataPlaneOptions, 'host' | 'port'>,
  kind: ListenerKind,
  workers: number,
  kept: Pick<KeptSockets, 'has'> | null = null,
): Promise<ClaimedPort> {
  // This node has it already: no other process can be there.
  if (kept?.has('plain') === true) return { port, isShared: workers > 1, release: released };
  const found = await tryPort(host, port, 'WAF_PORT');
  if (port !== 0) return { port, isShared: workers > 1, release: released };
  // uWebSockets.js tells no number of its own accord, and several workers need to know one.
  if (workers === 1 && kind !== 'uws') return { port: 0, isShared: false, release: released };
  return holdOr(found, host, kind, workers);
}

async function holdOr(found: number, host: string, kind: ListenerKind, workers: number): Promise<ClaimedPort> {
  const held = process.platform === 'linux' && canSharePort(kind) ? await hold(host) : null;
  return held ?? { port: found, isShared: workers > 1, release: released };
}

/** A number that the system chose, with a socket that others can share. null: not here (without the addon, say). */
async function hold(host: string): Promise<ClaimedPort | null> {
  const server = createServer((socket) => socket.destroy());
  try {
    server.listen(listenPlace({ host, port: 0, sharedPort: true }));
    await once(server, 'listening');
  } catch {
    return null;
  }
  const release = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
  return { port: (server.address() as AddressInfo).port, isShared: true, release };
}

/**
 * Resolves with the number when it could be listened on just now; rejects with a message for people, to whom `variable`
 * names the port.
 */
function tryPort(host: string, port: number, variable: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new Error(
          `cannot listen on ${host}:${port}: ` +
            (error.code === 'EADDRINUSE'
              ? `another program uses this port; stop it or set ${variable}`
              : error.message),
        ),
      ),
    );
    server.listen({ host, port, exclusive: true }, () => {
      const { port: claimed } = server.address() as AddressInfo;
      server.close(() => resolve(claimed));
    });
  });
}

/**
 * One socket of each port for each worker, all of them listening; null where a worker opens its own: it is the only
 * one, or its library takes none. The ports are not 0. Throws as `openTogether`.
 */
export function openSockets(
  { host, tls }: Pick<DataPlaneOptions, 'host' | 'tls'>,
  kind: ListenerKind,
  { plain, tls: tlsPort }: { readonly plain: number; readonly tls: number | null },
  workers: number,
): readonly WorkerSockets[] {
  const none = Array.from({ length: workers }, () => null);
  const isShared = workers > 1 && process.platform === 'linux';
  const forPlain = (isShared && kind !== 'uws' ? openTogether(host, plain, workers) : null) ?? none;
  const forTls = (isShared && tlsPort !== null ? openTogether(tls?.host ?? host, tlsPort, workers) : null) ?? none;
  return none.map((_, index) => ({ plain: forPlain[index] ?? null, tls: forTls[index] ?? null }));
}

export function workerCount(options: DataPlaneOptions, kind: ListenerKind, log: Logger): number {
  const wanted = options.workers === 'auto' ? availableParallelism() : Math.max(1, options.workers);
  if (wanted > 1 && !canSharePort(kind)) {
    log.warn(
      { wanted, listener: kind },
      'this listener cannot share a port between threads here (node:http before Node 22.12; any but uws outside ' +
        'Linux): one worker serves; DATA_LISTENER=auto uses all of them on Linux',
    );
    return 1;
  }
  return wanted;
}

/** As `claimPort`; the number is never 0. null: the node has no TLS edge. */
export async function claimTlsPort(
  { tls, host }: Pick<DataPlaneOptions, 'tls' | 'host'>,
  workers: number,
  kept: Pick<KeptSockets, 'has'> | null = null,
): Promise<ClaimedPort | null> {
  if (tls == null) return null;
  if (kept?.has('tls') === true) return { port: tls.port, isShared: workers > 1, release: released };
  const place = tls.host ?? host;
  const found = await tryPort(place, tls.port, 'JA3_PORT');
  return tls.port === 0
    ? holdOr(found, place, 'net', workers)
    : { port: found, isShared: workers > 1, release: released };
}

/** The certificates of the TLS edge; null where there is none. */
export async function openCertificates(
  { tls, dataDir }: DataPlaneOptions,
  generations: Generations,
  log: Logger,
): Promise<CertificateStore | null> {
  if (tls == null) return null;
  const hosts = generations.active.config.sites.flatMap(({ host }) => (host === null ? [] : [host.toLowerCase()]));
  const folder = tls.certificates ?? join(dataDir, 'tls');
  return CertificateStore.open({
    folder,
    dataDir,
    hosts,
    onProblem: ({ source, message }) => log.error({ certificate: source, folder }, `${source} ${message}`),
  });
}

/** Keys of tickets are new with each start: a session that was begun before begins anew. */
export function tlsStart(
  { tls, host }: DataPlaneOptions,
  claimed: ClaimedPort | null,
  certificates: CertificateStore | null,
): TlsStart | null {
  if (tls == null || claimed === null || certificates === null) return null;
  const { port, isShared } = claimed;
  const ticketKeys = new Uint8Array(randomBytes(48));
  return { host: tls.host ?? host, port, isShared, certificates: certificates.current, ticketKeys };
}

/** Listeners to which no site of this node may lead. */
export function ownListeners(
  { host, adminHost, tls }: DataPlaneOptions,
  ports: { readonly http: number; readonly admin: number; readonly tls: number | null },
): readonly OwnListener[] {
  const plain = { host, port: ports.http, name: 'the listener of this node' };
  const admin = { host: adminHost, port: ports.admin, name: 'the admin interface of this node' };
  if (ports.tls === null) return [plain, admin];
  return [plain, admin, { host: tls?.host ?? host, port: ports.tls, name: 'the TLS edge of this node' }];
}
