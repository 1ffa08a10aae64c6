// Tools that write the place of a file in several ways: its absolute path, its path below the directory that was
// scanned, and its path below the one that the tool ran in. Together they tell both directories, so that neither has to
// be guessed from what paths look like.
import { below, checkoutOf, firstOfCheckout, isAbsolute, isSystemName, partsOf } from './paths.js';

/** Each as `reportPath` has it. */
export interface Written {
  /** From the root of the file system. */
  readonly absolute: string;
  /** From the directory that was scanned; with or without a slash before it. */
  readonly scanned: string;
  /** From the directory that the tool ran in; null: the file lies elsewhere. */
  readonly ran: string | null;
}
export interface Place {
  readonly path: string;
  /** The directory that the path is to be taken from; null: the path is one of the repository. */
  readonly base: string | null;
}

/** What is before the end of the path; null: it does not end like that. `''`: the root of the file system. */
function before(path: string, end: string): string | null {
  const rest = `/${partsOf(end).join('/')}`;
  return isAbsolute(path) && rest !== '/' && path.endsWith(rest) ? path.slice(0, path.length - rest.length) : null;
}

/** Whether a directory can be a repository: not the root, nor one that only holds checkouts (`/home/al`, `/builds`). */
function canBeRepository(directory: string): boolean {
  const parts = partsOf(directory);
  return parts.length > firstOfCheckout(parts) && (parts.length > 1 || !isSystemName(parts[0] ?? ''));
}

/**
 * A tool that runs in a repository writes its paths, whatever part of it is scanned. One that runs elsewhere (in `/` of
 * an image) names the directory that is scanned, and nothing above it. null: the paths do not belong together.
 */
export function placeOf({ absolute, scanned, ran }: Written): Place | null {
  const directory = before(absolute, scanned);
  if (directory === null) return null;
  const home = ran === null ? null : before(absolute, ran);
  if (ran !== null && home !== null && canBeRepository(home)) return { path: partsOf(ran).join('/'), base: null };
  return directory === '' ? { path: partsOf(scanned).join('/'), base: null } : { path: absolute, base: directory };
}

/**
 * The directories of the places. A file that is scanned by itself makes its own directory look like the scanned one:
 * where all do, the working directory of a CI service or of an image counts.
 */
export function basesOf(places: readonly Place[]): string[] {
  const bases = new Set<string>();
  for (const { path, base } of places) {
    if (base === null) continue;
    const isFlat = below(path, base)?.includes('/') === false;
    const found = isFlat ? checkoutOf([path]) : null;
    bases.add(found === null || found.isOpen || below(base, found.root) === null ? base : found.root);
  }
  return [...bases];
}
