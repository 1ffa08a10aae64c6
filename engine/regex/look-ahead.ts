// Look-ahead without backtracking. A look-ahead whose body is a finite list of texts sets a condition on the next few
// bytes.
// The condition is carried through what follows in the pattern: a byte set is split by what each byte makes of the
// condition, a loop is unrolled until the condition is settled, and what is left at the end of the pattern becomes a
// tail that reads on in the text: `<\?(?!xml)` ≡ `<\?(?:\z|[^x]|x(?:\z|[^m]|m(?:\z|[^l])))`. The tail stands in a group
// of its own, behind every group of the pattern, so that the match can be cut back to where it ended.
//
// Why this is exact, captures included. The result is a tree of choices in the order in which a backtracking matcher
// would try them:
// alternatives as written, one more round before the end of a greedy loop, behind it for a lazy one; what comes before
// a choice is written once, before it, so that its own choices still weigh more. Splitting a set yields choices of
// which at most one fits a text, so their order is free. Neighbours that leave the same condition are joined, which
// keeps the order. What is dropped could not hold. A tail matches in exactly one way where its condition holds. The one
// place where something must be written twice is a capturing group around choices that leave different conditions; it
// is refused unless what is repeated has only one way to match.
import { type ByteSet, intersects } from './byte-set.js';
import { always, type Condition, Conditions, holdsGroup, never } from './condition.js';
import { firstBytes, nullable } from './continuation.js';
import { type RegexNode, tailGroup } from './node.js';

/** A node, and behind it what is still asked of the text, or one of several choices, the preferred first. */
interface Tree {
  readonly node: RegexNode;
  readonly then: Condition | readonly Tree[];
}
interface Path extends Tree {
  readonly then: Condition;
}
type Repeat = RegexNode & { readonly kind: 'repeat' };

const stepsMax = 2000; // over the whole rewriting: bounds time and the size of the result
const roundsMax = 16; // of a counted loop around a look-ahead that is not settled inside

const nothing: RegexNode = { kind: 'sequence', items: [] };
const impossible: RegexNode = { kind: 'set', set: new Uint8Array(256) };

function firstLookAhead(node: RegexNode): number | null {
  if (node.kind === 'lookaround' && node.ahead) return node.offset;
  if (node.kind === 'sequence' || node.kind === 'alternation') {
    for (const item of node.items) {
      const offset = firstLookAhead(item);
      if (offset !== null) return offset;
    }
    return null;
  }
  return 'body' in node ? firstLookAhead(node.body) : null;
}

function join(one: RegexNode, other: RegexNode): RegexNode {
  if (one === nothing) return other;
  if (other === nothing) return one;
  return { kind: 'sequence', items: [...(one.kind === 'sequence' ? one.items : [one]), other] };
}

function either(nodes: readonly RegexNode[]): RegexNode {
  if (nodes.length === 0) return impossible;
  return nodes.length === 1
    ? nodes[0]!
    : { kind: 'alternation', items: nodes.flatMap((node) => (node.kind === 'alternation' ? node.items : [node])) };
}

const isPath = (tree: Tree): tree is Path => !Array.isArray(tree.then);
const leaf = (condition: Condition): Path => ({ node: nothing, then: condition });
const dead: Path = { node: impossible, then: always };

/** One of the trees; neighbours that leave the same condition become one. */
function choice(trees: readonly Tree[]): Tree {
  const runs: Tree[] = [];
  for (const tree of trees.flatMap((one) =>
    one.node === nothing && !isPath(one) ? (one.then as readonly Tree[]) : [one],
  )) {
    if (tree.node === impossible) continue;
    const last = runs.at(-1);
    if (last !== undefined && isPath(last) && last.then === tree.then)
      runs[runs.length - 1] = { node: either([last.node, tree.node]), then: last.then };
    else runs.push(tree);
  }
  if (runs.length === 0) return dead;
  return runs.length === 1 ? runs[0]! : { node: nothing, then: runs };
}

const prefixed = (node: RegexNode, tree: Tree): Tree =>
  tree.node === impossible ? dead : { node: join(node, tree.node), then: tree.then };

