// Which engine a command runs: the compiled one (the product) or the interpreter (the oracle).
import * as door from '#engine';
import type { Inspector } from '#engine/inspector';
import { createInterpreter } from '#engine/interpreter';
import type { Program } from '#engine/ir';
import { UsageError } from './rule-files.js';

export type EngineName = 'compiled' | 'interpreter';

export function parseEngineName(text: string | undefined): EngineName | null {
  if (text === undefined) return null;
  if (text === 'compiled' || text === 'interpreter') return text;
  throw new UsageError(`--engine ${text}: choose compiled or interpreter.`);
}

type CompiledFactory = (program: Program) => Inspector | Promise<Inspector>;

/** `name` null = the compiled engine where it is built, else the interpreter. */
export async function createEngine(name: EngineName | null, program: Program): Promise<{ readonly inspector: Inspector; readonly name: EngineName }> {
  const factory = (door as unknown as { readonly createCompiledInspector?: CompiledFactory }).createCompiledInspector;
  if (name === 'interpreter' || (name === null && factory === undefined)) return { inspector: createInterpreter(program), name: 'interpreter' };
  if (factory === undefined) throw new UsageError('--engine compiled: this build has no compiled engine; use --engine interpreter.');
  return { inspector: await factory(program), name: 'compiled' };
}
