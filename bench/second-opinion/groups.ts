// Which half of the labelled requests a request belongs to. Half A is looked at: signs are drafted and weights are
// chosen by it. Half B is only scored. Requests that are variants of each other stand in the same half, or B would
// repeat what A taught: recorded browsing is divided by site, everything else by the skeleton of its oddest value
// (decoded, lower case, numbers and rare words as one letter each), so that one tool's template with other numbers and
// random words is one group. The half is a bit of the hash of the group and depends on nothing else.
import { createHash } from 'node:crypto';

export interface Row {
  readonly id: string;
  readonly label: 'attack' | 'benign';
  readonly source: string;
  readonly method: string;
  readonly uri: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: string | null;
  readonly body_b64?: string | null;
}

export interface Place {
  readonly group: string;
  /** 0: half A, which is looked at; 1: half B, which is scored. */
  readonly half: 0 | 1;
  /** One of five parts, for choosing within a half. */
  readonly fold: number;
}

export const foldsMax = 5;
/** A word or a value that stands in so many requests belongs to a language or to a client, not to one request. */
const commonFrom = 5;
const decodedMax = 4;

function decoded(text: string): string {
  let before = text.replaceAll('+', ' ');
  for (let turn = 0; turn < decodedMax; turn += 1) {
    const after = before.replaceAll(/%([0-9a-f]{2})/gi, (_all, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    if (after === before) break;
    before = after;
  }
  return before.toLowerCase();
}

const bodyOf = (row: Row): string =>
  typeof row.body_b64 === 'string' ? Buffer.from(row.body_b64, 'base64').toString('latin1') : (row.body ?? '');

/** What may carry a payload: segments of the path, names and values of the query and of the body, headers. */
function valuesOf(row: Row): string[] {
  const parts = [row.uri.split('?', 1)[0] ?? '', ...row.uri.split(/[?&=]/).slice(1), ...bodyOf(row).split(/[&=]/)];
  return [...parts, row.uri, ...row.headers.map(([, value]) => value)].map(decoded);
}

const wordsOf = (text: string): string[] => text.match(/[a-z]+/g) ?? [];

function countIn(rows: readonly (readonly string[])[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const row of rows) for (const one of new Set(row)) counts.set(one, (counts.get(one) ?? 0) + 1);
  return counts;
}

const oddness = (text: string): number => (text.match(/[^\w\s.,:/-]/g) ?? []).length;

function skeleton(text: string, words: ReadonlyMap<string, number>): string {
  const plain = text.replaceAll(/[a-z]+/g, (word) => ((words.get(word) ?? 0) < commonFrom ? 'w' : word));
  return plain
    .replaceAll(/\d+/g, '0')
    .replaceAll(/(?:0|w){2,}/g, 'w')
    .replaceAll(/\s+/g, '');
}

function groupOf(row: Row, values: readonly string[], common: Map<string, number>, words: Map<string, number>): string {
  const host = row.headers.find(([name]) => name.toLowerCase() === 'host')?.[1] ?? '';
  if (row.source === 'openappsec-legit') return `site ${host.toLowerCase()}`;
  const rare = values.filter((value) => (common.get(value) ?? 0) < commonFrom);
  const oddest = rare.toSorted((left, right) => oddness(right) - oddness(left) || right.length - left.length);
  // The shortest of the equally odd ones is the value itself, not the whole URI around it.
  const most = oddness(oddest[0] ?? '');
  const value = oddest.findLast((one) => oddness(one) >= 0.7 * most) ?? '';
  return `value ${skeleton(value, words)}`;
}

/** The place of every row, in their order. */
export function placesOf(rows: readonly Row[]): Place[] {
  const values = rows.map(valuesOf);
  const [common, words] = [countIn(values), countIn(values.map((some) => some.flatMap(wordsOf)))];
  return rows.map((row, index) => {
    const group = groupOf(row, values[index] ?? [], common, words);
    const [first = 0, second = 0] = createHash('sha256').update(group).digest();
    return { group, half: (first & 1) as 0 | 1, fold: second % foldsMax };
  });
}
