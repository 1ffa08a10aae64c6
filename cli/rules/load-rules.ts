// The rule files of a command line: patterns to files, files to a Program.
import type { Program } from '#engine/compile';
import { compileProgram, diskReader, expandGlob, formatDiagnostics, type Diagnostic } from '#compiler';
import { Refusal, wrongUsage } from '../refusal.js';

/**
 * The files of `--rules`, in the order given, each pattern's sorted by name. A pattern that matches none is wrong
 * usage.
 */
export function expandRules(patterns: readonly string[]): string[] {
  return patterns.flatMap((pattern) => {
    const found = expandGlob(pattern);
    if (found.length === 0)
      throw wrongUsage(`--rules ${pattern}: no file matches. Give an existing file or a pattern in quotes.`);
    return found;
  });
}

export interface LoadedRules {
  readonly program: Program;
  readonly diagnostics: readonly Diagnostic[];
}

/** Compiles the files of `--rules`. No files at all are wrong usage; rules with errors are refused with all of them. */
export function loadRules(patterns: readonly string[]): LoadedRules {
  const paths = expandRules(patterns);
  if (paths.length === 0)
    throw wrongUsage('No rules: give --rules FILE or GLOB, several times if need be, in load order.');
  const { program, diagnostics } = compileProgram(paths, { reader: diskReader });
  if (program === null) throw new Refusal(`The rules do not compile:\n${formatErrors(diagnostics)}`);
  return { program, diagnostics };
}

export function formatErrors(diagnostics: readonly Diagnostic[]): string {
  return formatDiagnostics(diagnostics.filter(({ severity }) => severity === 'error'));
}
