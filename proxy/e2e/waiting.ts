// How tests wait: for a condition, and for as long as a slow machine needs. A deadline here is there to end a test that
// would wait for ever, never to measure anything.
import { createServer, type AddressInfo } from 'node:net';

/**
 * For `t.setTimeout` of files that may take longer than the 30 s of a bare run; where bin/test.mjs sets a limit, that
 * one holds.
 */
export const testMsMax = Number(process.env['TAP_TIMEOUT'] ?? 900) * 1000;

export const patienceMs = 120_000;

/** Asks until `isTrue`; false when it does not come. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<boolean> {
  const startedMs = performance.now();
  while (!(await isTrue())) {
    if (performance.now() - startedMs > patienceMs) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return true;
}

/** A number that nobody listened on a moment ago, for what has to be named before it begins. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
