// Conditions on the text behind a place: what a look-ahead whose body is a finite list of texts asks. A condition is a
// tree over the next bytes; equal conditions are one object, so that comparing is cheap and paths that ask the same
// join.
import { escapeClasses } from './byte-set.js';
import { allNullable, type Continuation } from './continuation.js';
import { type RegexNode, RegexUnsupportedError } from './node.js';

export interface Condition {
  readonly id: number;
  /** Whether it holds where the text ends. */
  readonly atEnd: boolean;
  /** By the next byte (256 entries), the condition on what stands behind that byte. */
  readonly next: readonly Condition[];
}

function constant(id: number, atEnd: boolean): Condition {
  const next: Condition[] = [];
  const condition = { id, atEnd, next };
  for (let byte = 0; byte < 256; byte += 1) next.push(condition);
  return condition;
}
export const never = constant(0, false);
export const always = constant(1, true);

// Bounds of the work for one pattern; a list of fifty attribute names stays well below them.
const conditionsMax = 4000;
const stepsMax = 2000;
const countMax = 64;

const word = escapeClasses['w']!;
const noAssertions: ReadonlySet<never> = new Set();

export function holdsGroup(node: RegexNode): boolean {
  if (node.kind === 'group') return true;
  if (node.kind === 'sequence' || node.kind === 'alternation') return node.items.some(holdsGroup);
  return 'body' in node && holdsGroup(node.body);
}

/** Makes conditions for one pattern. Every refusal is a RegexUnsupportedError with the offset of the look-ahead. */
export class Conditions {
  private readonly known = new Map<string, Condition>();
  private readonly conjunctions = new Map<string, Condition>();
  private readonly negations = new Map<Condition, Condition>();
  private readonly asked = new Map<RegexNode, Condition>();
  private steps = 0;
  private offset = 0;

  /** The condition that a look-ahead (`lookaround` with `ahead`) sets at its place. */
  of(node: RegexNode & { readonly kind: 'lookaround' }): Condition {
    const known = this.asked.get(node);
    if (known !== undefined) return known;
    this.offset = node.offset;
    if (!node.negative && holdsGroup(node.body)) this.refuse('it captures; write (?:…) inside it');
    const inside = this.behind({ node: node.body, forced: false, next: null }, null);
    const condition = node.negative ? this.not(inside) : inside;
    this.asked.set(node, condition);
    return condition;
  }

  and(one: Condition, other: Condition): Condition {
    if (one === always || one === other) return other;
    if (other === always) return one;
    if (one === never || other === never) return never;
    const key = `${Math.min(one.id, other.id)},${Math.max(one.id, other.id)}`;
    let both = this.conjunctions.get(key);
    if (both === undefined) {
      both = this.make(one.atEnd && other.atEnd, (byte) => this.and(one.next[byte]!, other.next[byte]!));
      this.conjunctions.set(key, both);
    }
    return both;
  }

  /** Refuses the look-ahead at `offset` (the last one asked about, if left out). */
  refuse(why: string, offset = this.offset): never {
    throw new RegexUnsupportedError(
      offset,
      'Look-ahead needs backtracking, which opens the door to denial of service, unless it looks for a short list ' +
        `of texts outside a loop; here ${why}, or use two rules in a chain, one of them negated`,
    );
  }

  private make(atEnd: boolean, nextOf: (byte: number) => Condition): Condition {
    const next = Array.from({ length: 256 }, (_, byte) => nextOf(byte));
    const [first] = next as [Condition];
    if (
      (first === always || first === never) &&
      first.atEnd === atEnd &&
      next.every((condition) => condition === first)
    )
      return first;
    const key = `${atEnd} ${next.map(({ id }) => id).join()}`;
    let condition = this.known.get(key);
    if (condition === undefined) {
      if (this.known.size >= conditionsMax) this.refuse('it asks too much; list fewer or shorter texts');
      condition = { id: this.known.size + 2, atEnd, next };
      this.known.set(key, condition);
    }
    return condition;
  }

  private not(condition: Condition): Condition {
    if (condition === always) return never;
    if (condition === never) return always;
    let negated = this.negations.get(condition);
    if (negated === undefined) {
      negated = this.make(!condition.atEnd, (byte) => this.not(condition.next[byte]!));
      this.negations.set(condition, negated);
      this.negations.set(negated, condition);
    }
    return negated;
  }

