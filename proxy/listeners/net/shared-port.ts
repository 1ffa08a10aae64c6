// One port for several threads. Node.js can ask for that itself since 22.12 (`reusePort`); before, the native addon
// opens the socket and Node.js takes it by its number.
import { openSharedSocket } from '#engine';
import { canSharePort as canNodeSharePort } from '../node/index.js';
import type { ListenerOptions } from '../listener.js';

/** What `server.listen` takes; the declarations in use leave out both ways of sharing. */
export type ListenPlace =
  | { readonly host: string; readonly port: number; readonly backlog: number; readonly reusePort?: boolean }
  | { readonly fd: number };

/** Throws with the system's reason when the address is taken or not permitted. */
export function listenPlace(
  { host, port, sharedPort }: Pick<ListenerOptions, 'host' | 'port' | 'sharedPort'>,
  backlog: number,
): ListenPlace {
  if (!sharedPort) return { host, port, backlog };
  if (canNodeSharePort()) return { host, port, backlog, reusePort: true };
  return { fd: openSharedSocket(host, port, backlog) };
}
