// One port for several threads. Node.js can ask for that itself since 22.12 (`reusePort`); before, the native addon
// opens the socket and Node.js takes it by its number.
import { closeSync } from 'node:fs';
import { openSharedSocket } from '#engine';
import { canSharePort as canNodeSharePort } from '../node/index.js';
import type { ListenerOptions } from '../listener.js';
import { backlog } from '../open-requests.js';

/** What `server.listen` takes; the declarations in use leave out both ways of sharing. */
export type ListenPlace =
  | { readonly host: string; readonly port: number; readonly backlog: number; readonly reusePort?: boolean }
  | { readonly fd: number };

/** Throws with the system's reason when the address is taken or not permitted. */
export function listenPlace({
  host,
  port,
  sharedPort,
  socket = null,
}: Pick<ListenerOptions, 'host' | 'port' | 'sharedPort' | 'socket'>): ListenPlace {
  if (socket !== null) return { fd: socket };
  if (!sharedPort) return { host, port, backlog };
  if (canNodeSharePort()) return { host, port, backlog, reusePort: true };
  return { fd: openSharedSocket(host, port, backlog) };
}

/**
 * Sockets that listen on one port, one for each of so many threads, all begun within microseconds: the kernel deals out
 * who connects from then on, and holds them until the threads take their sockets. Whoever began first would get all
 * clients that wait for a start, and keep them for as long as they keep their connections. null: not here (without the
 * addon, say). Throws with the system's reason when the address is taken or not permitted; then none is open.
 */
export function openTogether(host: string, port: number, count: number): readonly number[] | null {
  const opened: number[] = [];
  try {
    for (let nth = 0; nth < count; nth += 1) opened.push(openSharedSocket(host, port, backlog));
    return opened;
  } catch (error) {
    for (const socket of opened) closeSync(socket);
    const isOfSystem = typeof (error as NodeJS.ErrnoException).code === 'string';
    if (isOfSystem) throw error;
    return null;
  }
}
