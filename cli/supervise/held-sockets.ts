// Listening sockets of the data plane, held by the process that supervises it and runs no rules. When the data plane
// dies, clients that connect wait in the kernel's queue until the next one takes the sockets over; nobody is refused.
// A service manager does the same (systemd.ts); here they are inherited, and named in the environment.
import { closeSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { duplicateSocket, openSharedSocket } from '#engine';
import type { Values } from '#settings/environment';

const variable = 'GATEHOUSE_HELD_SOCKETS';
const backlog = 511;
/** In the child: 0 to 2 are input and output, 3 is the channel. */
const firstHanded = 4;

export interface HeldSockets {
  /** For `stdio` of the child, behind the channel. */
  readonly numbers: readonly number[];
  /** For its environment. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Closes those that the data plane does not listen on: the kernel gives each socket of a port its share of clients,
   * and whoever got one of these would wait for ever.
   */
  drop(unused: readonly string[]): void;
  /** Once: nobody follows any more. */
  close(): void;
}

/** What a process finds of those that were handed to it. */
export interface GivenSockets {
  take(name: string): number | null;
  keep(name: string, socket: number): void;
  /** Closes what was not taken, and names it; for `drop`. */
  unused(): readonly string[];
}

/** One socket for each worker and port, by the name under which the data plane looks for it (kept-sockets.ts). */
function placesOf(values: Values): { readonly name: string; readonly host: string; readonly port: number }[] {
  const workers = values.DATA_WORKERS === '' ? availableParallelism() : Math.max(1, Number(values.DATA_WORKERS));
  const host = values.WAF_BIND;
  const ports = [
    { kind: 'plain', port: Number(values.WAF_PORT) },
    ...(values.TLS_EDGE === 'off' ? [] : [{ kind: 'tls', port: Number(values.JA3_PORT) }]),
  ];
  return ports
    .filter(({ port }) => port !== 0)
    .flatMap(({ kind, port }) =>
      Array.from({ length: workers }, (_, index) => ({
        name: `${kind}-${index}_${port}_${host.replaceAll(':', '.')}`,
        host,
        port,
      })),
    );
}

/**
 * Opens them. null: the listener takes none of others, or they cannot be opened here; the data plane then opens its
 * own, and says what is wrong.
 */
export function holdSockets(values: Values): HeldSockets | null {
  if (process.platform !== 'linux' || !['auto', 'net'].includes(values.DATA_LISTENER)) return null;
  const sockets = new Map<string, number>();
  const drop = (unused: Iterable<string>): void => {
    for (const name of unused) {
      const socket = sockets.get(name);
      if (sockets.delete(name)) closeSync(socket ?? -1);
    }
  };
  const close = (): void => drop([...sockets.keys()]);
  try {
    for (const { name, host, port } of placesOf(values)) sockets.set(name, openSharedSocket(host, port, backlog));
  } catch {
    close();
    return null;
  }
  return {
    get numbers() {
      return [...sockets.values()];
    },
    get env() {
      return { [variable]: [...sockets.keys()].join(',') };
    },
    drop,
    close,
  };
}

/** What whoever supervises this process holds, taken out of `env`; null: nobody does. For `socketStore`. */
export function takeHeldSockets(env: NodeJS.ProcessEnv): GivenSockets | null {
  const names = env[variable] ?? '';
  delete env[variable];
  if (names === '') return null;
  const sockets = new Map<string, number>();
  for (const [index, name] of names.split(',').entries()) {
    // another number, which no program started by this one inherits
    sockets.set(name, duplicateSocket(firstHanded + index));
    closeSync(firstHanded + index);
  }
  return {
    take(name) {
      const socket = sockets.get(name) ?? null;
      sockets.delete(name);
      return socket;
    },
    keep() {}, // whoever holds sockets opened them
    unused() {
      const names = [...sockets.keys()];
      for (const socket of sockets.values()) closeSync(socket);
      sockets.clear();
      return names;
    },
  };
}
