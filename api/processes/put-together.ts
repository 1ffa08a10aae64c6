// Where the programs of the processes beside the control plane are loaded from.
import { existsSync } from 'node:fs';

const built = new URL('../../', import.meta.url);

/**
 * The same program put together into a few files (bin/fuse.mjs), where it has been: to find, read and link its modules
 * one by one is most of the processor time of its start. `own` is its address file by file; one that the fused build
 * has set already stays. The data plane's threads have their own (proxy/inspection/put-together.ts): the two planes
 * share no code that reads files.
 */
export function putTogether(own: URL): URL {
  if (!own.href.startsWith(built.href)) return own;
  const name = own.href.slice(built.href.length).replace(/\.js$/, '').replaceAll('/', '-');
  const fused = new URL(`fused/${name}.js`, built);
  return existsSync(fused) ? fused : own;
}
