// What an archive is before it is kept: read once to its end, within the limits of scans, so that one that no scan can
// read is refused while its sender is still there.
import { archiveFormOf, archiveSource, type ArchiveForm } from '../scanners/sources/archive.js';
import { isPassed, SourceError, type Source, type SourceItem } from '../scanners/sources/source.js';
import { unfit } from '../kit/endpoint.js';

export interface Examined {
  readonly form: ArchiveForm;
  readonly files: number;
  readonly unpackedBytes: number;
  /** The directory that everything in it lies in; empty: there is more than one. */
  readonly root: string;
}

/** Throws 422 for what is no archive, is damaged, has no file, or is beyond the limits. */
export async function examine(file: string): Promise<Examined> {
  const form = await archiveFormOf(file);
  if (form === null) throw unfit('file', 'is no archive', 'send tar, tar.gz, tar.zst or zip, as `git archive` writes');
  const roots = new Set<string>();
  let [files, unpackedBytes] = [0, 0];
  try {
    for await (const item of archiveSource(file, form).items(new AbortController().signal)) {
      if (roots.size < 2) roots.add(firstOf(item.path));
      if (isPassed(item)) continue;
      files++;
      unpackedBytes += item.bytes;
    }
  } catch (error) {
    if (error instanceof SourceError) throw unfit('file', 'cannot be kept', error.message.replace(/\.$/, ''));
    throw error;
  }
  if (files === 0) throw unfit('file', 'has no file to look at', 'send an archive of the checkout');
  const [root = ''] = roots;
  return { form, files, unpackedBytes, root: roots.size === 1 ? root : '' };
}

/** The topmost directory; empty for what lies in none. */
const firstOf = (path: string): string => (path.includes('/') ? path.slice(0, path.indexOf('/')) : '');

/**
 * Whether the directory around everything was put there by a packer and is no part of the code: it has the name of the
 * repository (`shop`, `shop-main`, `shop-v1.2`), or ends with that of a commit (`team-shop-1a2b3c4`).
 */
export function isPackersRoot(root: string, repository: string): boolean {
  const name = (repository.split('/').at(-1) ?? '').toLowerCase().replace(/\.git$/, '');
  const lower = root.toLowerCase();
  return lower === name || lower.startsWith(`${name}-`) || /-[0-9a-f]{7,40}$/.test(lower);
}

/** The files of a directory alone, with their paths from the top; empty: all. */
export function within(source: Source, directory: string): Source {
  if (directory === '') return source;
  return {
    isOneFile: source.isOneFile,
    // how many of them lie there is not known before
    total: null,
    async *items(signal) {
      for await (const item of source.items(signal)) if (item.path.startsWith(`${directory}/`)) yield item;
    },
  };
}

/** The same files without the directory around them. */
export function withoutRoot(source: Source, root: string): Source {
  if (root === '') return source;
  const inner = (path: string): string => (path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path);
  return {
    ...source,
    async *items(signal) {
      for await (const item of source.items(signal)) yield { ...item, path: inner(item.path) } satisfies SourceItem;
    },
  };
}
