// A port of TCP from its first connection to its last: what the plain listener and the TLS edge do alike.
import { createServer, type AddressInfo, type Socket } from 'node:net';
import type { Listener, ListenerOptions } from '../listener.js';
import { takeWaiting, type OpenRequests } from '../open-requests.js';
import type { ActiveMember } from '../../worker/active-list.js';
import { takesReserve } from '../descriptors.js';
import { listenPlace } from './shared-port.js';

export interface TcpPort<T extends ActiveMember> {
  readonly open: OpenRequests<T>;
  /** A connection; `allowHalfOpen`. */
  take(socket: Socket): void;
  /** Nobody is taken any more, and who is there is still served. */
  leave?(): void;
  /** Ends whatever is open. Called once: behind the drain, or when the port cannot be listened on. */
  destroy(): void;
}

/** Rejects with the system's reason when the port cannot be listened on. */
export function listenTcp<T extends ActiveMember>(
  options: Pick<ListenerOptions, 'host' | 'port' | 'sharedPort' | 'socket' | 'onConnectionRefused'>,
  port: TcpPort<T>,
): Promise<Listener> {
  let taken = 0;
  // Half-open: the end of the client's side is the connection's to judge.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    taken += 1;
    const reason = takesReserve(socket);
    if (reason === null) {
      port.take(socket);
      return;
    }
    options.onConnectionRefused?.('descriptors', socket.remoteAddress ?? '', reason);
    socket.on('error', () => {});
    socket.resetAndDestroy();
  });
  return new Promise((resolve, reject) => {
    const failed = (error: Error): void => {
      port.destroy();
      reject(error);
    };
    server.once('error', failed);
    server.listen(listenPlace(options), () => {
      server.off('error', failed);
      // One connection could not be taken (no descriptor is left): it is closed, and the others are served on.
      server.on('error', () => {});
      const { port: number } = server.address() as AddressInfo;
      const stop = async (drainMs: number, onClosed?: () => void): Promise<void> => {
        port.open.isStopping = true;
        await takeWaiting(() => taken);
        server.close(() => port.open.finish());
        onClosed?.();
        port.leave?.();
        await port.open.drain(drainMs);
        port.destroy();
      };
      resolve({ port: number, stop });
    });
  });
}
