// What paths mean to a scan: files of directories and archives, read as one source, and images, each by itself.
import { existsSync, realpathSync, statSync, type Stats } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { archiveFormOf, isForeign, openSource, readImage, SourceError, sourcesTogether } from '#vm-manager/scanners';
import type { Extent, Layout, Source } from '#vm-manager/scanners';
import { isSystemError, pathRefusal, Refusal, unreadable } from '../../../refusal.js';

interface Files {
  readonly kind: 'directory' | 'files';
  /** What its paths begin with in reports. */
  readonly at: string;
  readonly source: Source;
  readonly path: string;
}
interface Image {
  readonly kind: 'image';
  readonly at: string;
  readonly path: string;
  readonly layout: Layout;
}
export type Target = Files | Image;

const nestedMax = 200;
const isArchiveName = (name: string): boolean => /\.(?:tar|tgz|tar\.(?:gz|zst)|tzst|oci|zip)$/i.test(name);

function statOf(path: string): Stats {
  try {
    return statSync(path);
  } catch (error) {
    throw isSystemError(error) ? unreadable(path, error, 'or start it as its owner', 2) : error;
  }
}

/** Of one path of several: as it is seen from here. */
function nameOf(path: string): string {
  const from = relative(process.cwd(), resolve(path)).replaceAll('\\', '/');
  return from.startsWith('..') ? basename(resolve(path)) : from;
}

/** A bill of material, by its first bytes. */
export async function isBill(path: string): Promise<boolean> {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile() !== true || !/\.json$/i.test(path)) return false;
  const handle = await open(path);
  try {
    const bytes = Buffer.alloc(4096);
    const { bytesRead } = await handle.read(bytes, 0, bytes.length, 0);
    return /"(?:bomFormat|spdxVersion)"/.test(bytes.toString('utf8', 0, bytesRead));
  } finally {
    await handle.close();
  }
}

/** An image, or null. Throws SourceError for one that is damaged. */
async function imageAt(path: string, isDirectory: boolean): Promise<Layout | null> {
  if (isDirectory) return existsSync(join(path, 'oci-layout')) ? readImage(path) : null;
  const form = await archiveFormOf(path);
  return form === null || form === 'zip' ? null : readImage(path);
}

/** A source that says why it cannot be read. */
const faulty = (reason: string): Source => ({
  total: 1,
  isOneFile: false,
  async *items() {
    yield { path: '', passed: reason, isFault: true };
  },
});

async function* archivesIn(root: string, below = ''): AsyncGenerator<string> {
  const names = await readdir(join(root, below), { withFileTypes: true }).catch(() => []);
  for (const one of names.sort((left, right) => (left.name < right.name ? -1 : 1))) {
    const path = below === '' ? one.name : `${below}/${one.name}`;
    if (one.isDirectory() && !isForeign(one.name)) yield* archivesIn(root, path);
    else if (one.isFile() && isArchiveName(one.name)) yield path;
  }
}

/** Archives that lie in a directory: images as such, others as what is in them. */
async function nested(root: string, at: string): Promise<Target[]> {
  const found: Target[] = [];
  for await (const name of archivesIn(root)) {
    const path = join(root, name);
    if (found.length >= nestedMax) {
      const source = faulty(`archives beyond ${nestedMax}`);
      return [...found, { kind: 'files', at: `${at}${name}`, source, path }];
    }
    try {
      const layout = await imageAt(path, false);
      if (layout !== null) found.push({ kind: 'image', at: `${at}${name}!`, path, layout });
      else if ((await archiveFormOf(path)) !== null)
        found.push({ kind: 'files', at: `${at}${name}!`, source: await openSource(path), path });
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      found.push({ kind: 'files', at: `${at}${name}`, source: faulty(`archives: ${error.message}`), path });
    }
  }
  return found;
}

async function targetOf(path: string, isAlone: boolean, all: boolean): Promise<Target[]> {
  const isDirectory = statOf(path).isDirectory();
  const name = isAlone ? basename(resolve(path)) : nameOf(path);
  const layout = await imageAt(path, isDirectory);
  if (layout !== null) return [{ kind: 'image', at: `${name}!`, path, layout }];
  if (isDirectory) {
    const at = isAlone || name === '' ? '' : `${name}/`;
    const own: Target = { kind: 'directory', at, source: await openSource(resolve(path)), path };
    return all ? [own, ...(await nested(resolve(path), at))] : [own];
  }
  const source = await openSource(resolve(path), basename(name));
  if (source.isOneFile)
    return [{ kind: 'files', at: name.slice(0, name.length - basename(name).length), source, path }];
  return [{ kind: 'files', at: isAlone ? '' : `${name}!`, source, path }];
}

/** Throws Refusal for what is not there or cannot be read. */
export async function targetsOf(paths: readonly string[], all: boolean): Promise<readonly Target[]> {
  const found: Target[] = [];
  for (const path of paths)
    try {
      found.push(...(await targetOf(path, paths.length === 1, all)));
    } catch (error) {
      if (error instanceof SourceError) throw new Refusal(`${path}: ${error.message}`, 2);
      throw pathRefusal(error) ?? error;
    }
  return found;
}

/** As one source; null: there are none. */
export function sourceOf(targets: readonly Target[], kind: Files['kind']): Source | null {
  const parts = targets.filter((one): one is Files => one.kind === kind);
  return parts.length === 0 ? null : sourcesTogether(parts);
}

/** Whether a directory above this one is a checkout: then this is a part of it. */
function isWithinCheckout(directory: string): boolean {
  if (['.git', '.hg', '.svn'].some((name) => existsSync(join(directory, name)))) return false;
  for (let above = dirname(directory), below = directory; above !== below; [below, above] = [above, dirname(above)])
    if (['.git', '.hg', '.svn'].some((name) => existsSync(join(above, name)))) return true;
  return false;
}

/** What is said, else what the paths are; only one directory is a whole. */
export function extentOf(paths: readonly string[], given: string | undefined): Extent {
  if (given !== undefined) return given === 'whole' ? 'whole' : 'part';
  const [only = '.'] = paths;
  if (paths.length !== 1 || !statOf(only).isDirectory()) return 'part';
  return isWithinCheckout(realpathSync(only)) ? 'part' : 'whole';
}
