// Questions about a pattern whose answers let the engine skip work. Each is a necessary condition: it may say "perhaps"
// wrongly, never "no". The arguments stand with the functions; analysis.test.ts checks them against RE2.
import { intersects } from './byte-set.js';
import type { RegexNode } from './node.js';

/**
 * False only when no string made solely of bytes of `alphabet` (256 entries of 0 or 1) contains a match.
 *
 * Safety: a match assigns to every `set` on some path one byte of the text. The recursion keeps every path whose sets all
 * meet the alphabet, and counts everything without bytes of its own (anchors, \b, look-around, optional parts,
 * back-references) as satisfiable, so "false" means that each path needs a byte which the text cannot have.
 */
export function canMatchWithin(node: RegexNode, alphabet: Uint8Array): boolean {
  switch (node.kind) {
    case 'set':
      return intersects(node.set, alphabet);
    case 'sequence':
      return node.items.every((item) => canMatchWithin(item, alphabet));
    case 'alternation':
      return node.items.some((item) => canMatchWithin(item, alphabet));
    case 'group':
    case 'atomic':
      return canMatchWithin(node.body, alphabet);
    case 'repeat':
      return node.min === 0 || canMatchWithin(node.body, alphabet);
    case 'assertion':
    case 'lookaround':
    case 'unsupported':
      return true;
  }
}

/**
 * A lower bound of the bytes in any match: shorter texts cannot match. Safety: every set takes one byte, the bound of a
 * sequence is the sum of its parts (its matches lie one behind the other), of an alternation the least; what has no
 * bytes of its own, or an unknown number, counts as zero.
 */
export function minimumLength(node: RegexNode): number {
  switch (node.kind) {
    case 'set':
      return 1;
    case 'sequence':
      return node.items.reduce((sum, item) => sum + minimumLength(item), 0);
    case 'alternation':
      return Math.min(...node.items.map(minimumLength));
    case 'group':
    case 'atomic':
      return minimumLength(node.body);
    case 'repeat':
      return node.min === 0 ? 0 : node.min * minimumLength(node.body);
    case 'assertion':
    case 'lookaround':
    case 'unsupported':
      return 0;
  }
}

/** Whether a match must begin at the start of the text on every path: such a pattern needs no search. */
export function isAnchoredAtStart(node: RegexNode): boolean {
  switch (node.kind) {
    case 'assertion':
      return node.assertion === 'textStart';
    case 'sequence':
      return node.items.length > 0 && isAnchoredAtStart(node.items[0]!);
    case 'alternation':
      return node.items.every(isAnchoredAtStart);
    case 'group':
    case 'atomic':
      return isAnchoredAtStart(node.body);
    case 'repeat':
      return node.min > 0 && isAnchoredAtStart(node.body);
    case 'set':
    case 'lookaround':
    case 'unsupported':
      return false;
  }
}

/**
 * For a pattern p that is to be matched against lowercase(v) (t:lowercase, ASCII): the pattern p' for v itself.
 * lowercase(v) matches p if and only if v matches p'.
 *
 * Safety: lowercase maps byte by byte and keeps length and positions. Each set S becomes {b : lowercase(b) ∈ S}, so a byte
 * of v is in the new set exactly when its image is in the old one. Anchors depend on positions and newlines, \b on which
 * bytes are word characters; lowercase changes neither. Only back-references break this (they compare bytes with bytes);
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
