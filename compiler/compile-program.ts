// Sources → Program: the front end in one function.
import type { Program } from '#engine/compile';
import { assembleProgram } from './program/assemble.js';
import { bindNodes } from './program/bind.js';
import { BindContext } from './program/bound-rule.js';
import { Diagnostics, type Diagnostic } from './diagnostics/diagnostics.js';
import { loadNodes } from './tree/load.js';
import { noReader, SourceSet, type SourceReader, type SourceText } from './text/source.js';

export interface CompileProgramOptions {
  /** Opens Include, data and mapping files; without one, every file is absent. */
  readonly reader?: SourceReader;
}
export interface CompileProgramResult {
  /** null when there is an error. */
  readonly program: Program | null;
  /** In order of discovery: reading first, then names, then whole rules. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Compiles rule text to a Program. `sources` are read in order; a string is a path for the reader. Text is latin1.
 * Never throws on any text; every problem is a diagnostic, and one run reports all of them.
 */
export function compileProgram(
  sources: readonly (SourceText | string)[],
  options: CompileProgramOptions = {},
): CompileProgramResult {
  const diagnostics = new Diagnostics();
  const set = new SourceSet(options.reader ?? noReader);
  const context = new BindContext(set, diagnostics);
  const configuration = bindNodes(loadNodes(sources, set, diagnostics), context);
  const program = assembleProgram(configuration, context);
  return { program: diagnostics.hasErrors ? null : program, diagnostics: diagnostics.list };
}
