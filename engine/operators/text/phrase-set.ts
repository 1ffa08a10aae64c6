// A set of phrases as an Aho-Corasick automaton over bytes, ASCII letters folded: one table look-up per byte, whatever
// the number of phrases. Bytes that occur in no phrase share one class, which keeps the table small.
import { OperatorArgumentError } from '../operator.js';

/** Table cells (4 bytes each) before a list is refused: 256 MiB. The lists of the CRS stay below 4 million. */
const cellsMax = 64 * 1024 * 1024;

export interface PhraseSet {
  /** Where the earliest-ending phrase ends (exclusive), or −1. */
  endOfFirst(value: string): number;
  /**
   * Text of the earliest-ending phrase as it stands in the value, the longest one of those ending there; null when none
   * occurs.
   */
  first(value: string): string | null;
}

function fold(code: number): number {
  return code >= 0x41 && code <= 0x5a ? code | 0x20 : code;
}

/** Byte → class; class 0 = in no phrase. */
function classesOf(phrases: readonly string[]): { classOf: Uint16Array; classCount: number } {
  const classOf = new Uint16Array(256);
  let classCount = 1;
  for (const phrase of phrases) {
    for (let at = 0; at < phrase.length; at += 1) {
      const code = fold(phrase.charCodeAt(at) & 0xff);
      if (classOf[code] === 0) classOf[code] = classCount++;
    }
  }
  for (let code = 0x41; code <= 0x5a; code += 1) classOf[code] = classOf[code | 0x20] as number;
  return { classOf, classCount };
}

interface Trie {
  /** Row-major: cells[state × classCount + class] = next state, 0 = none (the root is nobody's child). */
  cells: Int32Array;
  stateCount: number;
  /** Length of the phrase that ends in the state, 0 = none. */
  ending: Int32Array;
}

function buildTrie(phrases: readonly string[], classOf: Uint16Array, classCount: number): Trie {
  let statesMax = 1;
  for (const phrase of phrases) statesMax += phrase.length;
  // Lists share prefixes, so growing beats reserving the worst case.
  let capacity = Math.min(statesMax, 1024);
  let cells = new Int32Array(capacity * classCount);
  let ending = new Int32Array(capacity);
  let stateCount = 1;
  for (const phrase of phrases) {
    let state = 0;
    for (let at = 0; at < phrase.length; at += 1) {
      const cell = state * classCount + (classOf[phrase.charCodeAt(at) & 0xff] as number);
      if (cells[cell] === 0) {
        if (stateCount === capacity) {
          capacity = Math.min(statesMax, capacity * 2);
          if (capacity * classCount > cellsMax)
            throw new OperatorArgumentError(
              `${phrases.length} phrases need more than ${cellsMax} table cells; split the list over several rules`,
            );
          const largerCells = new Int32Array(capacity * classCount);
          largerCells.set(cells);
          cells = largerCells;
          const largerEnding = new Int32Array(capacity);
          largerEnding.set(ending);
          ending = largerEnding;
        }
        cells[cell] = stateCount++;
      }
      state = cells[cell] as number;
    }
    ending[state] = phrase.length;
  }
  return { cells, stateCount, ending };
}

/**
 * Turns the trie into a complete automaton in breadth-first order: missing edges go where the longest proper suffix
 * goes.
 */
function complete({ cells, stateCount, ending }: Trie, classCount: number): void {
  const failure = new Int32Array(stateCount);
  const queue = new Int32Array(stateCount);
  let read = 0;
  let written = 1; // queue[0] = root
  while (read < written) {
    const state = queue[read++] as number;
    const row = state * classCount;
    const failureRow = (failure[state] as number) * classCount;
    for (let symbol = 1; symbol < classCount; symbol += 1) {
      const child = cells[row + symbol] as number;
      const fallback = state === 0 ? 0 : (cells[failureRow + symbol] as number);
      if (child === 0) {
        cells[row + symbol] = fallback;
        continue;
      }
      failure[child] = fallback;
      // A phrase that ends in the suffix ends here too; the state's own phrase is longer and stays.
      if (ending[child] === 0) ending[child] = ending[fallback] as number;
      queue[written++] = child;
    }
  }
}

/**
 * Equal lists share one automaton per thread: the next generation has the lists of the one before, and building the
 * CRS's takes 50 ms.
 */
const known = new Map<string, PhraseSet>();
/** Emptied when the automata of this thread hold more cells than this (64 MB); the CRS's hold a tenth. */
const knownCellsMax = 16 * 1024 * 1024;
let knownCells = 0;

/**
 * Empty phrases are ignored; a set without phrases matches nothing. Throws OperatorArgumentError when the list is too
 * large.
 */
export function compilePhrases(list: readonly string[]): PhraseSet {
  // lengths in front, so that no two lists are one text
  const key = `${list.map(({ length }) => length).join(',')}:${list.join('')}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  const { set, cells } = buildSet(list);
  if (knownCells + cells > knownCellsMax) {
    known.clear();
    knownCells = 0;
  }
  known.set(key, set);
  knownCells += cells;
  return set;
}

function buildSet(list: readonly string[]): { readonly set: PhraseSet; readonly cells: number } {
  const phrases = list.filter((phrase) => phrase !== '');
  const { classOf, classCount } = classesOf(phrases);
  const trie = buildTrie(phrases, classOf, classCount);
  complete(trie, classCount);
  // Rows as offsets, accepting rows negated: the loop does one addition, one load and one sign test per byte.
  const table = trie.cells.slice(0, trie.stateCount * classCount);
  const { ending } = trie;
  for (let cell = 0; cell < table.length; cell += 1) {
    const state = table[cell] as number;
    table[cell] = ending[state] === 0 ? state * classCount : -state;
  }
  let endedIn = 0;
  const endOfFirst = (value: string): number => {
    let row = 0;
    for (let at = 0; at < value.length; at += 1) {
      row = table[row + (classOf[value.charCodeAt(at)] as number)] as number;
      if (row < 0) {
        endedIn = -row;
        return at + 1;
      }
    }
    return -1;
  };
  const first = (value: string): string | null => {
    const end = endOfFirst(value);
    return end < 0 ? null : value.slice(end - (ending[endedIn] as number), end);
  };
  return { set: { endOfFirst, first }, cells: table.length + ending.length };
}
