// Sources that change: what has to be built again, and what runs again after it.
import { existsSync, watch } from 'node:fs';
import { join } from 'node:path';

const sources = /\.(ts|mjs|sql|html)$/;
/** Written by compilers and by programs, not by people. */
const written = /(^|\/)(build|node_modules|results)\//;
const quietMs = 300; // editors write in bursts

/**
 * Calls `changed` with the paths of what changed, relative to the root, as soon as nothing has changed for a moment.
 * Returns a function that ends it.
 */
export function watchSources(
  root: string,
  rooms: readonly string[],
  changed: (paths: readonly string[]) => void,
): () => void {
  const paths = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const note = (path: string): void => {
    if (!sources.test(path) || written.test(path)) return;
    paths.add(path);
    clearTimeout(timer);
    timer = setTimeout(() => {
      const seen = [...paths];
      paths.clear();
      changed(seen);
    }, quietMs);
  };
  const watchers = rooms
    .filter((room) => existsSync(join(root, room)))
    .map((room) =>
      watch(join(root, room), { recursive: true }, (_, name) => {
        if (name !== null) note(join(room, name));
      }),
    );
  return () => {
    clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
  };
}