  private or(one: Condition, other: Condition): Condition {
    return this.not(this.and(this.not(one), this.not(other)));
  }

  /**
   * Where some match of all the nodes of `cell` begins. `afterWord`: whether a word byte stands before; null when
   * unknown.
   */
  private behind(cell: Continuation | null, afterWord: boolean | null): Condition {
    if (cell === null || allNullable(cell, noAssertions)) return always;
    if (++this.steps > stepsMax) this.refuse('it asks too much; list fewer or shorter texts');
    const { node, next } = cell;
    switch (node.kind) {
      case 'set':
        return this.behindSet(node.set, next);
      case 'sequence':
        return this.behind(
          node.items.reduceRight<Continuation | null>(
            (rest, item) => ({ node: item, forced: false, next: rest }),
            next,
          ),
          afterWord,
        );
      case 'alternation':
        return this.not(
          node.items.reduce(
            (none, item) => this.and(none, this.not(this.behind({ node: item, forced: false, next }, afterWord))),
            always,
          ),
        );
      case 'group':
        return this.behind({ node: node.body, forced: false, next }, afterWord);
      case 'repeat':
        return this.behindRepeat(node, next, afterWord);
      case 'assertion':
        return this.and(this.asserted(node, afterWord), this.behind(next, afterWord));
      case 'lookaround': {
        if (!node.ahead)
          return this.refuse('there is look-behind inside it; write what may stand before as part of the pattern');
        const inside = this.behind({ node: node.body, forced: false, next: null }, afterWord);
        return this.and(node.negative ? this.not(inside) : inside, this.behind(next, afterWord));
      }
      case 'atomic':
        if (!allNullable(next, noAssertions)) return this.refuse('there is an atomic group inside it; write (?:…)');
        return this.behind({ node: node.body, forced: false, next }, afterWord);
      case 'unsupported':
        return this.refuse(`there is ${node.what} inside it; write the alternatives out`);
    }
  }

  private behindSet(set: Uint8Array, next: Continuation | null): Condition {
    const holds = (isWord: number): boolean => set.some((present, byte) => present === 1 && word[byte] === isWord);
    const afterWord = holds(1) ? this.behind(next, true) : never;
    const afterOther = holds(0) ? this.behind(next, false) : never;
    return this.make(false, (byte) => (set[byte] === 0 ? never : word[byte] === 1 ? afterWord : afterOther));
  }

  private behindRepeat(
    node: RegexNode & { readonly kind: 'repeat' },
    next: Continuation | null,
    afterWord: boolean | null,
  ): Condition {
    const { min } = node;
    const last = allNullable(next, noAssertions); // then further rounds change nothing
    if (node.mode === 'possessive' && !last)
      this.refuse('there is a possessive quantifier inside it; write it without the +');
    const max = last ? min : node.max;
    if (max > countMax)
      this.refuse(`its body repeats without a bound, or more than ${countMax} times; write its texts out`);
    const rest: Continuation | null =
      max === 0 ? next : { node: { ...node, min: Math.max(0, min - 1), max: max - 1 }, forced: false, next };
    const more = max === 0 ? never : this.behind({ node: node.body, forced: false, next: rest }, afterWord);
    return min === 0 ? this.or(this.behind(next, afterWord), more) : more;
  }

  private asserted(node: RegexNode & { readonly kind: 'assertion' }, afterWord: boolean | null): Condition {
    switch (node.assertion) {
      case 'textEnd':
        return this.make(true, () => never);
      case 'textEndOrFinalNewline': {
        const end = this.make(true, () => never);
        return this.make(true, (byte) => (byte === 0x0a ? end : never));
      }
      case 'lineEnd':
        return this.make(true, (byte) => (byte === 0x0a ? always : never));
      case 'wordBoundary':
      case 'notWordBoundary': {
        if (afterWord === null) return this.refuse('its body begins with \\b; put \\b before it');
        const wanted = (node.assertion === 'wordBoundary') !== afterWord; // whether a word byte must come
        return this.make(!wanted, (byte) => ((word[byte] === 1) === wanted ? always : never));
      }
      case 'textStart':
      case 'lineStart':
        return this.refuse('there is a ^ inside it; put ^ before it');
    }
  }
}
