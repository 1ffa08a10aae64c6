// The binary of uWebSockets.js, where there is one.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

export type Uws = typeof import('uWebSockets.js');

/**
 * Throws when there is no binary for this platform or Node version. The re-publication that package.json names falls
 * back to an imitation in JavaScript then, which says so on the console only; it lacks what is used here. The binary is
 * looked for first, so that the imitation is neither loaded nor announced; the official package has its binaries
 * elsewhere and throws.
 */
export function loadUws(): Uws {
  const require = createRequire(import.meta.url);
  const directory = dirname(require.resolve('uWebSockets.js/package.json'));
  const name = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
  if (![join(directory, 'binaries', name), join(directory, name)].some(existsSync))
    throw new Error(
      `uWebSockets.js has no binary for Node.js ${process.versions.node} on ${process.platform} ${process.arch}`,
    );
  return require('uWebSockets.js') as Uws;
}
