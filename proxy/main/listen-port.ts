// Where and with how many workers to listen, and the certificates of the port for TLS.
import { randomBytes } from 'node:crypto';
import { createServer, type AddressInfo } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { canSharePort, type ListenerKind } from '../listeners/index.js';
import { CertificateStore } from '../tls-edge/certificates/certificate-store.js';
import type { TlsStart } from '../tls-edge/tls-start.js';
import type { Generations } from './generations.js';
import type { DataPlaneOptions } from './options.js';
import type { OwnListener } from './own-listeners.js';

/**
 * Both listeners can share a port with strangers; a taken one must be an error, not half of the traffic. 0 becomes a
 * number
 * here: uWebSockets.js shares only ports that were asked for by number. `variable` names the port to people.
 */
export function claimPort(host: string, port: number, variable: string): Promise<number> {
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

/** null: the node has no TLS edge. */
export async function claimTlsPort({ tls, host }: DataPlaneOptions): Promise<number | null> {
  return tls == null ? null : claimPort(tls.host ?? host, tls.port, 'JA3_PORT');
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
  port: number | null,
  certificates: CertificateStore | null,
): TlsStart | null {
  if (tls == null || port === null || certificates === null) return null;
  const ticketKeys = new Uint8Array(randomBytes(48));
  return { host: tls.host ?? host, port, certificates: certificates.current, ticketKeys };
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
