// Patterns of schemas as tables of states: one look-up for each character, no call into RE2, nothing allocated. The
// table is a shortcut for texts of ASCII; RE2 stays beside it as the slow twin that answers for all other texts and for
// patterns that are not plain (json/patterns.test.ts holds both to the same answers).
import RE2 from 're2';
import { readPattern, type PatternNode, type PlainPattern } from './pattern-syntax.js';

export interface TextPattern {
  test(text: string): boolean;
}

/** A table of states that costs more than about a millisecond to make, or 64 kB to keep, is not worth it. */
const placesMax = 600;
const statesMax = 400;
const stepsMax = 60_000;

const ascii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).join('');

/** Thompson's construction: places, between them edges of a set of characters or of nothing. */
class Places {
  readonly free: number[][] = [];
  /** Of each place the one edge that takes a character: its set and its target; -1 for none. */
  readonly takes: number[] = [];
  readonly leads: number[] = [];

  add(): number {
    if (this.free.length >= placesMax) throw new TooLarge();
    this.free.push([]);
    this.takes.push(-1);
    this.leads.push(-1);
    return this.free.length - 1;
  }

  join(from: number, to: number): void {
    this.free[from]?.push(to);
  }

  /** From `from` over what `node` matches; the place behind it. */
  over(node: PatternNode, from: number): number {
    if (node.kind === 'set') {
      const start = this.add();
      const end = this.add();
      this.join(from, start);
      this.takes[start] = node.set;
      this.leads[start] = end;
      return end;
    }
    if (node.kind === 'row') return node.parts.reduce((at, part) => this.over(part, at), from);
    if (node.kind === 'choice') {
      const end = this.add();
      for (const part of node.parts) {
        const start = this.add();
        this.join(from, start);
        this.join(this.over(part, start), end);
      }
      return end;
    }
    return this.repeated(node, from);
  }

  private repeated({ part, min, max }: Extract<PatternNode, { kind: 'repeat' }>, from: number): number {
    let at = from;
    for (let count = 0; count < min; count += 1) at = this.over(part, at);
    const end = this.add();
    this.join(at, end);
    if (max === Infinity) {
      const start = this.add();
      this.join(at, start);
      const behind = this.over(part, start);
      this.join(behind, start);
      this.join(behind, end);
      return end;
    }
    for (let count = min; count < max; count += 1) {
      at = this.over(part, at);
      this.join(at, end);
    }
    return end;
  }
}

class TooLarge extends Error {}

interface Table {
  /** Of a character its column. */
  readonly columns: Uint8Array;
  readonly width: number;
  /** `next[state * width + column]`; state 0: nothing can match any more. The first state is 1. */
  readonly next: Uint16Array;
  readonly accepts: Uint8Array;
}

/** Characters that every set has or has not together share a column. */
function columnsOf(sets: readonly string[]): { columns: Uint8Array; members: (readonly number[])[] } {
  const inSets = sets.map((source) => new Set(ascii.match(new RE2(source, 'gu'))));
  const known = new Map<string, number>();
  const members: (readonly number[])[] = [];
  const columns = Uint8Array.from(ascii, (char) => {
    const own = inSets.flatMap((set, index) => (set.has(char) ? [index] : []));
    const key = own.join();
    const column = known.get(key) ?? members.push(own) - 1;
    known.set(key, column);
    return column;
  });
  return { columns, members };
}

/** The subsets of places that a text can lead to, each a state. */
function tableOf({ node, fromStart, sets }: PlainPattern): Table {
  const places = new Places();
  const start = places.add();
  const end = places.over(node, start);
  const { columns, members } = columnsOf(sets);
  const width = members.length;
  let steps = 0;
  const closed = (seeds: readonly number[]): number[] => {
    const found = new Set(seeds);
    for (const place of found) for (const next of places.free[place] ?? []) found.add(next);
    steps += found.size * width;
    if (steps > stepsMax) throw new TooLarge();
    return [...found].sort((left, right) => left - right);
  };
  const states: number[][] = [[], closed([start])];
  const known = new Map(states.map((state, index) => [state.join(), index]));
  const next: number[] = Array<number>(width).fill(0);
  for (let index = 1; index < states.length; index += 1)
    for (let column = 0; column < width; column += 1) {
      const allowed = members[column] ?? [];
      const reached = (states[index] ?? []).flatMap((place) =>
        allowed.includes(places.takes[place] ?? -1) ? [places.leads[place] ?? 0] : [],
      );
      if (!fromStart) reached.push(start);
      const state = closed(reached);
      const key = state.join();
      if (!known.has(key)) {
        if (states.length >= statesMax) throw new TooLarge();
        known.set(key, states.push(state) - 1);
      }
      next.push(known.get(key) ?? 0);
    }
  const accepts = Uint8Array.from(states, (state) => (state.includes(end) ? 1 : 0));
  return { columns, width, next: Uint16Array.from(next), accepts };
}

/** Two loops: a match that may end anywhere is found as soon as it is there. */
function testerOf({ columns, width, next, accepts }: Table, toEnd: boolean, slow: TextPattern): TextPattern {
  const whole = (text: string): boolean => {
    let state = 1;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code > 127) return slow.test(text);
      state = next[state * width + (columns[code] as number)] as number;
      if (state === 0) return false;
    }
    return accepts[state] === 1;
  };
  const beginning = (text: string): boolean => {
    let state = 1;
    for (let at = 0; at < text.length && accepts[state] === 0; at += 1) {
      const code = text.charCodeAt(at);
      if (code > 127) return slow.test(text);
      state = next[state * width + (columns[code] as number)] as number;
      if (state === 0) return false;
    }
    return accepts[state] === 1;
  };
  return { test: toEnd ? whole : beginning };
}

/**
 * RE2 takes time in proportion to the text whatever the pattern. Throws for what RE2 does not have (look-ahead).
 * `isFast`: whether the table answers for texts of ASCII; tests ask for it.
 */
export function compilePattern(pattern: string): TextPattern & { readonly isFast: boolean } {
  const slow = new RE2(pattern, 'u');
  const plain = readPattern(pattern);
  const re2 = { test: (text: string): boolean => slow.test(text), isFast: false };
  if (plain === null) return re2;
  try {
    return { ...testerOf(tableOf(plain), plain.toEnd, re2), isFast: true };
  } catch (problem) {
    if (problem instanceof TooLarge) return re2;
    throw problem;
  }
}
