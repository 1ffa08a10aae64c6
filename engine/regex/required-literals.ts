// Literals of which one must occur in any text that matches.
//
// Safety argument. Literals are lower-case and are looked for in lowercase(text), so the case of sets never matters.
// For each node we keep `exact`, every string (lower-cased) that the node can match, when there are few; and
// `required`, strings of which one must occur inside any match of the node. A match of a sequence is the concatenation
// of matches of its items, so a run of neighbours with exact sets requires one of the concatenations, and any single
// item's requirement holds for the whole; we keep the best of these. An alternation requires the union, and only when
// each branch requires something. A repetition that must happen once requires what its body requires. Assertions match
// the empty string.
import { bytesOf } from './byte-set.js';
import type { RegexNode } from './node.js';

const exactMax = 64; // strings in one exact set
const requiredMax = 512; // strings in an answer
const literalLengthMax = 64; // bytes

interface Facts {
  readonly exact: readonly string[] | null;
  readonly required: readonly string[] | null;
}

const nothing: Facts = { exact: null, required: null };
const empty: Facts = { exact: [''], required: null };

const shortest = (literals: readonly string[]): number =>
  literals.reduce((least, literal) => Math.min(least, literal.length), Infinity);

/** The better requirement: longer shortest literal first, then fewer literals. */
function better(one: readonly string[] | null, other: readonly string[] | null): readonly string[] | null {
  if (one === null || other === null) return one ?? other;
  const difference = shortest(one) - shortest(other);
  return difference > 0 || (difference === 0 && one.length <= other.length) ? one : other;
}

const asRequired = (exact: readonly string[] | null): readonly string[] | null =>
  exact === null || exact.length === 0 || exact.includes('') ? null : exact;

function product(left: readonly string[], right: readonly string[]): readonly string[] | null {
  if (left.length * right.length > exactMax) return null;
  const joined = [...new Set(left.flatMap((head) => right.map((tail) => head + tail)))];
  return joined.some((literal) => literal.length > literalLengthMax) ? null : joined;
}

function sequenceFacts(items: readonly RegexNode[]): Facts {
  let required: readonly string[] | null = null;
  let run: readonly string[] = [''];
  let whole = true;
  for (const item of items) {
    const facts = factsOf(item);
    required = better(required, facts.required);
    const joined = facts.exact === null ? null : product(run, facts.exact);
    if (joined !== null) {
      run = joined;
      continue;
    }
    whole = false;
    required = better(required, asRequired(run));
    run = facts.exact ?? [''];
  }
  return { exact: whole ? run : null, required: better(required, asRequired(run)) };
}

function alternationFacts(items: readonly RegexNode[]): Facts {
  const all = items.map(factsOf);
  const exact = all.every((facts) => facts.exact !== null) ? [...new Set(all.flatMap((facts) => facts.exact!))] : null;
  const needs = all.map((facts) => better(facts.required, asRequired(facts.exact)));
  const required = needs.every((need) => need !== null) ? [...new Set(needs.flatMap((need) => need))] : null;
  return {
    exact: exact !== null && exact.length <= exactMax ? exact : null,
    required: required !== null && required.length <= requiredMax ? required : null,
  };
}

function repeatFacts(node: RegexNode & { readonly kind: 'repeat' }): Facts {
  if (node.max === 0) return empty;
  const body = factsOf(node.body);
  if (node.min === 0) {
    const exact =
      node.max === 1 && body.exact !== null && body.exact.length < exactMax ? [...new Set(['', ...body.exact])] : null;
    return { exact, required: null };
  }
  let exact = body.exact;
  for (let round = 1; round < node.min && exact !== null; round++) exact = product(exact, body.exact!);
  const required = better(body.required, asRequired(exact ?? body.exact));
  return { exact: node.min === node.max ? exact : null, required };
}

function factsOf(node: RegexNode): Facts {
  switch (node.kind) {
    case 'set': {
      const literals = [
        ...new Set(
          bytesOf(node.set).map((byte) => String.fromCharCode(byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte)),
        ),
      ];
      return literals.length > exactMax ? nothing : { exact: literals, required: asRequired(literals) };
    }
    case 'sequence':
      return sequenceFacts(node.items);
    case 'alternation':
      return alternationFacts(node.items);
    case 'group':
    case 'atomic':
      return factsOf(node.body);
    case 'repeat':
      return repeatFacts(node);
    case 'assertion':
    case 'lookaround':
      return empty;
    case 'unsupported':
      return nothing;
  }
}

/**
 * Lower-case latin1 literals, none empty, of which at least one occurs in the ASCII-lower-cased text of every match;
 * null when there is no such list of useful size (at most 512).
 */
export function requiredLiterals(node: RegexNode): readonly string[] | null {
  const facts = factsOf(node);
  const required = better(facts.required, asRequired(facts.exact));
  return required === null || required.length === 0 ? null : required;
}
