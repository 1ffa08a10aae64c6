// What an archive of an image says of itself: `docker save` (manifest.json) or the OCI layout (index.json, with indexes
// within), its configuration, and which entries are its layers.
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { Budget, SourceError, sourceLimits } from '../sources/source.js';
import { listOf, objectOf, textOf, type Json } from '../sca/listing.js';
import { innerName, unpackFile } from './tar-stream.js';
import { maskSecrets } from '../../secrets/mask.js';

export interface Layer {
  /** Entry of the archive. */
  readonly entry: string;
  /** `sha256:…` of the plain tar. */
  readonly diffId: string;
  /** What made it, as the history says. */
  readonly createdBy: string;
}

export interface Layout {
  readonly form: 'docker' | 'oci';
  /** `sha256:…` of the configuration: the id of the image. */
  readonly digest: string;
  readonly tags: readonly string[];
  readonly os: string;
  readonly architecture: string;
  readonly createdAt: string;
  readonly config: Json;
  readonly layers: readonly Layer[];
  /** Platforms of the archive that were not taken. */
  readonly otherPlatforms: readonly string[];
}

const jsonBytesMax = 4 * 1024 * 1024;
const allJsonBytesMax = 64 * 1024 * 1024;
const layersMax = 500;
const nestedMax = 4;

interface Outer {
  /** Name → bytes of entries that may be JSON. */
  readonly texts: ReadonlyMap<string, Buffer>;
  readonly names: ReadonlySet<string>;
  /** Legacy `docker save`: a layer that another image has, too, is a link. */
  readonly links: ReadonlyMap<string, string>;
}

function linkTarget(name: string, to: string): string {
  const parts = name.split('/').slice(0, -1);
  for (const part of to.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
}

async function readOuter(path: string): Promise<Outer> {
  const found = await stat(path);
  const texts = new Map<string, Buffer>();
  const names = new Set<string>();
  const links = new Map<string, string>();
  let all = 0;
  const { entries } = await unpackFile(path, new Budget(sourceLimits, found.isDirectory() ? null : found.size));
  for await (const { header, read } of entries) {
    const name = innerName(header.name);
    if (header.type === 'symlink' || header.type === 'link') {
      const to = header.linkname ?? '';
      links.set(name, header.type === 'link' ? innerName(to) : linkTarget(name, to));
    }
    if (header.type !== 'file' && header.type !== 'contiguous-file') continue;
    names.add(name);
    const isSmall = (header.size ?? 0) <= jsonBytesMax && all < allJsonBytesMax;
    if (!isSmall || !(name.endsWith('.json') || name.startsWith('blobs/'))) continue;
    const bytes = await read(jsonBytesMax);
    if (bytes[0] !== 0x7b && bytes[0] !== 0x5b) continue;
    all += bytes.length;
    texts.set(name, bytes);
  }
  return { texts, names, links };
}

/** What no column takes is left out of names and steps: it is what anybody has written. */
const storable = (_name: string, value: unknown): unknown =>
  typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '') : value;

function jsonIn({ texts }: Outer, name: string, what: string): Json {
  const bytes = texts.get(name);
  if (bytes === undefined) throw new SourceError(`The archive names ${what} (${name.slice(0, 100)}) and has none.`);
  try {
    return objectOf(JSON.parse(bytes.toString('utf8'), storable));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new SourceError(`${what} of the archive is no JSON.`);
  }
}

const blobOf = (digest: string): string => `blobs/${digest.replace(':', '/')}`;

interface Named {
  readonly configEntry: string;
  readonly layerEntries: readonly string[];
  readonly tags: readonly string[];
  readonly otherPlatforms: readonly string[];
}

function fromDocker(outer: Outer): Named {
  if (outer.names.has('manifest.json') && !outer.texts.has('manifest.json'))
    throw new SourceError(`manifest.json of the archive is no JSON of at most ${jsonBytesMax} bytes.`);
  let all: unknown;
  try {
    all = JSON.parse(outer.texts.get('manifest.json')?.toString('utf8') ?? '[]', storable);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new SourceError('manifest.json of the archive is no JSON.');
  }
  const images = listOf(all);
  if (images.length !== 1)
    throw new SourceError(`The archive has ${images.length} images: save one image into one archive.`);
  const one = objectOf(images[0]);
  return {
    configEntry: innerName(textOf(one['Config'])),
    layerEntries: listOf(one['Layers']).map((name) => innerName(textOf(name))),
    tags: listOf(one['RepoTags']).map(textOf).filter(Boolean),
    otherPlatforms: [],
  };
}

const platformOf = (one: Json): string => {
  const { os, architecture } = objectOf(one['platform']);
  return `${textOf(os)}/${textOf(architecture)}`;
};

