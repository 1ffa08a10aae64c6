// What a checklist says, and how it changes: pure.

export type Result = 'open' | 'pass' | 'fail' | 'na';

export interface Item {
  readonly item: string;
  readonly result: Result;
  readonly note?: string;
  /** The finding that it led to. */
  readonly vuln_id?: string | null;
  /** Of one that failed: a finding is written of it when this is stored. */
  readonly raise?: { readonly severity: Severity; readonly title?: string };
}

export const severities = ['critical', 'high', 'medium', 'low', 'info'] as const;
export type Severity = (typeof severities)[number];

/** Of an item, in characters, as the API has it. */
export const itemLengthMax = 300;

/** Lines that somebody typed as items that nobody has answered; what is on the list already is not doubled. */
export function withLines(items: readonly Item[], typed: string): readonly Item[] {
  const known = new Set(items.map(({ item }) => item));
  const added = typed
    .split('\n')
    .map((line) => line.trim().slice(0, itemLengthMax))
    .filter((line) => line !== '' && !known.has(line));
  return [...items, ...[...new Set(added)].map((item) => ({ item, result: 'open' as const }))];
}

/** The list with one item otherwise; an empty note is none. */
export const withAnswer = (items: readonly Item[], at: number, change: Partial<Item>): readonly Item[] =>
  items.map((one, index) => {
    if (index !== at) return one;
    const { raise, note, ...rest } = { ...one, ...change };
    // what is to be written of a failure is nothing where it passed after all
    const others = raise === undefined || rest.result !== 'fail' ? rest : { ...rest, raise };
    return note === undefined || note.trim() === '' ? others : { ...others, note: note.trim() };
  });

export interface Progress {
  readonly answered: number;
  readonly failed: number;
  readonly all: number;
}

export const progressOf = (items: readonly Item[]): Progress => ({
  answered: items.filter(({ result }) => result !== 'open').length,
  failed: items.filter(({ result }) => result === 'fail').length,
  all: items.length,
});
