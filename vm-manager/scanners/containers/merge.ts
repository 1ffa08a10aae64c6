// Which files of the layers are in the image: a later layer wins over an earlier one, `.wh.NAME` removes NAME of the
// layers below, and `.wh..wh..opq` empties a directory of the layers below. Pure.

export interface LayerFacts {
  /** Files of this layer that matter. */
  readonly files: ReadonlySet<string>;
  /** Other entries that stand where files matter: links, devices. */
  readonly others: ReadonlySet<string>;
  /** Paths that it removes. */
  readonly removed: ReadonlySet<string>;
  /** Directories that it empties; empty text: the root. */
  readonly emptied: ReadonlySet<string>;
}

const whiteout = '.wh.';
const opaque = '.wh..wh..opq';

export type Whiteout = { readonly removed: string } | { readonly emptied: string } | null;

/** What an entry takes away; null: it is an entry like others. */
export function whiteoutOf(path: string): Whiteout {
  const at = path.lastIndexOf('/') + 1;
  const name = path.slice(at);
  const folder = path.slice(0, Math.max(0, at - 1));
  if (name === opaque) return { emptied: folder };
  if (!name.startsWith(whiteout)) return null;
  // other names that begin with .wh..wh. are notes of storage drivers
  return name.startsWith('.wh..wh.') ? null : { removed: `${path.slice(0, at)}${name.slice(whiteout.length)}` };
}

/** For each layer, from the lowest on, the files that the image has of it; what it has not was removed or replaced. */
export function visibleOf(layers: readonly LayerFacts[]): readonly ReadonlySet<string>[] {
  const taken = new Set<string>();
  const removed = new Set<string>();
  const emptied = new Set<string>();
  const isGone = (path: string): boolean => {
    if (taken.has(path) || removed.has(path) || emptied.has('')) return true;
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      const above = path.slice(0, at);
      // a file or link of a later layer in the place of a directory has hidden what was in it
      if (removed.has(above) || emptied.has(above) || taken.has(above)) return true;
    }
    return false;
  };
  return [...layers]
    .reverse()
    .map((layer) => {
      const visible = new Set([...layer.files].filter((path) => !isGone(path)));
      // only now: what a layer removes is of those below it
      for (const path of [...layer.files, ...layer.others]) taken.add(path);
      for (const path of layer.removed) removed.add(path);
      for (const path of layer.emptied) emptied.add(path);
      return visible;
    })
    .reverse();
}