/** The manifest of an index that is taken: linux/amd64, else the first for any platform. */
function fromOci(outer: Outer): Named {
  let index = jsonIn(outer, 'index.json', 'the index');
  let tags: readonly string[] = [];
  const others: string[] = [];
  for (let depth = 0; depth < nestedMax; depth++) {
    const all = listOf(index['manifests']).map(objectOf);
    // attestations stand beside images, for the platform unknown/unknown
    const images = all.filter((one) => platformOf(one) !== 'unknown/unknown');
    const taken = images.find((one) => platformOf(one) === 'linux/amd64') ?? images[0];
    if (taken === undefined) throw new SourceError('The index of the archive names no image.');
    const notes = objectOf(taken['annotations']);
    const name = textOf(notes['io.containerd.image.name']) || textOf(notes['org.opencontainers.image.ref.name']);
    if (name !== '') tags = [name];
    others.push(...images.filter((one) => one !== taken).map(platformOf));
    const found = jsonIn(outer, blobOf(textOf(taken['digest'])), 'a manifest');
    if (found['manifests'] === undefined)
      return {
        configEntry: blobOf(textOf(objectOf(found['config'])['digest'])),
        layerEntries: listOf(found['layers']).map((one) => blobOf(textOf(objectOf(one)['digest']))),
        tags,
        otherPlatforms: others,
      };
    index = found;
  }
  throw new SourceError(`The archive has more than ${nestedMax} indexes within each other.`);
}

/** Of a build step what is no value: arguments of builds (`RUN |1 TOKEN=… /bin/sh -c`) and secrets by their form. */
const shownStep = (step: string): string =>
  maskSecrets(step.slice(0, 4000).replace(/^((?:RUN )?\|\d{1,4}) .*?(?= \/bin\/|$)/s, '$1 …')).slice(0, 1000);

/** Steps that made no layer are left out, so that the rest are the layers in their order. */
const madeBy = (config: Json): string[] =>
  listOf(config['history'])
    .map(objectOf)
    .filter((step) => step['empty_layer'] !== true)
    .map((step) => shownStep(textOf(step['created_by'])));

function layersOf(outer: Outer, { layerEntries }: Named, config: Json): Layer[] {
  const diffIds = listOf(objectOf(config['rootfs'])['diff_ids']).map(textOf);
  if (diffIds.length !== layerEntries.length)
    throw new SourceError(`The image has ${layerEntries.length} layers and its configuration names ${diffIds.length}.`);
  if (layerEntries.length > layersMax) throw new SourceError(`The image has more than ${layersMax} layers.`);
  const steps = madeBy(config);
  return layerEntries.map((name, at) => {
    const entry = outer.links.get(name) ?? name;
    if (!outer.names.has(entry)) throw new SourceError(`The layer ${at + 1} is not in the archive (${name}).`);
    return { entry, diffId: diffIds[at] ?? '', createdBy: steps[at] ?? '' };
  });
}

async function outerOf(path: string): Promise<Outer> {
  try {
    return await readOuter(path);
  } catch (error) {
    if (error instanceof SourceError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new SourceError(`The archive cannot be read to its end (${why.slice(0, 200)}).`);
  }
}

/** Other archives, too, have a manifest.json: of an image it is a list of what has layers. */
function isImage({ names, texts }: Outer): boolean {
  if (names.has('oci-layout') && names.has('index.json')) return true;
  const manifest = texts.get('manifest.json')?.toString('utf8') ?? '';
  return manifest.startsWith('[') && /"Layers"\s*:/.test(manifest) && /"Config"\s*:/.test(manifest);
}

/** null: it is an archive (or a directory) of something else. Throws SourceError for an image that is damaged. */
export async function readImage(path: string): Promise<Layout | null> {
  const outer = await outerOf(path);
  return isImage(outer) ? layoutOf(outer) : null;
}

/** Throws SourceError for what is no archive of an image, or of several. */
export const readLayout = async (path: string): Promise<Layout> => layoutOf(await outerOf(path));

function layoutOf(outer: Outer): Layout {
  const form = outer.names.has('manifest.json') ? 'docker' : 'oci';
  if (form === 'oci' && !outer.names.has('index.json'))
    throw new SourceError('It is no image: there is neither manifest.json (docker save) nor index.json (OCI) in it.');
  const named = form === 'docker' ? fromDocker(outer) : fromOci(outer);
  const config = jsonIn(outer, named.configEntry, 'the configuration');
  const bytes = outer.texts.get(named.configEntry) ?? Buffer.alloc(0);
  return {
    form,
    digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}`,
    tags: named.tags.map((tag) => tag.slice(0, 300)).slice(0, 50),
    os: textOf(config['os']),
    architecture: textOf(config['architecture']),
    createdAt: textOf(config['created']),
    config,
    layers: layersOf(outer, named, config),
    otherPlatforms: named.otherPlatforms.slice(0, 50),
  };
}
