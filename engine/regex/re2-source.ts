// Writes a tree as source for the npm package `re2`, to be matched over text whose code points U+0000–U+00FF stand for
// bytes.
//
// What was found by trying (re2 1.24): the package reads JavaScript-like source and hands almost everything on to RE2
// as it is: (?i) (?s:…) (?m:…) \A \z \x{…} work, (?<n>…) becomes (?P<n>…), counts above 1000 are refused (the product
// of nested ones too), \Z, \h, \R, possessive quantifiers and look-around do not exist, (?i) folds beyond ASCII. So
// nothing is left to flags: classes are written out as ranges (RE2 recognises [Aa] as a caseless literal), and anchors
// by their meaning.
// Groups are numbered as in the original; names are dropped.
import { type ByteSet, bytesOf, isEmptySet, rangesOf } from './byte-set.js';
import { holdsGroup } from './condition.js';
import { lowerRegex } from './lower.js';
import { type AssertionKind, type RegexNode, RegexUnsupportedError, tailGroup } from './node.js';

const countMax = 1000; // RE2's

function escapeByte(byte: number): string {
  const character = String.fromCharCode(byte);
  if (/[0-9A-Za-z_ "'<>=,;:@&~`%!#/]/.test(character) && character !== '/') return character;
  return `\\x{${byte.toString(16)}}`;
}

/** A byte set as a class or a single escaped byte; shared with the Hyperscan emitter, both understand \x{…}. */
export function writeSet(set: ByteSet): string {
  // RE2 would take U+0100 and above for it, which latin1 text does not hold
  if (isEmptySet(set)) return '[^\\x{0}-\\x{ff}]';
  const bytes = bytesOf(set);
  if (bytes.length === 1) return escapeByte(bytes[0]!);
  return `[${rangesOf(set)
    .map(([from, to]) => (from === to ? escapeByte(from) : `${escapeByte(from)}-${escapeByte(to)}`))
    .join('')}]`;
}

/**
 * Text that RE2 reads but the match does not hold (the newline that `$` looked past, what a look-ahead saw): its RE2
 * group, and the original groups that end with it.
 */
export interface TailMark {
  readonly group: number;
  readonly enclosing: readonly number[];
}

export interface Re2Form {
  readonly source: string;
  /** Original group number → RE2 group numbers; of several copies the last that took part counts. */
  readonly groups: readonly (readonly number[])[];
  readonly marks: readonly TailMark[];
}

interface Writer {
  readonly marking: boolean;
  /** Write multiline `^` as start of text. */
  readonly textStartOnly: boolean;
  opened: number;
  readonly groups: number[][];
  readonly marks: TailMark[];
  readonly enclosing: number[];
}

function writeAssertion(assertion: AssertionKind, writer: Writer): string {
  switch (assertion) {
    case 'textStart':
      return '\\A';
    case 'lineStart':
      return writer.textStartOnly ? '\\A' : '(?m:^)';
    case 'textEnd':
      return '\\z';
    case 'lineEnd':
      return '(?m:$)';
    case 'wordBoundary':
      return '\\b';
    case 'notWordBoundary':
      return '\\B';
    case 'textEndOrFinalNewline':
      if (!writer.marking) return '(?:\\n?\\z)';
      writer.marks.push({ group: ++writer.opened, enclosing: [0, ...writer.enclosing] });
      return '(?:(\\n)\\z|\\z)';
  }
}

function quantifier(min: number, max: number): string {
  if (max === Infinity) return min === 0 ? '*' : min === 1 ? '+' : `{${min},}`;
  if (min === 0 && max === 1) return '?';
  return min === max ? `{${min}}` : `{${min},${max}}`;
}

/** Counts above RE2's limit become a product of smaller ones: X{2500} = X{1000}X{1000}X{500}. */
function writeCounts(body: string, min: number, max: number, lazy: string): string {
  const parts: string[] = [];
  let owed = min;
  for (; owed > countMax; owed -= countMax) parts.push(`${body}{${countMax}}`);
  let optional = max - min;
  if (optional === Infinity || owed + optional <= countMax) parts.push(body + quantifier(owed, owed + optional) + lazy);
  else {
    parts.push(`${body}{${owed}}`);
    for (; optional > countMax; optional -= countMax) parts.push(`${body}{0,${countMax}}${lazy}`);
    parts.push(`${body}{0,${optional}}${lazy}`);
  }
  return parts.length === 1 ? parts[0]! : `(?:${parts.join('')})`;
}

function writeRepeat(node: RegexNode & { readonly kind: 'repeat' }, writer: Writer): string {
  if ((node.min > countMax || (node.max !== Infinity && node.max > countMax)) && holdsGroup(node.body)) {
    throw new RegexUnsupportedError(
      node.offset,
      `A capturing group is repeated more than ${countMax} times: write (?:…) or a smaller count`,
    );
  }
  if (node.max === 0) return '(?:)'; // groups inside keep no number and stay unset
  const inner = write(node.body, writer);
  const body = node.body.kind === 'set' || node.body.kind === 'group' ? inner : `(?:${inner})`;
  return writeCounts(body, node.min, node.max, node.mode === 'lazy' ? '?' : '');
}

function write(node: RegexNode, writer: Writer): string {
  switch (node.kind) {
    case 'set':
      return writeSet(node.set);
    case 'sequence':
      return node.items
        .map((item) => (item.kind === 'alternation' ? `(?:${write(item, writer)})` : write(item, writer)))
        .join('');
    case 'alternation':
      return node.items.map((item) => write(item, writer)).join('|');
    case 'group': {
      const opened = ++writer.opened;
      if (node.index === tailGroup) {
        writer.marks.push({ group: opened, enclosing: [0, ...writer.enclosing] });
        return `(${write(node.body, writer)})`;
      }
      (writer.groups[node.index] ??= []).push(opened);
      writer.enclosing.push(node.index);
      const body = write(node.body, writer);
      writer.enclosing.pop();
      return `(${body})`;
    }
    case 'repeat':
      return writeRepeat(node, writer);
    case 'assertion':
      return writeAssertion(node.assertion, writer);
    case 'atomic':
    case 'lookaround':
    case 'unsupported':
      throw new RegexUnsupportedError(node.offset, 'The tree was not lowered');
  }
}

function form(lowered: RegexNode, marking: boolean, textStartOnly: boolean): Re2Form {
  const writer: Writer = { marking, textStartOnly, opened: 0, groups: [[0]], marks: [], enclosing: [] };
  return { source: write(lowered, writer), groups: writer.groups, marks: writer.marks };
}

/** The forms of one pattern; see `toRe2Source` for what the plain one may be used for. */
export interface Re2Forms {
  readonly plain: Re2Form;
  /** For texts that end in \n: tells where `$` looked past it, so that groups can be cut. Null when no `$` needs it. */
  readonly marked: Re2Form | null;
  /**
   * Multiline `^` as start of text only; null unless the plain form errs for texts that end in \n (see
   * `Lowered.lineStartAtEnd`).
   */
  readonly textStart: Re2Form | null;
}

/** Throws RegexUnsupportedError. */
export function re2Forms(node: RegexNode): Re2Forms {
  const lowered = lowerRegex(node);
  if (lowered.re2Problem !== null)
    throw new RegexUnsupportedError(lowered.re2Problem.offset, lowered.re2Problem.message);
  return {
    plain: form(lowered.node, false, false),
    marked: lowered.finalNewline ? form(lowered.node, true, false) : null,
    textStart: lowered.lineStartAtEnd ? form(lowered.node, false, true) : null,
  };
}

/**
 * Source for `new RE2(source)` (no flags) over latin1 text. Whether it matches is exactly PCRE's answer, but for one
 * case: see `Lowered.lineStartAtEnd`. Group texts are PCRE's too, except that `$` without multiline consumes the final
 * newline that it looks past and look-ahead what it had to see, so group 0 (and groups around `$`) may hold it:
 * `compileRe2(…).exec` cuts it off. Throws RegexUnsupportedError.
 */
export function toRe2Source(node: RegexNode): string {
  return re2Forms(node).plain.source;
}
