// Listening sockets that outlive the process: a service manager keeps them over a restart or a crash. Clients that
// connect meanwhile wait in the kernel's queue and are not refused. One socket for each worker and port, all opened by
// main, which keeps the originals; workers listen on duplicates. A worker that is replaced finds its clients waiting.
import { closeSync } from 'node:fs';
import { duplicateSocket, openSharedSocket } from '#engine';
import type { ListenerKind } from '../../listeners/listener.js';
import { backlog } from '../../listeners/open-requests.js';
import type { WorkerSockets } from '../../worker/messages.js';
import type { DataPlaneOptions } from '../options.js';

/** Who keeps open sockets beyond the end of this process. */
export interface SocketStore {
  /** The socket that the process before left under this name, now the caller's; null: none. */
  take(name: string): number | null;
  /** Leaves a copy of the socket for the next process. */
  keep(name: string, socket: number): void;
}

type Port = keyof WorkerSockets;

export class KeptSockets {
  private readonly sockets: Record<Port, (number | null)[]> = { plain: [], tls: [] };

  /** `places`: null where there is nothing to keep. Takes what the process before left for them. */
  constructor(
    private readonly store: SocketStore,
    private readonly places: Readonly<Record<Port, { readonly host: string; readonly port: number } | null>>,
    private readonly workers: number,
  ) {
    for (const port of ['plain', 'tls'] as const)
      for (let index = 0; index < workers; index += 1)
        this.sockets[port].push(places[port] === null ? null : store.take(this.nameOf(port, index)));
  }

  /** systemd takes no colon in a name; another address or port is another name, and so another socket. */
  private nameOf(port: Port, index: number): string {
    const { host = '', port: number = 0 } = this.places[port] ?? {};
    return `${port}-${index}_${number}_${host.replaceAll(':', '.')}`;
  }

  /** Whether this node has the port already. */
  has(port: Port): boolean {
    return this.sockets[port].some((socket) => socket !== null);
  }

  /**
   * Duplicates for every worker; opens what the process before did not leave. Throws with the system's reason when a
   * port is taken or not permitted.
   */
  open(): readonly WorkerSockets[] {
    for (const port of ['plain', 'tls'] as const) {
      const place = this.places[port];
      if (place === null) continue;
      for (const [index, socket] of this.sockets[port].entries()) {
        if (socket !== null) continue;
        const opened = openSharedSocket(place.host, place.port, backlog);
        this.sockets[port][index] = opened;
        this.store.keep(this.nameOf(port, index), opened);
      }
    }
    return Array.from({ length: this.workers }, (_, index) => this.of(index));
  }

  /** Duplicates for one worker. */
  of(index: number): WorkerSockets {
    const [plain, tls] = [this.sockets.plain[index] ?? null, this.sockets.tls[index] ?? null];
    return {
      plain: plain === null ? null : duplicateSocket(plain),
      tls: tls === null ? null : duplicateSocket(tls),
    };
  }

  close(): void {
    for (const socket of [...this.sockets.plain, ...this.sockets.tls]) if (socket !== null) closeSync(socket);
    this.sockets.plain.fill(null);
    this.sockets.tls.fill(null);
  }
}

/** null: no manager keeps sockets, or the ports are chosen by the system. uWebSockets.js takes no socket of others. */
export function keptSockets(
  { socketStore = null, host, port, tls }: Pick<DataPlaneOptions, 'socketStore' | 'host' | 'port' | 'tls'>,
  kind: ListenerKind,
  workers: number,
): KeptSockets | null {
  if (socketStore === null || process.platform !== 'linux') return null;
  const plain = kind === 'uws' || port === 0 ? null : { host, port };
  const edge = tls == null || tls.port === 0 ? null : { host: tls.host ?? host, port: tls.port };
  return new KeptSockets(socketStore, { plain, tls: edge }, workers);
}
