// An image as a source of files: what its layers together have, and what a later layer has taken away again, which
// everybody who has the image still has. Three passes over the archive, none of which keeps more than names.
import { stat } from 'node:fs/promises';
import { Budget, isPlainPath, shownPath, SourceError, sourceLimits } from '../sources/source.js';
import type { Source, SourceItem, SourceLimits } from '../sources/source.js';
import { matters, mayHoldSecrets } from './files.js';
import { databaseOf, isRelease } from './packages/places.js';
import type { Layout } from './layout.js';
import { visibleOf, whiteoutOf, type LayerFacts } from './merge.js';
import { innerName, unpack, unpackFile, type TarEntry } from './tar-stream.js';

const depthMax = 64;
const setuidMax = 1000;
const faultsMax = 100;
/** The first file of every image: its configuration, and what only all layers together tell. */
export const summaryPath = '0:now:image.json';

/** What engines get to see of a path: layer from 1, whether the image still has it, and where. */
export const markedPath = (layer: number, isNow: boolean, path: string): string =>
  `${layer}:${isNow ? 'now' : 'old'}:${path}`;

export interface Marked {
  readonly layer: number;
  readonly isNow: boolean;
  readonly path: string;
}

export function unmarked(text: string): Marked {
  const found = /^(\d+):(now|old):(.*)$/s.exec(text);
  return found === null
    ? { layer: 0, isNow: true, path: text }
    : { layer: Number(found[1]), isNow: found[2] === 'now', path: found[3] ?? '' };
}

export interface Summary {
  readonly config: unknown;
  readonly layers: number;
  /** Files that run with the rights of their owner or group. */
  readonly setuid: readonly string[];
}

class Facts implements LayerFacts {
  readonly files = new Set<string>();
  readonly others = new Set<string>();
  readonly removed = new Set<string>();
  readonly emptied = new Set<string>();
  readonly setuid = new Set<string>();

  /** A text: why it is a fault. */
  note({ header }: TarEntry): string | null {
    const path = innerName(header.name);
    if (path === '') return null;
    if (!isPlainPath(path)) return 'names that lead elsewhere';
    if (path.split('/').length > depthMax) return `paths deeper than ${depthMax}`;
    const taken = whiteoutOf(path);
    if (taken !== null) {
      if ('removed' in taken) this.removed.add(taken.removed);
      else this.emptied.add(taken.emptied);
      return null;
    }
    const isFile = header.type === 'file' || header.type === 'contiguous-file';
    if (isFile && ((header.mode ?? 0) & 0o6000) !== 0 && this.setuid.size < setuidMax) this.setuid.add(path);
    if (header.type === 'directory') return null;
    if (isFile && (matters(path) || this.setuid.has(path))) this.files.add(path);
    // a link may stand where a directory was, whose files are hidden then
    else if (!isFile) this.others.add(path);
    return null;
  }
}

/** Each layer of the archive in the order in which it lies there; `at` are its places in the image. */
async function* layersIn(path: string, layout: Layout, budget: Budget) {
  const places = new Map<string, number[]>();
  layout.layers.forEach(({ entry }, at) => places.set(entry, [...(places.get(entry) ?? []), at]));
  const { entries } = await unpackFile(path, budget);
  for await (const entry of entries) {
    const at = places.get(innerName(entry.header.name));
    // one that lies there twice is the same bytes, or its sum tells
    if (at !== undefined && entry.header.type !== 'symlink') yield { at, layer: await unpack(entry.bytes(), budget) };
  }
}

function requireSum(layout: Layout, at: readonly number[], sum: string): void {
  const wrong = at.find((place) => layout.layers[place]?.diffId !== `sha256:${sum}`);
  if (wrong !== undefined)
    throw new SourceError(`The layer ${wrong + 1} is not what the configuration says: its SHA-256 differs.`);
}

async function factsOf(path: string, layout: Layout, budget: Budget, signal: AbortSignal) {
  const facts = layout.layers.map(() => new Facts());
  const faults: SourceItem[] = [];
  for await (const { at, layer } of layersIn(path, layout, budget)) {
    const of = new Facts();
    for await (const entry of layer.entries) {
      if (signal.aborted) return { facts, faults };
      const fault = of.note(entry);
      if (fault !== null && faults.length < faultsMax)
        faults.push({ path: shownPath(entry.header.name), passed: fault, isFault: true });
    }
    requireSum(layout, at, layer.sum());
    for (const place of at) facts[place] = of;
  }
  return { facts, faults };
}

const summaryOf = (layout: Layout, facts: readonly Facts[], visible: readonly ReadonlySet<string>[]): Summary => ({
  config: layout.config,
  layers: layout.layers.length,
  setuid: facts.flatMap(({ setuid }, at) => [...setuid].filter((path) => visible[at]?.has(path) === true)).sort(),
});

/** Throws SourceError, also while it is read, for an image that is damaged or beyond the limits. */
export const imageSource = (path: string, layout: Layout, limits: SourceLimits = sourceLimits): Source => ({
  total: null,
  isOneFile: false,
  async *items(signal) {
    const found = await stat(path);
    const size = found.isDirectory() ? null : found.size;
    // the outer archive counts, too
    const budget = () => new Budget({ ...limits, bytesMax: limits.bytesMax * 2 }, size);
    try {
      const { facts, faults } = await factsOf(path, layout, budget(), signal);
      yield* faults;
      const visible = visibleOf(facts);
      const summary = Buffer.from(JSON.stringify(summaryOf(layout, facts, visible)));
      yield {
        path: summaryPath,
        bytes: summary.length,
        read: async (most = summary.length) => summary.subarray(0, most),
      };
      for await (const { at, layer } of layersIn(path, layout, budget()))
        for await (const entry of layer.entries) {
          if (signal.aborted) return;
          const item = itemOf(entry, at, facts, visible);
          if (item !== null) yield item;
        }
    } catch (error) {
      if (error instanceof SourceError) throw error;
      const why = error instanceof Error ? error.message : String(error);
      throw new SourceError(`The image cannot be read to its end (${why.slice(0, 200)}).`);
    }
  },
});

function itemOf(
  entry: TarEntry,
  at: readonly number[],
  facts: readonly Facts[],
  visible: readonly ReadonlySet<string>[],
): SourceItem | null {
  const { header } = entry;
  if (header.type !== 'file' && header.type !== 'contiguous-file') return null;
  const path = innerName(header.name);
  // of a layer that is there twice the later one counts
  const place = at.at(-1) ?? 0;
  if (facts[place]?.files.has(path) !== true || !matters(path)) return null;
  const isNow = at.some((one) => visible[one]?.has(path) === true);
  // what was removed counts where it tells something: a secret, or which layer brought a package
  if (!isNow && !mayHoldSecrets(path) && databaseOf(path) === null) return null;
  if (!isNow && isRelease(path)) return null;
  const bytes = header.size ?? 0;
  return { path: markedPath(place + 1, isNow, path), bytes, read: async (most = bytes) => entry.read(most) };
}
