// Patterns that are a row of single bytes and runs of bytes, such as `^[^;\s]+` or `\.([^.]+)$`: rules use them to cut
// a name, a type or an extension out of a value that is another one in every request, where nothing remembered helps.
// Walked by hand they cost a tenth of two calls into RE2 and the conversion of the text for each.
//
// Taken is only what needs no backtracking: behind a run comes a byte that the run does not take, so that a run which
// takes all it can is the only way to match; and where the pattern may begin anywhere, its first byte is in none of its
// runs, so that an attempt ends at the latest where the next one begins. Everything else stays RE2's: the time is
// linear in the text either way.
import { intersects, type ByteSet } from './byte-set.js';
import type { RegexNode } from './node.js';

export interface RunPattern {
  test(value: string): boolean;
  /** The match and its groups; null when nothing matches. */
  exec(value: string): string[] | null;
}

interface Item {
  readonly set: ByteSet;
  readonly isRun: boolean;
  /** 0 or 1. */
  readonly min: number;
}

/** A group from the beginning of item `first` to that of item `end`. */
interface Group {
  readonly first: number;
  readonly end: number;
}

interface Parts {
  readonly items: Item[];
  readonly groups: Group[]; // [0] is the whole match
  fromStart: boolean;
  toEnd: boolean;
}

const itemsMax = 8;
/** With the whole match: TX:0 … TX:9. */
const groupsMax = 10;

/** Null: it is of another form. What the pattern says of texts that end in a newline is not asked here. */
export function runPatternOf(node: RegexNode): RunPattern | null {
  const parts: Parts = { items: [], groups: [{ first: 0, end: 0 }], fromStart: false, toEnd: false };
  if (!collect(node, parts)) return null;
  const { items, groups } = parts;
  if (items.length === 0 || items.length > itemsMax || groups.length > groupsMax) return null;
  groups[0] = { first: 0, end: items.length };
  for (let index = 0; index < groups.length; index += 1) if (groups[index] === undefined) return null;
  return isDeterminate(parts) ? new Runs(parts) : null;
}

function collect(node: RegexNode, parts: Parts): boolean {
  if (parts.toEnd) return false; // nothing comes behind the end
  switch (node.kind) {
    case 'set':
      parts.items.push({ set: node.set, isRun: false, min: 1 });
      return true;
    case 'repeat':
      if (node.body.kind !== 'set' || node.mode !== 'greedy' || node.max !== Number.POSITIVE_INFINITY || node.min > 1)
        return false;
      parts.items.push({ set: node.body.set, isRun: true, min: node.min });
      return true;
    case 'sequence':
      return node.items.every((item) => collect(item, parts));
    case 'group': {
      const first = parts.items.length;
      if (!collect(node.body, parts)) return false;
      parts.groups[node.index] = { first, end: parts.items.length };
      return true;
    }
    case 'assertion':
      if (node.assertion === 'textStart' && parts.items.length === 0) parts.fromStart = true;
      else if (node.assertion === 'textEnd' || node.assertion === 'textEndOrFinalNewline') parts.toEnd = true;
      else return false;
      return true;
    default:
      return false;
  }
}

function isDeterminate({ items, fromStart, toEnd }: Parts): boolean {
  for (let index = 0; index + 1 < items.length; index += 1) {
    const [item, next] = [items[index] as Item, items[index + 1] as Item];
    if (item.isRun && (next.min === 0 || intersects(item.set, next.set))) return false;
  }
  const [first, ...rest] = items as [Item, ...Item[]];
  if (fromStart) return true;
  // a run alone matches where it begins, unless it has to reach the end: then each of its bytes would be tried
  if (rest.length === 0) return first.min === 1 && !(first.isRun && toEnd);
  return !first.isRun && rest.every((item) => !item.isRun || !intersects(first.set, item.set));
}

class Runs implements RunPattern {
  /** Where the items of the last match began, and where it ended. */
  private readonly begins: Int32Array;

  constructor(private readonly parts: Parts) {
    this.begins = new Int32Array(parts.items.length + 1);
  }

  test(value: string): boolean {
    const { items, fromStart } = this.parts;
    if (fromStart) return this.matchesAt(value, 0);
    const { set } = items[0] as Item;
    for (let at = 0; at < value.length; at += 1)
      if (set[value.charCodeAt(at)] === 1 && this.matchesAt(value, at)) return true;
    return false;
  }

  exec(value: string): string[] | null {
    if (!this.test(value)) return null;
    const { begins } = this;
    return this.parts.groups.map(({ first, end }) => value.slice(begins[first], begins[end]));
  }

  private matchesAt(value: string, start: number): boolean {
    const { begins } = this;
    const { items, toEnd } = this.parts;
    let at = start;
    for (let index = 0; index < items.length; index += 1) {
      const { set, isRun, min } = items[index] as Item;
      begins[index] = at;
      const isOne = at < value.length && set[value.charCodeAt(at)] === 1;
      if (!isOne) {
        if (min === 1) return false;
        continue;
      }
      at += 1;
      if (isRun) while (at < value.length && set[value.charCodeAt(at)] === 1) at += 1;
    }
    begins[items.length] = at;
    return !toEnd || at === value.length;
  }
}
