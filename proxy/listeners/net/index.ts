// Plain TCP sockets, and HTTP/1.1 read and written by this folder: every legal request, at the speed of a native
// library (what node:http costs beyond this are its objects, not its parser). The default wherever it runs.
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { ActiveList } from '../../worker/active-list.js';
import { Fronts, identify } from '../front/fronts.js';
import type { Listener, ListenerOptions } from '../listener.js';
import { oneTurn, OpenRequests } from '../open-requests.js';
import { Connection, type ConnectionHome } from './connection.js';
import type { NetExchange } from './exchange.js';
import { DateField } from './response-text.js';
import { listenPlace } from './shared-port.js';
import { TimeLimits } from './time-limits.js';

/** Connections that the kernel holds until they are taken. */
const backlog = 511;

export function listenNet(options: ListenerOptions): Promise<Listener> {
  const open = new OpenRequests<NetExchange>();
  const connections = new ActiveList<Connection>();
  const limits = new TimeLimits<Connection>();
  const fronts = new Fronts();
  const { share } = options;
  const home: ConnectionHome = {
    options,
    open,
    limits,
    date: new DateField(),
    forget: (connection) => {
      connections.delete(connection);
      share?.closed();
    },
  };
  if (share !== undefined) open.isCrowded = () => share.isCrowded();
  let taken = 0;
  // Half-open: the end of the client's side is the connection's to judge.
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket: Socket) => {
    taken += 1;
    identify(socket, fronts, options, (facts) => {
      share?.opened();
      connections.add(new Connection(socket, home, facts));
    });
  });
  return new Promise((resolve, reject) => {
    const failed = (error: Error): void => {
      limits.stop();
      reject(error);
    };
    server.once('error', failed);
    server.listen(listenPlace(options, backlog), () => {
      server.off('error', failed);
      // One connection could not be taken (no descriptor is left): it is closed, and the others are served on.
      server.on('error', () => {});
      const { port } = server.address() as AddressInfo;
      const stop = async (drainMs: number, onClosed?: () => void): Promise<void> => {
        open.isStopping = true;
        // One connection is taken a turn.
        for (let turn = 0, before = -1; turn < backlog && taken > before; turn += 1) {
          before = taken;
          await oneTurn();
        }
        server.close(() => open.finish());
        onClosed?.();
        await open.drain(drainMs);
        fronts.destroyAll();
        for (const connection of connections.all()) connection.destroy();
        limits.stop();
      };
      resolve({ port, stop });
    });
  });
}
