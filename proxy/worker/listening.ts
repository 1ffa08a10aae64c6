// The ports of a worker: the plain one, and the TLS edge where the node has one. Both hand their requests to one road,
// and they begin and end together.
import { canSharePort, listen, type Listener } from '../listeners/index.js';
import type { ConnectionGuard, ConnectionShare, ListenerOptions } from '../listeners/listener.js';
import type { Metrics } from '../metrics/metrics.js';
import { handleRequest } from '../road/proxied-request.js';
import type { RoadContext } from '../road/context.js';
import { refuseUnreadable } from '../road/ends/unreadable.js';
import type { CertificateSet } from '../tls-edge/certificates/certificate-set.js';
import type { ChallengeTable } from '../tls-edge/challenges/challenge-table.js';
import { listenTlsEdge, type TlsEdge } from '../tls-edge/index.js';
import { Penalties } from '../tls-edge/http2/penalties.js';
import type { TlsStart } from '../tls-edge/tls-start.js';
import { clientTimeouts } from './client-timeouts.js';
import type { WorkerSockets, WorkerStart } from './messages.js';

export interface Listening extends Listener {
  replaceCertificates(set: CertificateSet): void;
  replaceChallenges(table: ChallengeTable): void;
}

type RefusedConnection = NonNullable<ListenerOptions['onConnectionRefused']>;

/** Counted by port and reason, and told in the log, which has its own limit for what a stranger can repeat. */
function refusals(context: RoadContext, metrics: Metrics, port: 'plain' | 'tls'): RefusedConnection {
  return (reason, clientIp, detail) => {
    metrics.count('connectionsRefused', { port, reason });
    // Scanners and clients that do not believe a certificate are no news; a proxy that is set up wrongly is,
    // and so is a limit of the system.
    if (reason === 'proxy_header' || reason === 'descriptors')
      context.log('warn', { clientIp, port, detail }, 'a connection was refused');
  };
}

/** `isTrusted`: a proxy is many clients, and is not punished for one of them. */
function listenTls(
  common: Omit<ListenerOptions, 'share' | 'host' | 'port'>,
  { host, port, certificates, ticketKeys }: TlsStart,
  challenges: ChallengeTable | null,
  metrics: Metrics,
  isTrusted: (address: string) => boolean,
): Promise<TlsEdge> {
  const penalties = new Penalties();
  const guard: ConnectionGuard = {
    enter(address) {
      if (!penalties.isRefused(address, performance.now()))
        return common.guard === undefined ? () => {} : common.guard.enter(address);
      metrics.count('connectionsRefused', { port: 'tls', reason: 'http2_excess' });
      return null;
    },
  };
  return listenTlsEdge({
    ...common,
    guard,
    host,
    port,
    certificates,
    ticketKeys,
    challenges,
    onHandshake: (version, alpn) => {
      const known = version === 'TLSv1.2' ? 'TLSv1.2' : 'TLSv1.3';
      metrics.count('tlsHandshakes', { version: known, alpn: alpn ?? 'none' });
    },
    onExcess: (excess, address) => {
      metrics.count('http2Ended', { excess });
      if (!isTrusted(address)) penalties.add(address, performance.now());
    },
    shareOf: (address) => penalties.shareOf(address, performance.now()),
  });
}

/** Rejects with the reason when a port cannot be listened on; then none is. */
export async function beginListening(
  start: WorkerStart,
  sockets: WorkerSockets,
  share: ConnectionShare,
  context: RoadContext,
  guard: ConnectionGuard,
): Promise<Listening> {
  const { metrics } = context;
  const { sharedPort } = start;
  const isTrusted = (address: string): boolean => context.current().trusted?.contains(address) === true;
  const common = {
    sharedPort,
    limits: () => context.current().config.limits,
    timeouts: clientTimeouts(() => context.current().config.timeouts),
    guard,
    sendsProxyHeader: (peerIp: string) => {
      const { config, trusted } = context.current();
      return config.proxyProtocol && trusted?.contains(peerIp) === true;
    },
    handler: {
      onRequest: (exchange) => handleRequest(context, exchange),
      onUnreadable: (status, found) => refuseUnreadable(context, status, found),
    },
  } satisfies Partial<ListenerOptions>;
  const plain = await listen(start.listener, {
    ...common,
    host: start.host,
    port: start.port,
    socket: sockets.plain,
    share,
    onConnectionRefused: refusals(context, metrics, 'plain'),
  });
  // Where threads cannot share a port, the first worker has it alone.
  const hasTls = start.tls !== null && (!sharedPort || canSharePort('net') || start.workerId === 0);
  if (!hasTls || start.tls === null) return { ...plain, replaceCertificates: () => {}, replaceChallenges: () => {} };
  try {
    const forTls = {
      ...common,
      sharedPort: start.tls.isShared,
      socket: sockets.tls,
      onConnectionRefused: refusals(context, metrics, 'tls'),
    };
    const edge = await listenTls(forTls, start.tls, start.challenges, metrics, isTrusted);
    return {
      port: plain.port,
      replaceCertificates: (set) => edge.replaceCertificates(set),
      replaceChallenges: (table) => edge.replaceChallenges(table),
      stop: async (drainMs, onClosed) => {
        let open = 2;
        const closed = (): void => {
          open -= 1;
          if (open === 0) onClosed?.();
        };
        await Promise.all([plain.stop(drainMs, closed), edge.stop(drainMs, closed)]);
      },
    };
  } catch (error) {
    await plain.stop(0);
    throw error;
  }
}
