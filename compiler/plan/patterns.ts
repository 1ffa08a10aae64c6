// One pattern as the automata want it, with what the planner asks about it.
import {
  foldLowercase,
  parseRegex,
  RegexUnsupportedError,
  restrictTo,
  toHyperscanSource,
  toRe2Source,
  type ByteSet,
  type RegexNode,
} from '#engine/compile';

export interface ScanPattern {
  /** PCRE syntax for Hyperscan. */
  readonly hyperscan: string;
  /** RE2 syntax over code points 0–255. */
  readonly re2: string;
  readonly caseless: boolean;
  readonly dotAll: boolean;
  readonly multiline: boolean;
  /** Literals always fit a database; regular expressions are tried first. */
  readonly isLiteral: boolean;
  /**
   * This pattern as Hyperscan needs it for texts made of these bytes only (1 = in the alphabet); null when none of them
   * holds a match.
   */
  readonly within: (alphabet: ByteSet) => ScanPattern | null;
}

/**
 * Patterns are pure functions of their text, and a change of one rule leaves thousands as they were. Emptied when full.
 */
const knownPatterns = new Map<string, ScanPattern>();
const knownPatternsMax = 50_000;

function remember(key: string, make: () => ScanPattern): ScanPattern {
  const known = knownPatterns.get(key);
  if (known !== undefined) return known;
  const made = make();
  if (knownPatterns.size >= knownPatternsMax) knownPatterns.clear();
  knownPatterns.set(key, made);
  return made;
}

const serials = new WeakMap<ScanPattern, number>();
let serialsGiven = 0;

/** Names a pattern object in this thread, shortly: the number of no other object, whatever became of it. */
export function serialOf(pattern: ScanPattern): number {
  let serial = serials.get(pattern);
  if (serial === undefined) serials.set(pattern, (serial = ++serialsGiven));
  return serial;
}

/** A translation as it outlives a process. */
export interface WrittenPattern {
  readonly hyperscan: string;
  readonly re2: string;
  /**
   * By the bytes of an alphabet that was asked about: `hyperscan` for texts of these bytes only; null when none of them
   * holds a match.
   */
  readonly within: Record<string, string | null>;
}
/** Translations by key, from an earlier process of the same release, and where new ones go. */
export interface WrittenPatterns {
  find(key: string): WrittenPattern | null;
  keep(key: string, pattern: WrittenPattern): void;
}
let written: WrittenPatterns | null = null;

/** For this thread, from now on; null = none. */
export function useWrittenPatterns(patterns: WrittenPatterns | null): void {
  written = patterns;
}

/**
 * A seclang `@rx` pattern: DOTALL, not MULTILINE. `overLowercase`: it is meant for lower-cased text but will scan the
 * text as it is.
 */
export function regexPattern(source: string, overLowercase: boolean): ScanPattern {
  const key = `${overLowercase ? 'l' : '='}${source}`;
  return remember(key, () => translatePattern(key, source, overLowercase));
}

function translatePattern(key: string, source: string, overLowercase: boolean): ScanPattern {
  let node: RegexNode | null = null;
  const tree = (): RegexNode => {
    if (node !== null) return node;
    const parsed = parseRegex(source, { caseless: false, dotAll: true, multiline: false });
    return (node = overLowercase ? foldLowercase(parsed) : parsed);
  };
  let form = written?.find(key) ?? null;
  if (form === null) {
    form = { hyperscan: toHyperscanSource(tree()), re2: toRe2Source(tree()), within: {} };
    written?.keep(key, form);
  }
  const { hyperscan, re2, within } = form;
  const pattern: ScanPattern = {
    hyperscan,
    re2,
    // The writer puts every flag into the text.
    caseless: false,
    dotAll: false,
    multiline: false,
    isLiteral: false,
    within: perAlphabet((alphabet) => {
      const name = nameOf(alphabet);
      const known = within[name];
      const restricted = known === undefined ? (within[name] = restrict(hyperscan, tree(), alphabet)) : known;
      if (restricted === null) return null;
      return restricted === hyperscan ? pattern : { ...pattern, hyperscan: restricted };
    }),
  };
  return pattern;
}

/** The pattern as Hyperscan needs it for texts of the alphabet; null when none of them holds a match. */
function restrict(hyperscan: string, node: RegexNode, alphabet: ByteSet): string | null {
  const restricted = restrictTo(node, alphabet);
  if (restricted === null) return null;
  try {
    return toHyperscanSource(restricted);
  } catch (error) {
    // An atomic group may be moot in the whole pattern only: then the whole pattern is scanned.
    if (!(error instanceof RegexUnsupportedError)) throw error;
    return hyperscan;
  }
}

const alphabetNames = new WeakMap<ByteSet, string>();

function nameOf(alphabet: ByteSet): string {
  let name = alphabetNames.get(alphabet);
  if (name === undefined)
    alphabetNames.set(
      alphabet,
      (name = String.fromCharCode(...[...alphabet.keys()].filter((byte) => alphabet[byte] === 1))),
    );
  return name;
}

/** The alphabets are a few tables that never change, and every class of every compile asks about them. */
function perAlphabet(answer: (alphabet: ByteSet) => ScanPattern | null): (alphabet: ByteSet) => ScanPattern | null {
  const known = new WeakMap<ByteSet, ScanPattern | null>();
  return (alphabet) => {
    let found = known.get(alphabet);
    if (found === undefined) known.set(alphabet, (found = answer(alphabet)));
    return found;
  };
}

function escapeBytes(text: string): string {
  let escaped = '';
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    const isWord = (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
    escaped += isWord ? (text[index] as string) : `\\x${code.toString(16).padStart(2, '0')}`;
  }
  return escaped;
}

/** A literal, anchored where its operator anchors it. */
export function literalPattern(literal: string, caseless: boolean, operator: string): ScanPattern {
  return remember(`${caseless ? 'i' : 'c'}${operator} ${literal}`, () => translateLiteral(literal, caseless, operator));
}

function translateLiteral(literal: string, caseless: boolean, operator: string): ScanPattern {
  const before = operator === 'beginsWith' || operator === 'streq' ? '^' : '';
  const after = operator === 'endsWith' || operator === 'streq' ? '\\z' : '';
  const source = `${before}${escapeBytes(literal)}${after}`;
  const pattern: ScanPattern = {
    hyperscan: source,
    re2: caseless ? `(?i)${source}` : source,
    caseless,
    dotAll: true,
    multiline: false,
    isLiteral: true,
    within: (alphabet) => (isMadeOf(literal, caseless, alphabet) ? pattern : null),
  };
  return pattern;
}

function isMadeOf(literal: string, caseless: boolean, alphabet: ByteSet): boolean {
  for (let index = 0; index < literal.length; index += 1) {
    const code = literal.charCodeAt(index);
    if (alphabet[code] === 1) continue;
    // Caseless ASCII: the other case may be in the alphabet.
    const other = caseless && ((code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a)) ? code ^ 0x20 : code;
    if (alphabet[other] !== 1) return false;
  }
  return true;
}
