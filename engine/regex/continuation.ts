// What can come behind a node: the questions that decide whether a construct which RE2 and Hyperscan lack (possessive
// quantifiers, atomic groups, `$` before a final newline in the middle of a pattern) can be replaced by one they have.
// Every answer errs towards "no, not provable", and the caller then refuses the pattern.
import { type ByteSet, intersects, singleByte, union } from './byte-set.js';
import type { AssertionKind, RegexNode } from './node.js';

/**
 * The nodes behind a place, nearest first. `forced`: part of a loop that may still be owed, so its minimum counts only
 * for "can be empty".
 */
export interface Continuation {
  readonly node: RegexNode;
  readonly forced: boolean;
  readonly next: Continuation | null;
}

const newline = singleByte(0x0a);
const none: ByteSet = new Uint8Array(256);

/** Whether `node` can match the empty string when assertions in `allowed` (all, when null) hold. */
export function nullable(node: RegexNode, allowed: ReadonlySet<AssertionKind> | null): boolean {
  switch (node.kind) {
    case 'set':
      return false;
    case 'sequence':
      return node.items.every((item) => nullable(item, allowed));
    case 'alternation':
      return node.items.some((item) => nullable(item, allowed));
    case 'group':
    case 'atomic':
      return nullable(node.body, allowed);
    case 'repeat':
      return node.min === 0 || nullable(node.body, allowed);
    case 'assertion':
      return allowed === null || allowed.has(node.assertion);
    case 'lookaround':
    case 'unsupported':
      return allowed === null;
  }
}

/** A superset of the bytes that a non-empty match of `node` can begin with. */
export function firstBytes(node: RegexNode): ByteSet {
  switch (node.kind) {
    case 'set':
      return node.set;
    case 'sequence': {
      let first = none;
      for (const item of node.items) {
        first = union(first, firstBytes(item));
        if (!nullable(item, null)) break;
      }
      return first;
    }
    case 'alternation':
      return union(...node.items.map(firstBytes));
    case 'group':
    case 'atomic':
    case 'repeat':
      return firstBytes(node.body);
    case 'assertion':
    case 'lookaround':
      return none;
    case 'unsupported':
      return new Uint8Array(256).fill(1);
  }
}

/** Whether `node` can match exactly one newline (assertions taken as holding). */
function canBeNewline(node: RegexNode): boolean {
  switch (node.kind) {
    case 'set':
      return node.set[0x0a] === 1;
    case 'sequence':
      return node.items.some(
        (item, index) => canBeNewline(item) && node.items.every((other, at) => at === index || nullable(other, null)),
      );
    case 'alternation':
      return node.items.some(canBeNewline);
    case 'group':
    case 'atomic':
      return canBeNewline(node.body);
    case 'repeat':
      return node.max > 0 && canBeNewline(node.body) && (node.min <= 1 || nullable(node.body, null));
    case 'assertion':
    case 'lookaround':
      return false;
    case 'unsupported':
      return true;
  }
}

/** Whether everything behind can match nothing, needing only assertions in `allowed`. */
export function allNullable(continuation: Continuation | null, allowed: ReadonlySet<AssertionKind> | null): boolean {
  for (let cell = continuation; cell !== null; cell = cell.next) {
    const { node } = cell;
    const empty = cell.forced && node.kind === 'repeat' ? nullable(node.body, allowed) : nullable(node, allowed);
    if (!empty) return false;
  }
  return true;
}

/** Whether everything behind can possibly match nothing (assertions taken as holding, loops as finished). */
export function possiblyNothing(continuation: Continuation | null): boolean {
  for (let cell = continuation; cell !== null; cell = cell.next) if (!nullable(cell.node, null)) return false;
  return true;
}

function possiblyNewline(continuation: Continuation | null): boolean {
  for (let cell = continuation; cell !== null; cell = cell.next) {
    if (canBeNewline(cell.node) && possiblyNothing(cell.next)) return true;
    if (!nullable(cell.node, null)) return false;
  }
  return false;
}

const endAssertions: ReadonlySet<AssertionKind> = new Set(['textEndOrFinalNewline', 'lineEnd']);

/**
 * How `$` (non-multiline) at a place with this continuation may be written as `\n?` + end of text: 'exact', 'exact but
 * the newline may belong to the match' (something behind it can match the newline), or not at all.
 */
export function finalNewlineRewrite(continuation: Continuation | null): 'exact' | 'newlineInDoubt' | 'impossible' {
  const newlinePossible = possiblyNewline(continuation);
  if (allNullable(continuation, endAssertions)) return newlinePossible ? 'newlineInDoubt' : 'exact';
  // Behind the end nothing can match: RE2 fails there as PCRE does.
  return !newlinePossible && !possiblyNothing(continuation) ? 'exact' : 'impossible';
}

/** Whether the continuation cannot match where the next byte is one of `bytes`. */
function blockedBefore(continuation: Continuation | null, bytes: ByteSet): boolean {
  for (let cell = continuation; cell !== null; cell = cell.next) {
    const { node } = cell;
    if (node.kind === 'assertion') {
      if (node.assertion === 'textEnd') return true;
      if (endAssertions.has(node.assertion) && !intersects(bytes, newline)) return true;
      continue;
    }
    if (intersects(firstBytes(node), bytes)) return false;
    if (!nullable(node, null)) return true;
  }
  return false;
}

function unwrap(node: RegexNode): RegexNode {
  if (node.kind === 'group' || node.kind === 'atomic') return unwrap(node.body);
  return node.kind === 'sequence' && node.items.length === 1 ? unwrap(node.items[0]!) : node;
}

/**
 * Whether an atomic `body` may be written without atomicity: either what follows is happy with the first way to match
 * (it can be empty, no questions asked), or body is a run of one class and what follows cannot match before a byte of
 * that class, which is what a run that ends early stands before.
 */
export function isAtomicityMoot(body: RegexNode, continuation: Continuation | null): boolean {
  if (allNullable(continuation, new Set())) return true;
  const inner = unwrap(body);
  if (inner.kind === 'set') return true;
  if (inner.kind === 'sequence') return inner.items.every((item) => unwrap(item).kind === 'set');
  if (inner.kind !== 'repeat') return false;
  const element = unwrap(inner.body);
  if (element.kind !== 'set') return false;
  return inner.min === inner.max || (inner.mode !== 'lazy' && blockedBefore(continuation, element.set));
}
