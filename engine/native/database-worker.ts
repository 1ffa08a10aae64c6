// Runs in a piscina worker of the compiler's pool: the slow, synchronous half of its DatabaseCompiler. It lives here so
// that such a thread loads Hyperscan and nothing else of the engine, which takes a third of the time.
import { hyperscanLibrary } from './hyperscan.js';
import { PatternRefused, type PatternSpec } from './matcher.js';

/** How Hyperscan takes one pattern: exactly, only as an over-approximation, or not at all. */
export type PatternFit = 'exact' | 'prefilter' | 'refused';

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
