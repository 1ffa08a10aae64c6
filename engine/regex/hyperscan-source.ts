// Writes a tree as source for Hyperscan, to be compiled without CASELESS, DOTALL or MULTILINE: everything is in the
// text.
//
// The original text often could go to Hyperscan as it is; it cannot where it has possessive quantifiers, atomic groups,
// \R, \G or \N (all refused), and re-writing everything keeps one parser in charge of the meaning. What Hyperscan still
// refuses, with an error that becomes PatternRefused: `^` and `$` in the middle of a pattern, \b that can never hold,
// patterns whose automaton is too large. Its `$`, `^` and \b follow PCRE, final newline included. Captures and laziness
// do not exist here and are dropped; letters in both cases are written as (?i:…), which Hyperscan turns into literals.
import { bytesOf } from './byte-set.js';
import { lowerRegex } from './lower.js';
import { type AssertionKind, type RegexNode, RegexUnsupportedError } from './node.js';
import { writeSet } from './re2-source.js';

const assertions: Readonly<Record<AssertionKind, string>> = {
  textStart: '\\A',
  lineStart: '(?m:^)',
  textEnd: '\\z',
  textEndOrFinalNewline: '\\Z',
  lineEnd: '(?m:$)',
  wordBoundary: '\\b',
  notWordBoundary: '\\B',
};

/** The lower-case letter of a set {X, x}, or null. */
function caselessLetter(node: RegexNode): string | null {
  if (node.kind !== 'set') return null;
  const bytes = bytesOf(node.set);
  if (bytes.length !== 2 || bytes[1] !== bytes[0]! + 0x20 || bytes[0]! < 0x41 || bytes[0]! > 0x5a) return null;
  return String.fromCharCode(bytes[1]);
}

function writeSequence(items: readonly RegexNode[]): string {
  let text = '';
  let run = '';
  for (const item of items) {
    const letter = caselessLetter(item);
    if (letter !== null) {
      run += letter;
      continue;
    }
    if (run !== '') text += `(?i:${run})`;
    run = '';
    text += item.kind === 'alternation' ? `(?:${write(item)})` : write(item);
  }
  return run === '' ? text : `${text}(?i:${run})`;
}

function writeRepeat(node: RegexNode & { readonly kind: 'repeat' }): string {
  if (node.max === 0) return '(?:)';
  const body = node.body.kind === 'set' ? write(node.body) : `(?:${write(node.body)})`;
  if (node.max === Infinity) return body + (node.min === 0 ? '*' : node.min === 1 ? '+' : `{${node.min},}`);
  if (node.min === 0 && node.max === 1) return `${body}?`;
  return `${body}{${node.min},${node.max}}`;
}

function write(node: RegexNode): string {
  switch (node.kind) {
    case 'set':
      return writeSet(node.set);
    case 'sequence':
      return writeSequence(node.items);
    case 'alternation':
      return node.items.map(write).join('|');
    case 'group':
      return `(?:${write(node.body)})`;
    case 'repeat':
      return writeRepeat(node);
    case 'assertion':
      return assertions[node.assertion];
    case 'atomic':
    case 'lookaround':
    case 'unsupported':
      throw new RegexUnsupportedError(node.offset, 'The tree was not lowered');
  }
}

/**
 * Source for a PatternSpec with caseless, dotAll and multiline all false; it matches exactly where PCRE matches the
 * original. Throws RegexUnsupportedError for look-around, back-references and the like.
 */
export function toHyperscanSource(node: RegexNode): string {
  return write(lowerRegex(node).node);
}