/** The tree with `grow` of its condition at each end. */
function extended(tree: Tree, grow: (condition: Condition) => Tree): Tree {
  if (isPath(tree)) return tree.node === impossible ? dead : prefixed(tree.node, grow(tree.then));
  return prefixed(tree.node, choice((tree.then as readonly Tree[]).map((one) => extended(one, grow))));
}

/** Whether there is at most one way to match from any place. */
function isFixed(node: RegexNode): boolean {
  switch (node.kind) {
    case 'set':
    case 'assertion':
      return true;
    case 'sequence':
      return node.items.every(isFixed);
    case 'alternation': {
      const firsts = node.items.map(firstBytes);
      return node.items.every(
        (item, index) =>
          isFixed(item) &&
          !nullable(item, null) &&
          firsts.every((first, other) => other <= index || !intersects(first, firsts[index]!)),
      );
    }
    case 'group':
      return isFixed(node.body);
    case 'repeat':
      return node.min === node.max && isFixed(node.body);
    case 'atomic':
    case 'lookaround':
    case 'unsupported':
      return false;
  }
}

/** The bytes by what each makes of the condition; bytes that fail it are left out. */
function splitBy(condition: Condition, set: ByteSet | null): Map<Condition, ByteSet> {
  const split = new Map<Condition, ByteSet>();
  for (const [byte, next] of condition.next.entries()) {
    if (next === never || (set !== null && set[byte] !== 1)) continue;
    let part = split.get(next);
    if (part === undefined) split.set(next, (part = new Uint8Array(256)));
    part[byte] = 1;
  }
  return split;
}

class Rewriting {
  private readonly conditions = new Conditions();
  private spent = 0;

  constructor(private readonly offset: number) {}

  whole(node: RegexNode): RegexNode {
    const result = this.written(this.tree(node, always));
    this.refuseCopiesInLoops(result, null);
    return result;
  }

  private written(tree: Tree): RegexNode {
    if (!isPath(tree)) return join(tree.node, either((tree.then as readonly Tree[]).map((one) => this.written(one))));
    return tree.then === always
      ? tree.node
      : join(tree.node, { kind: 'group', index: tailGroup, name: null, body: this.tail(tree.then) });
  }

  private refuse(why: string): never {
    return this.conditions.refuse(why, this.offset);
  }

  private spend(): void {
    if (++this.spent > stepsMax)
      this.refuse('the alternatives in and behind it multiply; list fewer texts or move it to the end');
  }

  /** Reads exactly as far as it must to know that the condition holds. */
  private tail(condition: Condition): RegexNode {
    if (condition === always) return nothing;
    this.spend();
    const items: RegexNode[] = condition.atEnd
      ? [{ kind: 'assertion', assertion: 'textEnd', offset: this.offset }]
      : [];
    for (const [next, set] of splitBy(condition, null)) items.push(join({ kind: 'set', set }, this.tail(next)));
    return either(items);
  }

  private tree(node: RegexNode, condition: Condition): Tree {
    if (condition === always && firstLookAhead(node) === null) return { node, then: condition };
    this.spend();
    switch (node.kind) {
      case 'set':
        return choice(
          [...splitBy(condition, node.set)].map(([next, set]) => ({ node: { kind: 'set', set }, then: next })),
        );
      case 'sequence':
        return node.items.reduce<Tree>(
          (tree, item) => extended(tree, (left) => this.tree(item, left)),
          leaf(condition),
        );
      case 'alternation':
        return choice(node.items.map((item) => this.tree(item, condition)));
      case 'group':
        return this.grouped(node, condition);
      case 'repeat':
        return this.repeated(node, condition);
      case 'atomic': {
        const body = condition === always ? this.settled(node.body) : null;
        return body === null
          ? this.refuse('it meets an atomic group; write (?:…)')
          : { node: { ...node, body }, then: condition };
      }
      case 'assertion':
        return this.asserted(node, condition);
      case 'lookaround': {
        if (!node.ahead) return { node, then: condition };
        const both = this.conditions.and(condition, this.conditions.of(node));
        return both === never ? dead : leaf(both);
      }
      case 'unsupported':
        return { node, then: condition };
    }
  }

