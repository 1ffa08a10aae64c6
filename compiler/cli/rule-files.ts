// Rule files on disk for the command line: shell patterns, reading as bytes, compiling to a Program.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Program } from '#engine/compile';
import type { Diagnostic } from '../diagnostics/diagnostics.js';
import { formatDiagnostics } from '../diagnostics/format.js';
import { compileProgram } from '../compile-program.js';
import type { SourceReader } from '../text/source.js';

/** Errors of a command line: printed without a stack, exit code 2. */
export class UsageError extends Error {}

/** Rules or settings that cannot be used: printed without a stack, exit code 1. */
export class RefusedError extends Error {}

/** What the system says of a path: missing, forbidden, a directory, too long, no path at all. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
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

/**
 * The files of `--rules`, in the order given, each pattern's sorted by name. Throws UsageError for a pattern that
 * matches none.
 */
export function expandRules(patterns: readonly string[]): string[] {
  return patterns.flatMap((pattern) => {
    const found = expandGlob(pattern);
    if (found.length === 0)
      throw new UsageError(`--rules ${pattern}: no file matches. Give an existing file or a pattern in quotes.`);
    return found;
  });
}

export interface LoadedRules {
  readonly program: Program;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Compiles the files of `--rules`. Throws UsageError where there are none, RefusedError with every error of the rules.
 */
export function loadRules(patterns: readonly string[]): LoadedRules {
  const paths = expandRules(patterns);
  if (paths.length === 0)
    throw new UsageError('No rules: give --rules FILE or GLOB, several times if need be, in load order.');
  const { program, diagnostics } = compileProgram(paths, { reader: diskReader });
  if (program === null)
    throw new RefusedError(
      `The rules do not compile:\n${formatDiagnostics(diagnostics.filter((diagnostic) => diagnostic.severity === 'error'))}`,
    );
  return { program, diagnostics };
}
