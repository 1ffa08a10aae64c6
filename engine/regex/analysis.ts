// Questions about a pattern whose answers let the engine skip work. Each is a necessary condition: it may say "perhaps"
// wrongly, never "no". The arguments stand with the functions; analysis.test.ts checks them against RE2.
import { type ByteSet, intersection, isEmptySet } from './byte-set.js';
import type { AssertionKind, RegexNode } from './node.js';

/**
 * The pattern for texts made solely of bytes of `alphabet` (256 entries of 0 or 1): on each of them it matches if and
 * only if `node` does, at the same places. Null when none of them holds a match. What is left is shorter and simpler,
 * because nothing needs to be told apart that such a text cannot hold.
 *
 * Safety: a match assigns to every `set` on some path one byte of the text, so bytes outside the alphabet can be taken
 * out of a set, and a path through a set that becomes empty can be taken out as a whole; an engine that backtracks
 * would have left it without a match, too. Without \n in the alphabet a line is the text. Anchors and \b look at the
 * same bytes as before. A look-around whose body cannot match never holds, its negation always does. What is not
 * understood (back-references) stays.
 */
export function restrictTo(node: RegexNode, alphabet: ByteSet): RegexNode | null {
  switch (node.kind) {
    case 'set': {
      const set = intersection(node.set, alphabet);
      return isEmptySet(set) ? null : { kind: 'set', set };
    }
    case 'sequence': {
      const items: RegexNode[] = [];
      for (const item of node.items) {
        const left = restrictTo(item, alphabet);
        if (left === null) return null;
        items.push(left);
      }
      return { kind: 'sequence', items };
    }
    case 'alternation': {
      const items = node.items.map((item) => restrictTo(item, alphabet)).filter((item) => item !== null);
      return items.length <= 1 ? (items[0] ?? null) : { kind: 'alternation', items };
    }
    case 'group':
    case 'atomic': {
      const body = restrictTo(node.body, alphabet);
      return body === null ? null : { ...node, body };
    }
    case 'repeat': {
      const body = restrictTo(node.body, alphabet);
      if (body !== null) return { ...node, body };
      return node.min === 0 ? nothing : null;
    }
    case 'assertion':
      return alphabet[0x0a] === 1 ? node : { ...node, assertion: withoutNewlines[node.assertion] ?? node.assertion };
    case 'lookaround': {
      const body = restrictTo(node.body, alphabet);
      if (body !== null) return { ...node, body };
      return node.negative ? nothing : null;
    }
    case 'unsupported':
      return node;
  }
}

const nothing: RegexNode = { kind: 'sequence', items: [] };
/** What an assertion means in a text without newlines. */
const withoutNewlines: Readonly<Partial<Record<AssertionKind, AssertionKind>>> = {
  lineStart: 'textStart',
  lineEnd: 'textEnd',
  textEndOrFinalNewline: 'textEnd',
};

/**
 * For a pattern p that is to be matched against lowercase(v) (t:lowercase, ASCII): the pattern p' for v itself.
 * lowercase(v) matches p if and only if v matches p'.
 *
 * Safety: lowercase maps byte by byte and keeps length and positions. Each set S becomes {b : lowercase(b) ∈ S}, so a
 * byte of v is in the new set exactly when its image is in the old one. Anchors depend on positions and newlines, \b on
 * which bytes are word characters; lowercase changes neither. Only back-references break this (they compare bytes with
 * bytes);
 * they are unsupported anyway and stay as they are.
 */
export function foldLowercase(node: RegexNode): RegexNode {
  switch (node.kind) {
    case 'set': {
      const set = node.set.slice();
      for (let upper = 0x41; upper <= 0x5a; upper++) set[upper] = node.set[upper + 0x20]!;
      return { kind: 'set', set };
    }
    case 'sequence':
    case 'alternation':
      return { ...node, items: node.items.map(foldLowercase) };
    case 'group':
    case 'atomic':
    case 'repeat':
    case 'lookaround':
      return { ...node, body: foldLowercase(node.body) };
    case 'assertion':
    case 'unsupported':
      return node;
  }
}