  /** The node when all look-ahead inside is settled inside, else null. */
  private settled(node: RegexNode): RegexNode | null {
    const tree = this.tree(node, always);
    return tree.then === always ? tree.node : null;
  }

  private grouped(group: RegexNode & { readonly kind: 'group' }, condition: Condition): Tree {
    const around = (tree: Tree): Tree =>
      tree.node === impossible ? dead : { node: { ...group, body: tree.node }, then: tree.then };
    const tree = this.tree(group.body, condition);
    if (isPath(tree)) return around(tree);
    const flat = choice(this.flattened(tree));
    return isPath(flat) ? around(flat) : { node: nothing, then: (flat.then as readonly Tree[]).map(around) };
  }

  private flattened(tree: Tree): Path[] {
    if (isPath(tree)) return [tree];
    if (!isFixed(tree.node))
      this.refuse(
        'it depends on a choice inside a capturing group that begins with another choice; write (?:…) or move it ' +
          'out of the group',
      );
    return (tree.then as readonly Tree[])
      .flatMap((one) => this.flattened(one))
      .map((path) => ({ node: join(tree.node, path.node), then: path.then }));
  }

  private repeated(node: Repeat, condition: Condition): Tree {
    if (node.max === 0) return leaf(condition);
    const body = firstLookAhead(node.body) === null ? node.body : this.settled(node.body);
    if (body !== null && condition === always) return { node: { ...node, body }, then: condition };
    if (body === null && node.max > roundsMax)
      this.refuse('it stands at the end of a loop, whose next round decides; take it out of the loop');
    if (node.mode === 'possessive') this.refuse('it meets a possessive quantifier; write it without the +');
    if (node.max > 1 && nullable(node.body, null))
      this.refuse('it meets a loop over something that can be empty; make each round match a byte');
    return this.unrolled(body === null ? node : { ...node, body }, condition);
  }

  private unrolled(node: Repeat, condition: Condition): Tree {
    const rest: Repeat = { ...node, min: Math.max(0, node.min - 1), max: node.max - 1 };
    const rounds = extended(this.tree(node.body, condition), (left) => this.tree(rest, left));
    if (node.min > 0) return rounds;
    return choice(node.mode === 'lazy' ? [leaf(condition), rounds] : [rounds, leaf(condition)]);
  }

  private asserted(node: RegexNode & { readonly kind: 'assertion' }, condition: Condition): Tree {
    if (node.assertion === 'textEnd') return condition.atEnd ? { node, then: always } : dead;
    if (node.assertion !== 'textEndOrFinalNewline') return { node, then: condition };
    const beforeNewline = condition.next[0x0a]!.atEnd;
    if (condition.atEnd) return { node: beforeNewline ? node : { ...node, assertion: 'textEnd' }, then: always };
    return beforeNewline ? this.refuse('it wants the newline that the $ behind it looks past; write \\n\\z') : dead;
  }

  /**
   * A group that was copied is read from its last copy that took part; in a loop the copies of several rounds would
   * mix.
   */
  private refuseCopiesInLoops(node: RegexNode, seen: Set<number> | null): void {
    if (node.kind === 'group' && seen !== null) {
      if (seen.has(node.index)) this.refuse('a capturing group stands behind it in a loop; write (?:…)');
      seen.add(node.index);
    }
    if (node.kind === 'sequence' || node.kind === 'alternation')
      for (const item of node.items) this.refuseCopiesInLoops(item, seen);
    else if ('body' in node)
      this.refuseCopiesInLoops(
        node.body,
        seen ?? (node.kind === 'repeat' && node.max > 1 && holdsGroup(node.body) ? new Set() : null),
      );
  }
}

/**
 * The pattern without look-ahead, with the same matches in the same order of preference; a group numbered `tailGroup`
 * holds what a match reads beyond its end. A pattern without look-ahead comes back as it is; look-behind is left alone.
 * Throws RegexUnsupportedError where the rewriting would not be exact or would grow too large.
 */
export function withoutLookAhead(node: RegexNode): RegexNode {
  const offset = firstLookAhead(node);
  return offset === null ? node : new Rewriting(offset).whole(node);
}
