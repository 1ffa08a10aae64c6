// Where and with how many workers to listen.
import { createServer, type AddressInfo } from 'node:net';
import { availableParallelism } from 'node:os';
import type { Logger } from 'pino';
import { canSharePort, type ListenerKind } from '../listeners/index.js';
import type { DataPlaneOptions } from './options.js';

/**
 * Both listeners can share a port with strangers; a taken one must be an error, not half of the traffic. 0 becomes a
 * number
 * here: uWebSockets.js shares only ports that were asked for by number.
 */
export function claimPort(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new Error(
          `cannot listen on ${host}:${port}: ` +
            (error.code === 'EADDRINUSE' ? 'another program uses this port; stop it or set WAF_PORT' : error.message),
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
