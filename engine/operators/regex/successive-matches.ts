// All matches of a pattern, one after another, for the operators that need more than the first. The pattern object
// matches from the start of a value only, so the search from an offset is written into the pattern: a shortest prefix,
// then the pattern in a group. The prefix keeps one byte before the offset in sight, so that `^` and `\b` mean what
// they mean in the whole value.
import { compilePattern } from './rx.js';

/** Limits per value, after which it is judged on what was found: every search reads the rest of the value anew. */
const searchesMax = 1000;
const searchedBytesMax = 64 * 1024 * 1024;

export interface FoundMatch {
  /** Byte offset in the value. */
  readonly start: number;
  /** The match and its groups. */
  readonly groups: readonly string[];
}

type Pattern = ReturnType<typeof compilePattern>;

/** Where a search goes on after a match. */
type Step = (match: FoundMatch) => number;

/** Throws OperatorArgumentError when the pattern does not compile. */
export function compileSuccessive(
  name: string,
  source: string,
  nextOffset: Step,
): (value: string) => Generator<FoundMatch> {
  const first = compilePattern(name, `^(?s:.*?)(${source})`);
  let later: Pattern | null = null; // most values have no second match
  return function* (value) {
    let from = 0;
    let searchedBytes = 0;
    for (
      let search = 0;
      search < searchesMax && searchedBytes <= searchedBytesMax && from <= value.length;
      search += 1
    ) {
      searchedBytes += value.length - from;
      if (from > 0) later ??= compilePattern(name, `^(?s:.)(?s:.*?)(${source})`);
      const base = from === 0 ? 0 : from - 1;
      const found: readonly string[] | null =
        from === 0 ? first.exec(value) : (later as Pattern).exec(value.slice(base));
      if (found === null) return;
      const match = { start: base + (found[0] as string).length - (found[1] as string).length, groups: found.slice(1) };
      yield match;
      from = nextOffset(match);
    }
  };
}
