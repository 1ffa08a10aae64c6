// Runs in a piscina worker: the slow, synchronous half of DatabaseCompiler.
import { hyperscanLibrary } from '#engine/native/hyperscan';
import { PatternRefused, type PatternSpec } from '#engine/native/matcher';
import type { PatternFit } from './database-compiler.js';

export type CompileTask =
  | { readonly kind: 'database'; readonly patterns: readonly PatternSpec[] }
  | { readonly kind: 'classify'; readonly patterns: readonly PatternSpec[] };
export type CompileReply =
  | { readonly kind: 'database'; readonly bytes: Uint8Array; readonly compileMs: number }
  | { readonly kind: 'classify'; readonly fits: readonly PatternFit[] }
  | { readonly kind: 'refused'; readonly patternId: number; readonly message: string };

export default function run(task: CompileTask): CompileReply {
  if (task.kind === 'classify') return { kind: 'classify', fits: task.patterns.map(fitOf) };
  const started = performance.now();
  try {
    const bytes = hyperscanLibrary().compile(task.patterns);
    return { kind: 'database', bytes, compileMs: performance.now() - started };
  } catch (error) {
    if (!(error instanceof PatternRefused)) throw error;
    return { kind: 'refused', patternId: error.patternId, message: error.message };
  }
}

function fitOf(pattern: PatternSpec): PatternFit {
  for (const prefilter of [false, true]) {
    try {
      hyperscanLibrary().compile([{ ...pattern, id: 0, prefilter }]);
      return prefilter ? 'prefilter' : 'exact';
    } catch (error) {
      if (!(error instanceof PatternRefused)) throw error;
    }
  }
  return 'refused';
}
