// Which engine a command runs: the compiled one (the product) or the interpreter (the oracle).
import { createCompiledInspector, hyperscanLibrary, loadRuleset, type Inspector } from '#engine';
import { createInterpreter, type Program } from '#engine/compile';
import { createFileCache, emitArtifact } from '#compiler';
import { automataCacheDirectory } from '../environment/directories.js';
import { wrongUsage } from '../refusal.js';

export type EngineName = 'compiled' | 'interpreter';

export function parseEngineName(text: string | undefined): EngineName | null {
  if (text === undefined) return null;
  if (text === 'compiled' || text === 'interpreter') return text;
  throw wrongUsage(`--engine ${text}: choose compiled or interpreter.`);
}

/** `name` null = the compiled engine. Compiles the program's automata first, from the cache where they are known. */
export async function createEngine(
  name: EngineName | null,
  program: Program,
): Promise<{ readonly inspector: Inspector; readonly name: EngineName }> {
  if (name === 'interpreter') return { inspector: createInterpreter(program), name };
  const { bytes } = await emitArtifact(program, { cache: createFileCache(automataCacheDirectory()) });
  return { inspector: createCompiledInspector(loadRuleset(bytes, hyperscanLibrary())), name: 'compiled' };
}
