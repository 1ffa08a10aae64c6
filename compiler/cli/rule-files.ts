// Rule files on disk for the command line: shell patterns, reading as bytes, compiling to a Program.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Program } from '#engine/ir';
import { type Diagnostic, formatDiagnostics } from '../diagnostics.js';
import { compileProgram } from '../program.js';
import type { SourceReader } from '../source.js';

/** Errors of a command line: printed without a stack, exit code 2. */
export class UsageError extends Error {}

function isMissing(error: unknown): boolean {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR' || code === 'EACCES';
}

function segmentPattern(segment: string): RegExp {
  const body = [...segment].map((character) => (character === '*' ? '[^/]*' : character === '?' ? '[^/]' : character.replace(/[\\^$.|+()[\]{}]/, '\\$&'))).join('');
  return new RegExp(`^${body}$`, 's');
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder === '' ? '.' : folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Paths that match a pattern with `*` and `?` in any segment, sorted by name. A path without them is returned as it is. */
export function expandGlob(pattern: string): string[] {
  if (!/[*?]/.test(pattern)) return [pattern];
  const segments = pattern.split('/');
  let found = [segments[0] === '' ? '/' : ''];
  for (const segment of segments[0] === '' ? segments.slice(1) : segments) {
    if (!/[*?]/.test(segment)) {
      found = found.map((folder) => join(folder, segment));
      continue;
    }
    const wanted = segmentPattern(segment);
    found = found.flatMap((folder) =>
      listNames(folder)
        .filter((name) => wanted.test(name) && (segment.startsWith('.') || !name.startsWith('.')))
        .sort()
        .map((name) => join(folder, name)),
    );
  }
  return found.filter((path) => existsSync(path)); // a segment without wildcard may be missing below some folder
}

/** Reads rule and data files as latin1; what cannot be read is absent, which the compiler reports with its place. */
export const diskReader: SourceReader = {
  read(path) {
    try {
      return readFileSync(path, 'latin1');
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  },
  glob: expandGlob,
};

export interface LoadedRules {
  readonly program: Program;
  readonly diagnostics: readonly Diagnostic[];
}

/** Compiles rule files in the order given, patterns sorted by name. Throws UsageError with every error of the rules. */
export function loadRules(patterns: readonly string[]): LoadedRules {
  const paths = patterns.flatMap((pattern) => {
    const found = expandGlob(pattern);
    if (found.length === 0) throw new UsageError(`--rules ${pattern}: no file matches. Give an existing file or a pattern in quotes.`);
    return found;
  });
  if (paths.length === 0) throw new UsageError('No rules: give --rules FILE or GLOB, several times if need be, in load order.');
  const { program, diagnostics } = compileProgram(paths, { reader: diskReader });
  if (program === null) throw new UsageError(`The rules do not compile:\n${formatDiagnostics(diagnostics.filter((diagnostic) => diagnostic.severity === 'error'))}`);
  return { program, diagnostics };
}
