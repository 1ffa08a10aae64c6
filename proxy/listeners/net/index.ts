// Plain TCP sockets, and HTTP/1.1 read and written by this folder: every legal request, at the speed of a native
// library (what node:http costs beyond this are its objects, not its parser). The default wherever it runs.
import { ActiveList } from '../../worker/active-list.js';
import { Fronts, identify } from '../front/fronts.js';
import type { Listener, ListenerOptions } from '../listener.js';
import { OpenRequests } from '../open-requests.js';
import { Connection, type ConnectionHome } from './connection.js';
import type { NetExchange } from './exchange.js';
import { DateField } from './response-text.js';
import { listenTcp } from './tcp-port.js';
import { TimeLimits } from './time-limits.js';

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
  return listenTcp(options, {
    open,
    take: (socket) =>
      identify(socket, fronts, options, (facts) => {
        share?.opened();
        connections.add(new Connection(socket, home, facts));
      }),
    destroy: () => {
      fronts.destroyAll();
      for (const connection of connections.all()) connection.destroy();
      limits.stop();
    },
  });
}
