// Rule files on disk: shell patterns, and reading as bytes.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SourceReader } from '../text/source.js';

/** What the system says of a path: missing, forbidden, a directory, too long, no path at all. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).code === 'string';
}

/** `*`, `?` and `[a-z]`, `[!a-z]` as in a shell; a bracket that is not closed means itself. */
const wildcards = /[*?]|\[[^/\]]+\]/;

function segmentPattern(segment: string): RegExp {
  const body = segment.replace(
    /\[(!?)([^\]]+)\]|[^]/gu,
    (character: string, not: string | undefined, members: string | undefined) => {
      if (members !== undefined) return `[${not === '!' ? '^' : ''}${members.replace(/[\\^[]/g, '\\$&')}]`;
      return character === '*' ? '[^/]*' : character === '?' ? '[^/]' : character.replace(/[\\^$.|+()[\]{}]/, '\\$&');
    },
  );
  try {
    return new RegExp(`^${body}$`, 's');
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error; // `[z-a]`
    return /(?!)/;
  }
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder === '' ? '.' : folder);
  } catch (error) {
    if (isSystemError(error)) return [];
    throw error;
  }
}

/**
 * Paths that match a pattern with `*`, `?` and `[…]` in any segment, sorted by name. A path without them is returned as
 * it is.
 */
export function expandGlob(pattern: string): string[] {
  if (!wildcards.test(pattern)) return [pattern];
  const segments = pattern.split('/');
  let found = [segments[0] === '' ? '/' : ''];
  for (const segment of segments[0] === '' ? segments.slice(1) : segments) {
    if (!wildcards.test(segment)) {
      found = found.map((folder) => join(folder, segment));
      continue;
    }
    const wanted = segmentPattern(segment);
    found = found.flatMap((folder) => {
      const itself = join(folder, segment);
      if (!/[*?]/.test(segment) && existsSync(itself)) return [itself]; // a name with brackets
      return listNames(folder)
        .filter((name) => wanted.test(name) && (segment.startsWith('.') || !name.startsWith('.')))
        .sort()
        .map((name) => join(folder, name));
    });
  }
  return found.filter((path) => existsSync(path)); // a segment without wildcard may be missing below some folder
}

/** Reads rule and data files as latin1; what cannot be read is absent, which the compiler reports with its place. */
export const diskReader: SourceReader = {
  read(path) {
    try {
      return readFileSync(path, 'latin1');
    } catch (error) {
      if (isSystemError(error)) return null;
      throw error;
    }
  },
  glob: expandGlob,
};
