// Lowers a tree to what linear-time engines have: no atomic groups, no possessive quantifiers, no look-around. Also
// finds the places where RE2 and PCRE look at newlines differently, which the emitters and the RE2 wrapper need to
// know.
import { type Continuation, finalNewlineRewrite, isAtomicityMoot, nullable, possiblyNothing } from './continuation.js';
import { withoutLookAhead } from './look-ahead.js';
import { type RegexNode, RegexUnsupportedError } from './node.js';

export interface Lowered {
  readonly node: RegexNode;
  /**
   * Some `^` (multiline) is followed by nothing that must match. PCRE's `^` does not hold behind a newline that ends
   * the text; RE2's does. Hyperscan follows PCRE.
   */
  readonly lineStartAtEnd: boolean;
  /** `$` (non-multiline) or \Z occurs. */
  readonly finalNewline: boolean;
  /** Something cannot be written for RE2 (Hyperscan may still take it): offset and reason, or null. */
  readonly re2Problem: { readonly offset: number; readonly message: string } | null;
}

interface Findings {
  notWordBoundary: number | null; // offset of the first \B
  lineStartAtEnd: boolean;
  finalNewline: boolean;
  re2Problem: { readonly offset: number; readonly message: string } | null;
}

function lowerSequence(items: readonly RegexNode[], after: Continuation | null, findings: Findings): RegexNode {
  const lowered: RegexNode[] = [];
  let behind = after;
  for (let index = items.length - 1; index >= 0; index--) {
    const item = lower(items[index]!, behind, findings);
    lowered.unshift(item);
    behind = { node: item, forced: false, next: behind };
  }
  return { kind: 'sequence', items: lowered };
}

function lowerRepeat(
  node: RegexNode & { readonly kind: 'repeat' },
  after: Continuation | null,
  findings: Findings,
): RegexNode {
  const loops = node.max > 1;
  // Inside a loop more rounds may follow; their nodes are the unlowered ones, of which every question has the same
  // answer.
  const behind: Continuation | null = loops
    ? { node: { ...node, min: 0, mode: 'greedy' }, forced: node.min > 1, next: after }
    : after;
  const body = lower(node.body, behind, findings);
  const mode = node.mode === 'possessive' ? 'greedy' : node.mode;
  const repeat: RegexNode = { ...node, body, mode };
  if (node.mode === 'possessive' && !isAtomicityMoot(repeat, after)) {
    throw new RegexUnsupportedError(
      node.offset,
      'This possessive quantifier changes what can match, which a linear-time engine cannot do: write it without ' +
        'the + and exclude what follows from the repeated class',
    );
  }
  return repeat;
}

function noteAssertion(
  node: RegexNode & { readonly kind: 'assertion' },
  after: Continuation | null,
  findings: Findings,
): void {
  if (node.assertion === 'notWordBoundary') findings.notWordBoundary ??= node.offset;
  if (node.assertion === 'lineStart' && possiblyNothing(after)) findings.lineStartAtEnd = true;
  if (node.assertion !== 'textEndOrFinalNewline') return;
  findings.finalNewline = true;
  if (finalNewlineRewrite(after) === 'impossible') {
    findings.re2Problem ??= {
      offset: node.offset,
      message:
        'What stands behind this $ can match the newline that $ looks past, or depends on it: write \\z, or move $ ' +
        'to the end',
    };
  }
}

function lower(node: RegexNode, after: Continuation | null, findings: Findings): RegexNode {
  switch (node.kind) {
    case 'set':
      return node;
    case 'sequence':
      return lowerSequence(node.items, after, findings);
    case 'alternation':
      return { kind: 'alternation', items: node.items.map((item) => lower(item, after, findings)) };
    case 'group':
      return { ...node, body: lower(node.body, after, findings) };
    case 'repeat':
      return lowerRepeat(node, after, findings);
    case 'atomic': {
      const body = lower(node.body, after, findings);
      if (isAtomicityMoot(body, after)) return body;
      throw new RegexUnsupportedError(
        node.offset,
        'This atomic group changes what can match, which a linear-time engine cannot do: write (?:…) and exclude ' +
          'what follows from the repeated class',
      );
    }
    case 'assertion':
      noteAssertion(node, after, findings);
      return node;
    case 'lookaround':
      throw new RegexUnsupportedError(
        node.offset,
        'Look-behind needs backtracking, which opens the door to denial of service: use two rules in a chain, one ' +
          'of them negated',
      );
    case 'unsupported':
      throw new RegexUnsupportedError(
        node.offset,
        `${node.what} needs backtracking or lies outside regular languages: write the alternatives out`,
      );
  }
}

/** Throws RegexUnsupportedError for what no linear-time engine can run. The language stays exactly the same. */
export function lowerRegex(node: RegexNode): Lowered {
  const findings: Findings = { notWordBoundary: null, lineStartAtEnd: false, finalNewline: false, re2Problem: null };
  const lowered = lower(withoutLookAhead(node), null, findings);
  const { lineStartAtEnd, finalNewline } = findings;
  let { re2Problem } = findings;
  // RE2 finds \B between the two UTF-8 bytes of U+0080–U+00FF; an empty match there would be one too many.
  if (findings.notWordBoundary !== null && nullable(lowered, null) && !nullable(lowered, new Set())) {
    re2Problem ??= {
      offset: findings.notWordBoundary,
      message:
        'A pattern with \\B that can match the empty string is not exact on RE2: make it match at least one byte',
    };
  }
  return { node: lowered, lineStartAtEnd, finalNewline, re2Problem };
}
