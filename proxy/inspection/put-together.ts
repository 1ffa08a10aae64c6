// Where the programs that threads of the data plane begin with are loaded from.
import { existsSync } from 'node:fs';

const built = new URL('../../', import.meta.url);

/**
 * The same program put together into a few files (bin/fuse.mjs), where it has been: to find, read and link its modules
 * one by one is three quarters of the processor time that a thread takes to start. `own` is its address file by file;
 * one that the fused build has set already (it is no file of ours there) stays.
 */
export function putTogether(own: URL): URL {
  if (!own.href.startsWith(built.href)) return own;
  const name = own.href.slice(built.href.length).replace(/\.js$/, '').replaceAll('/', '-');
  const fused = new URL(`fused/${name}.js`, built);
  return existsSync(fused) ? fused : own;
}
