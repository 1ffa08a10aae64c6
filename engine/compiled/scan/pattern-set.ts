// A set of RE2 patterns over bytes: the planner puts the few patterns here that Hyperscan refuses or over-approximates
// (the Unix command patterns, 6–12 KB each), which RE2 takes at 2–4 ns a byte.
import RE2 from 're2';
import { writeLatin1 } from '../../parse/latin1.js';

/** A compiled RE2 set: indexes of the patterns that occur in a latin1 text. */
export interface PatternSet {
  match(text: string, isAscii: boolean): readonly number[];
}

/** Texts up to this length go through one reused buffer; RE2 reads a Buffer several times faster than a string. */
const scratchBytes = 16 * 1024;
const scratch = Buffer.allocUnsafe(scratchBytes);

/** Making a view costs as much as a short match: they are kept by length. */
const views: (Buffer | undefined)[] = [];
const viewsMax = 2048;

function viewOf(length: number): Buffer {
  if (length >= viewsMax) return scratch.subarray(0, length);
  return (views[length] ??= scratch.subarray(0, length));
}

/**
 * Compiling the giants takes 35 ms, and a reload rarely changes them: the sets of the last rule sets of this thread are
 * kept. Immutable once built, so that two rule sets may use one.
 */
const kept = new Map<string, PatternSet>();
const keptMax = 16;

/** `sources` are RE2 syntax over code points 0–255 (engine/regex `toRe2Source`). */
export function createPatternSet(sources: readonly string[]): PatternSet {
  const key = sources.join('\0'); // no source holds a NUL: it is written \x{0}
  const known = kept.get(key);
  const set = known ?? compileSet(sources);
  kept.delete(key); // the most recent last
  kept.set(key, set);
  for (const oldest of kept.keys()) {
    if (kept.size <= keptMax) break;
    kept.delete(oldest);
  }
  return set;
}

function compileSet(sources: readonly string[]): PatternSet {
  const set = new RE2.Set([...sources], 'us');
  return {
    match(text, isAscii) {
      // A Buffer is read as UTF-8, which for ASCII is the bytes themselves; other bytes must become code points.
      if (!isAscii || text.length > scratchBytes) return set.match(text);
      writeLatin1(scratch, text, 0);
      return set.match(viewOf(text.length));
    },
  };
}
