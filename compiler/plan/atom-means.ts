// How an atom can be answered in bulk: by patterns that a scan looks for, or by calling its operator where certain
// bytes occur.
import { createMatcher, literalsAreCaseless, literalsOf, type OperatorIR } from '#engine/compile';
import { literalPattern, regexPattern, type ScanPattern } from './patterns.js';

export type AtomMeans =
  /** Any of these patterns seen = the atom may hold. */
  | { readonly kind: 'patterns'; readonly patterns: readonly ScanPattern[] }
  | { readonly kind: 'called'; readonly neededBytes: readonly number[] | null };

/** Steps T with T(lower(v)) = lower(T(v)) for all v: a `lowercase` before them may move behind them. */
const commutesWithLowercase = new Set([
  'removeNulls',
  'replaceNulls',
  'removeWhitespace',
  'compressWhitespace',
  'trim',
  'trimLeft',
  'trimRight',
  'replaceComments',
  'removeComments',
  'removeCommentsChar',
  'normalizePath',
  'normalizePathWin',
  'lowercase',
]);

/**
 * Takes `lowercase` out of a pipeline where only steps that commute with it follow: the pattern then matches caselessly
 * (a necessary condition, confirmed on a hit), and values that differ only in case need no second scan.
 */
export function dropLowercase(steps: readonly string[]): { pipeline: readonly string[]; dropped: boolean } {
  let kept: string[] = [...steps];
  let dropped = false;
  for (;;) {
    const at = kept.findIndex(
      (name, index) => name === 'lowercase' && kept.slice(index + 1).every((later) => commutesWithLowercase.has(later)),
    );
    if (at === -1) return { pipeline: kept, dropped };
    kept = kept.filter((_, index) => index !== at);
    dropped = true;
  }
}

/**
 * `@rx ^.*$` and its like, written to capture: a scan would only say "maybe" about every value. A wrong guess costs
 * time, not truth.
 */
export function holdsOnAnything(operator: OperatorIR, argument: string): boolean {
  if (operator.name === 'unconditionalMatch') return true;
  if (operator.name !== 'rx') return false;
  const matcher = createMatcher(operator, argument);
  return ['', 'a', '\x00\xff~ '].every((value) => matcher.matches(value));
}

export function meansOf(operator: OperatorIR, argument: string, caseless: boolean): AtomMeans {
  if (operator.name === 'rx' || operator.name === 'rxGlobal')
    return { kind: 'patterns', patterns: [regexPattern(argument, caseless)] };
  const literals = literalsOf({ ...operator, argument, template: null });
  if (literals !== null && literals.length > 0 && literals.every((literal) => literal.length > 0)) {
    const anyCase = caseless || literalsAreCaseless(operator);
    return { kind: 'patterns', patterns: literals.map((literal) => literalPattern(literal, anyCase, operator.name)) };
  }
  return { kind: 'called', neededBytes: neededBytesOf(operator, argument) };
}

/** Bytes without which the operator cannot hold; null = no such set is known. */
export function neededBytesOf(operator: OperatorIR, argument: string): readonly number[] | null {
  const bytes = [...Array(256).keys()];
  if (operator.name === 'validateByteRange') {
    // It holds on a value exactly when it holds on one of its bytes.
    const matcher = createMatcher(operator, argument);
    return bytes.filter((byte) => matcher.matches(String.fromCharCode(byte)));
  }
  if (operator.name === 'validateUrlEncoding') return [0x25];
  // libinjection's HTML tokenizer, in whichever state it begins, leaves its first token only at white space, a quote,
  // `<`, `>`, `/` or `=`. That token is text, or the name or the value of an attribute, and alone it is never an
  // attack: a name needs a value, a value a name, a tag its `<` (atom-means.test.ts tries the names that it reacts to).
  if (operator.name === 'detectXSS') return bytes.filter((byte) => !isIn(wordBytes, byte));
  // Hexadecimal digits make at most a number and one word, and no keyword of SQL that libinjection reacts to is spelled
  // with a to f alone (atom-means.test.ts tries all of them). With g to z, `--` or a dot it may.
  if (operator.name === 'detectSQLi') return bytes.filter((byte) => !isIn(hexBytes, byte));
  if (operator.name === 'validateUtf8Encoding') return bytes.filter((byte) => byte >= 0x80);
  return null;
}

const hexBytes = '0123456789ABCDEFabcdef';
const wordBytes = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.-';

function isIn(alphabet: string, byte: number): boolean {
  return alphabet.includes(String.fromCharCode(byte));
}
