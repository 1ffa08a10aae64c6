// The pattern lists of a plan. Each becomes a database; equal lists become one.
import type { PatternSpec } from '#engine/compile';
import type { PlannedAtom } from './atoms.js';
import type { PatternList } from './database-compiler.js';
import { serialOf, type ScanPattern } from './patterns.js';

/** An atom that automata answer. */
export interface AutomatonAtom {
  readonly atom: PlannedAtom;
  readonly patterns: readonly ScanPattern[];
}

export interface BuiltList extends PatternList {
  readonly atomOf: readonly number[];
}

/** What goes into a list: a pattern, and what stands in for it when Hyperscan refuses it (undefined = it does not). */
export interface ListEntry {
  readonly atom: number;
  readonly pattern: ScanPattern;
  readonly instead?: ScanPattern | null;
}

export function specOf(pattern: ScanPattern, id: number): PatternSpec {
  return {
    id,
    source: pattern.hyperscan,
    caseless: pattern.caseless,
    dotAll: pattern.dotAll,
    multiline: pattern.multiline,
    prefilter: false,
  };
}

export function entriesOf(atoms: readonly AutomatonAtom[]): ListEntry[] {
  return atoms.flatMap(({ atom, patterns }) => patterns.map((pattern) => ({ atom: atom.index, pattern })));
}

export function patternsIn(atoms: readonly AutomatonAtom[]): number {
  return atoms.reduce((sum, { patterns }) => sum + patterns.length, 0);
}

export class PatternLists {
  readonly all: BuiltList[] = [];
  private readonly ids = new Map<string, number>();

  /** Index of the list; -1 for an empty one. */
  add(entries: readonly ListEntry[]): number {
    if (entries.length === 0) return -1;
    // serials instead of the patterns' texts: a list has thousands, and there are a hundred lists
    const name = entries.map(({ pattern }) => serialOf(pattern)).join();
    const key = `${name}/${entries.map(({ atom }) => atom).join()}`;
    const known = this.ids.get(key);
    if (known !== undefined) return known;
    const instead = new Map(
      entries.flatMap(({ instead }, id): [number, PatternSpec | null][] =>
        instead === undefined ? [] : [[id, instead === null ? null : specOf(instead, id)]],
      ),
    );
    this.all.push({
      patterns: entries.map(({ pattern }, id) => specOf(pattern, id)),
      instead,
      atomOf: entries.map(({ atom }) => atom),
      name,
    });
    this.ids.set(key, this.all.length - 1);
    return this.all.length - 1;
  }
}
