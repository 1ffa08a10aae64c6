// `gatehouse data-plane --keep-alive`: a data plane without a service manager. This process holds its sockets, starts
// it again when it dies, and keeps its log; it runs no rules, so nothing that a request does ends it.
import { join, resolve } from 'node:path';
import type { Values } from '#settings/environment';
import { root, shown } from '../../environment/directories.js';
import { Child } from '../child.js';
import { holdSockets } from '../held-sockets.js';
import { keepAlive, resuming, urgentPauses } from '../keep-alive.js';
import { checkPorts, wantedPorts } from '../ports.js';

/**
 * Runs until a signal; resolves with the exit code. `args`: of `gatehouse data-plane`, without the flag. Rejects with a
 * Refusal where a port is taken or the first start fails.
 */
export async function superviseDataPlane(args: readonly string[], values: Values): Promise<number> {
  // Before its sockets are opened, which share a port with whoever has it: half of the clients would be theirs.
  await checkPorts(wantedPorts(values, { demo: false, api: false }));
  const child = new Child({
    name: 'data plane',
    args: ['data-plane', ...args],
    env: process.env,
    logFile: join(resolve(root, values.GATEHOUSE_DATA), 'log', 'data-plane.log'),
    holdSockets: () => holdSockets(values),
  });
  const stopped = new Promise<'stopped'>((settle) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => settle('stopped'));
  });
  process.on('SIGHUP', () => child.signal('SIGHUP'));
  try {
    if ((await Promise.race([child.start(), stopped])) === 'stopped') return 0;
    keepAlive(child, urgentPauses, resuming);
    console.log(`the data plane serves (log: ${shown(child.logFile)})`);
    await stopped;
    return 0;
  } finally {
    await child.stop();
  }
}
