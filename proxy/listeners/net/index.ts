// Plain TCP sockets, and HTTP/1.1 read and written by this folder: every legal request, at the speed of a native
// library (what node:http costs beyond this are its objects, not its parser). The default wherever it runs.
import { ActiveList } from '../../worker/active-list.js';
import { peerOf } from '../front/connection-facts.js';
import { Fronts, identify } from '../front/fronts.js';
import type { Listener, ListenerOptions } from '../listener.js';
import { OpenRequests } from '../open-requests.js';
import { BorrowedReads } from './borrowed-reads.js';
import { Connection } from './connection.js';
import type { ConnectionHome } from './connection-home.js';
import type { NetExchange } from './exchange.js';
import { FieldMemory } from './field-memory.js';
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
    fields: new FieldMemory(),
    forget: (connection) => {
      connections.delete(connection);
      share?.closed();
    },
  };
  if (share !== undefined) open.isCrowded = () => share.isCrowded();
  return listenTcp(options, {
    open,
    take: (accepted) => {
      // What a PROXY header is followed by is put back into the stream, so that it comes as "data".
      const isRead = options.sendsProxyHeader?.(peerOf(accepted)) === true;
      const reads = isRead ? null : BorrowedReads.of(accepted);
      const socket = reads?.socket ?? accepted;
      identify(socket, fronts, options, (facts) => {
        share?.opened();
        connections.add(new Connection(socket, home, facts, reads));
      });
    },
    destroy: () => {
      fronts.destroyAll();
      for (const connection of connections.all()) connection.destroy();
      limits.stop();
    },
  });
}
