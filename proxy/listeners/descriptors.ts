// File descriptors that clients leave to upstreams, logs, the admin interface and the health check: a client that
// connects thousands of times may not take the last one, after which all of these fail (EMFILE, CWE-774).
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';

/** Below it a start warns: a client that is served takes two, its own and that of its upstream. */
const descriptorsWanted = 4096;
const reserveMax = 4096;

let limit: number | null | undefined;

/** RLIMIT_NOFILE (getrlimit(2)) of this process, which Node.js raises to its hard limit; null: it cannot be known. */
export function readDescriptorLimit(): number | null {
  if (limit !== undefined) return limit;
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1')) ?? [];
    limit = soft === undefined ? null : Number(soft);
  } catch {
    limit = null;
  }
  return limit;
}

/** How many of `all` descriptors may be in use when one more client is taken. */
export const clientDescriptorsMax = (all: number): number => all - Math.min(reserveMax, Math.ceil(all / 4));

const howToRaise = 'raise LimitNOFILE of the service (systemd.exec(5)), or ulimit -n before the start';

/** What a start says where the limit is low; null: it is not, or cannot be known. */
export function describeFewDescriptors(): string | null {
  const all = readDescriptorLimit();
  if (all === null || all >= descriptorsWanted) return null;
  const forClients = clientDescriptorsMax(all);
  return `this process may open ${all} files and connections; clients get ${forClients} of them: ${howToRaise}`;
}

/**
 * Why an accepted socket is one too many; null: it is not, or that is unknown. Costs no count: a new descriptor has the
 * lowest number that is free (accept(2)), so all below it are in use.
 */
export function takesReserve(socket: Socket): string | null {
  const all = readDescriptorLimit();
  const { _handle: handle } = socket as unknown as { readonly _handle?: { readonly fd?: unknown } | null };
  const number = handle?.fd;
  if (all === null || typeof number !== 'number' || number < clientDescriptorsMax(all)) return null;
  return `${number} of ${all} file descriptors are in use, the others are kept for upstreams and logs: ${howToRaise}`;
}
