// A parser of the PCRE dialect that CRS and ModSecurity's users write, over bytes (latin1 text).
//
// Reference: pcre2pattern(3), without UTF, newline = LF, C locale, \R = any Unicode newline. What no linear-time engine
// can run (look-around, back-references, recursion, conditions, verbs) is parsed as far as needed and left in the tree
// for the caller to report. Quantified groups nest at most `depthMax` deep, so that hostile patterns cannot exhaust the
// stack.
import { anyByte, byteSet, closeUnderCase, complement, escapeClasses, singleByte } from './byte-set.js';
import { readCharacterClass } from './character-class.js';
import { Cursor, readByteEscape } from './cursor.js';
import { type AssertionKind, type RegexFlags, type RegexNode, type RepeatMode, RegexSyntaxError } from './node.js';

const depthMax = 250; // PCRE's own limit on nested parentheses
const repeatMax = 65_535; // PCRE's largest count

interface ScopedFlags extends RegexFlags {
  readonly extended: boolean; // (?x)
  readonly ungreedy: boolean; // (?U)
}

interface State {
  readonly cursor: Cursor;
  flags: ScopedFlags;
  groups: number; // capturing groups opened so far
  readonly groupsInAll: number;
  depth: number;
}

/** Counts capturing groups ahead of parsing: \12 is a back-reference only when there are that many. */
function countGroups(source: string): number {
  let count = 0;
  for (let at = 0; at < source.length; at++) {
    if (source.charAt(at) === '\\') at++;
    else if (
      source.charAt(at) === '(' &&
      (source.charAt(at + 1) !== '?'
        ? source.charAt(at + 1) !== '*'
        : /^\(\?(?:P?<[^=!]|')/.test(source.slice(at, at + 5)))
    )
      count++;
  }
  return count;
}

/** Sets are never written to, so that all literals of a byte share one: rule sets have a hundred thousand. */
const literalSets = Array.from({ length: 256 }, (_, byte) => singleByte(byte));
const caselessSets = literalSets.map(closeUnderCase);
const oneByte = (state: State, byte: number): RegexNode => ({
  kind: 'set',
  set: (state.flags.caseless ? caselessSets : literalSets)[byte] ?? singleByte(byte),
});

function sequenceOf(items: readonly RegexNode[]): RegexNode {
  return items.length === 1 ? items[0]! : { kind: 'sequence', items };
}

/**
 * \R: CRLF or one newline byte. Atomic in PCRE; the difference shows only in `\R\n`, where PCRE refuses to split CRLF.
 */
const anyNewline: RegexNode = {
  kind: 'alternation',
  items: [
    {
      kind: 'sequence',
      items: [
        { kind: 'set', set: singleByte(0x0d) },
        { kind: 'set', set: singleByte(0x0a) },
      ],
    },
    { kind: 'set', set: byteSet([0x0a, 0x0d], [0x85, 0x85]) },
  ],
};

const simpleAssertions: Readonly<Record<string, AssertionKind>> = {
  A: 'textStart',
  G: 'textStart',
  z: 'textEnd',
  Z: 'textEndOrFinalNewline',
  b: 'wordBoundary',
  B: 'notWordBoundary',
};

function parseReference(state: State, start: number): RegexNode | null {
  const { cursor } = state;
  const letter = cursor.peek();
  if (letter === 'g' || letter === 'k') {
    cursor.at++;
    const open = cursor.peek();
    const close = ({ '{': '}', '<': '>', "'": "'" } as Record<string, string>)[open];
    if (close !== undefined) {
      cursor.at++;
      cursor.until(close, `\\${letter}${open}`);
    } else if (letter === 'k' || cursor.digits('+-0123456789', 6) === '')
      cursor.fail(`\\${letter} needs a group name or number behind it`, start);
    return { kind: 'unsupported', what: 'a back-reference', offset: start };
  }
  if (letter < '1' || letter > '9') return null;
  const digits = /^[0-9]+/.exec(cursor.source.slice(cursor.at, cursor.at + 6))?.[0] ?? '';
  const number = Number(digits);
  if (number >= 10 && number > state.groupsInAll) {
    if (letter > '7') cursor.fail(`\\${digits} refers to a group that does not exist`, start);
    return null; // octal
  }
  cursor.at += digits.length;
  return { kind: 'unsupported', what: 'a back-reference', offset: start };
}

/** The cursor is on the backslash. Null for \E and \Q, which stand for nothing. */
function parseEscape(state: State): RegexNode | null {
  const { cursor } = state;
  const start = cursor.at++;
  const letter = cursor.peek();
  const assertion = simpleAssertions[letter];
  if (assertion !== undefined) {
    cursor.at++;
    return { kind: 'assertion', assertion, offset: start };
  }
  const set = escapeClasses[letter];
  if (set !== undefined && !(letter === 'N' && cursor.peek(1) === '{')) {
    cursor.at++;
    return { kind: 'set', set };
  }
  if (cursor.take('E')) return null;
  if (cursor.take('R')) return anyNewline;
  if (cursor.take('C')) return { kind: 'set', set: anyByte };
  if ('KXpPN'.includes(letter) && letter !== '') {
    cursor.at++;
    if (letter === 'p' || letter === 'P') {
      if (cursor.peek() === '{') cursor.until('}', '\\p{');
      else cursor.next();
    }
    return { kind: 'unsupported', what: `\\${letter}`, offset: start };
  }
  const reference = parseReference(state, start);
  if (reference !== null) return reference;
  const byte = readByteEscape(cursor);
  if (byte === null)
    return cursor.fail(`\\${letter} has no meaning in PCRE: write ${letter} without the backslash`, start);
  return oneByte(state, byte);
}

/** (?i), (?i-s), (?^): sets the flags; returns whether the group ends here (true) or a body follows `:` (false). */
function parseFlags(state: State, start: number): boolean {
  const { cursor } = state;
  let on = true;
  const flags = { ...state.flags };
  if (cursor.take('^')) Object.assign(flags, { caseless: false, dotAll: false, multiline: false, extended: false });
  for (;;) {
    const letter = cursor.next();
    if (letter === 'i') flags.caseless = on;
    else if (letter === 's') flags.dotAll = on;
    else if (letter === 'm') flags.multiline = on;
    else if (letter === 'x') flags.extended = on;
    else if (letter === 'U') flags.ungreedy = on;
    else if (letter === 'J')
      continue; // duplicate names: allowed anyway
    else if (letter === '-' && on) on = false;
    else if (letter === ')' || letter === ':') {
      state.flags = flags;
      return letter === ')';
    } else cursor.fail(`(?${letter} is no group that PCRE knows: use (?:…), (?i), (?<name>…)`, start);
  }
}

function parseBody(state: State, start: number): RegexNode {
  const outer = state.flags;
  if (++state.depth > depthMax)
    throw new RegexSyntaxError(start, `Groups nest deeper than ${depthMax}: simplify the pattern`);
  const body = parseAlternation(state);
  state.depth--;
  if (!state.cursor.take(')')) state.cursor.fail('A group is not closed: add )', start);
  state.flags = outer;
  return body;
}

function capturing(state: State, name: string | null, start: number): RegexNode {
  const index = ++state.groups;
  return { kind: 'group', index, name, body: parseBody(state, start) };
}

function readName(state: State, close: string): string {
  const name = state.cursor.until(close, 'A group name');
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name))
    state.cursor.fail(`"${name}" is no group name: use letters, digits and _`);
  return name;
}

/** Skips an unsupported group with everything in it. */
function unsupportedGroup(state: State, what: string, start: number): RegexNode {
  parseBody(state, start);
  return { kind: 'unsupported', what, offset: start };
}

/** Groups that begin with `(?`; the cursor is behind it. */
function parseSpecialGroup(state: State, start: number): RegexNode | null {
  const { cursor } = state;
  if (cursor.take('#')) {
    cursor.until(')', 'A comment');
    return null;
  }
  if (cursor.take(':')) return parseBody(state, start);
  if (cursor.take('>')) return { kind: 'atomic', body: parseBody(state, start), offset: start };
  for (const [mark, ahead, negative] of [
    ['=', true, false],
    ['!', true, true],
    ['<=', false, false],
    ['<!', false, true],
  ] as const) {
    if (cursor.take(mark)) return { kind: 'lookaround', ahead, negative, body: parseBody(state, start), offset: start };
  }
  if (cursor.take('P<') || cursor.take('<')) return capturing(state, readName(state, '>'), start);
  if (cursor.take("'")) return capturing(state, readName(state, "'"), start);
  if (cursor.take('|')) return unsupportedGroup(state, 'a branch reset (?|…)', start);
  if (cursor.take('(')) {
    cursor.until(')', 'A condition');
    return unsupportedGroup(state, 'a condition (?(…)…)', start);
  }
  if (/^(?:R|P[=>]|[-+]?[0-9]|&|C)/.test(cursor.source.slice(cursor.at, cursor.at + 3))) {
    const isReference = cursor.startsWith('P=');
    cursor.until(')', 'A group');
    return { kind: 'unsupported', what: isReference ? 'a back-reference' : 'a recursion or callout', offset: start };
  }
  const outer = state.flags;
  if (parseFlags(state, start)) return null;
  const body = parseBody(state, start);
  state.flags = outer;
  return body;
}

function parseGroup(state: State): RegexNode | null {
  const { cursor } = state;
  const start = cursor.at++;
  if (cursor.take('?')) return parseSpecialGroup(state, start);
  if (cursor.take('*')) {
    cursor.until(')', 'A verb');
    return { kind: 'unsupported', what: 'a verb (*…)', offset: start };
  }
  return capturing(state, null, start);
}

/** {n}, {n,}, {n,m}; anything else in braces is literal text, as in PCRE. */
function readCounts(state: State): readonly [number, number] | null {
  const { cursor } = state;
  const start = cursor.at;
  const found = /^\{([0-9]+)(,([0-9]*))?\}/.exec(cursor.source.slice(cursor.at, cursor.at + 32));
  if (found === null) return null;
  const min = Number(found[1]);
  const max = found[2] === undefined ? min : found[3] === '' ? Infinity : Number(found[3]);
  if (min > repeatMax || (max !== Infinity && max > repeatMax))
    cursor.fail(`A count is larger than ${repeatMax}`, start);
  if (max < min) cursor.fail('The counts of a quantifier run backwards: swap them', start);
  cursor.at += found[0].length;
  return [min, max];
}

function readQuantifier(state: State): readonly [number, number] | null {
  const { cursor } = state;
  if (cursor.take('*')) return [0, Infinity];
  if (cursor.take('+')) return [1, Infinity];
  if (cursor.take('?')) return [0, 1];
  return cursor.peek() === '{' ? readCounts(state) : null;
}

function parseQuantified(state: State, body: RegexNode): RegexNode {
  const { cursor } = state;
  if (state.flags.extended) skipExtended(state);
  const offset = cursor.at;
  const counts = readQuantifier(state);
  if (counts === null) return body;
  let mode: RepeatMode = state.flags.ungreedy ? 'lazy' : 'greedy';
  if (cursor.take('+')) mode = 'possessive';
  else if (cursor.take('?')) mode = state.flags.ungreedy ? 'greedy' : 'lazy';
  const again = cursor.at;
  if (readQuantifier(state) !== null)
    cursor.fail('A quantifier follows a quantifier: put the first one into (?:…)', again);
  return { kind: 'repeat', body, min: counts[0], max: counts[1], mode, offset };
}

function skipExtended(state: State): void {
  const { cursor } = state;
  for (;;) {
    if (!cursor.done && ' \t\n\v\f\r'.includes(cursor.peek())) cursor.at++;
    else if (cursor.peek() === '#') while (!cursor.done && cursor.next() !== '\n') continue;
    else return;
  }
}

function parseQuoted(state: State, items: RegexNode[]): void {
  const { cursor } = state;
  const end = cursor.source.indexOf('\\E', cursor.at);
  const text = cursor.source.slice(cursor.at, end === -1 ? undefined : end);
  cursor.at = end === -1 ? cursor.source.length : end + 2;
  for (const [index, character] of [...text].entries()) {
    const node = oneByte(state, character.charCodeAt(0));
    items.push(index === text.length - 1 ? parseQuantified(state, node) : node);
  }
}

/** One item without its quantifier; null when it stands for nothing (comment, flags, \E). */
function parseAtom(state: State): RegexNode | null {
  const { cursor, flags } = state;
  const offset = cursor.at;
  const character = cursor.peek();
  if (character === '\\') return parseEscape(state);
  if (character === '(') return parseGroup(state);
  if ('*+?'.includes(character) || (character === '{' && readCounts(state) !== null))
    cursor.fail(`The quantifier ${character} has nothing to repeat: write \\${character} for the character`, offset);
  cursor.at++;
  if (character === '[') return { kind: 'set', set: readCharacterClass(cursor, flags.caseless) };
  if (character === '.') return { kind: 'set', set: flags.dotAll ? anyByte : complement(singleByte(0x0a)) };
  if (character === '^') return { kind: 'assertion', assertion: flags.multiline ? 'lineStart' : 'textStart', offset };
  if (character === '$')
    return { kind: 'assertion', assertion: flags.multiline ? 'lineEnd' : 'textEndOrFinalNewline', offset };
  return oneByte(state, character.charCodeAt(0));
}

function parseSequence(state: State): RegexNode {
  const { cursor } = state;
  const items: RegexNode[] = [];
  for (;;) {
    if (state.flags.extended) skipExtended(state);
    const character = cursor.peek();
    if (cursor.done || character === '|' || character === ')') return sequenceOf(items);
    if (cursor.take('\\Q')) {
      parseQuoted(state, items);
      continue;
    }
    const atom = parseAtom(state);
    if (atom !== null) items.push(parseQuantified(state, atom));
  }
}

function parseAlternation(state: State): RegexNode {
  const branches = [parseSequence(state)];
  while (state.cursor.take('|')) branches.push(parseSequence(state));
  return branches.length === 1 ? branches[0]! : { kind: 'alternation', items: branches };
}

/**
 * Parses a PCRE pattern; `source` is latin1 text, one code unit per byte. Throws RegexSyntaxError with the offset and
 * how to fix it. What parses may still be unsupported by a matcher: see `toRe2Source`.
 */
export function parseRegex(source: string, flags: RegexFlags): RegexNode {
  const cursor = new Cursor(source);
  const state: State = {
    cursor,
    flags: { ...flags, extended: false, ungreedy: false },
    groups: 0,
    groupsInAll: countGroups(source),
    depth: 0,
  };
  const node = parseAlternation(state);
  if (!cursor.done) cursor.fail('There is a ) without its (: write \\) for the character');
  return node;
}
