// Findings of several tools that are likely one weakness, with the reason of each tie. Pure: rows in, clusters out.
// Ties are made from the surest down; none joins two findings of one tool, which tells its own apart, nor a pair that
// a person has said to be two.
import { packageName } from '../../imports/same-weakness.js';
import { templatedUrl } from '../../imports/fingerprint.js';
import type { Location } from '../../imports/record.js';
import { weaknessClasses } from '../../vpatches/weakness-classes.js';
import { pairOf } from './duplicates.js';

export interface Clustered {
  readonly id: number;
  readonly application_id: number;
  readonly tool: string;
  readonly cluster_key: string | null;
  readonly cwes: readonly number[];
  readonly vuln_ids: readonly string[];
  readonly place: Location | null;
}

export const reasons = {
  same_key: 'the same vulnerability of the same package, or the same secret',
  same_package_and_id: 'an id in common, of a package of the same name',
  same_route_and_weakness: 'the same method, route and class of weakness',
  same_line_and_weakness: 'the same file and class of weakness, at most three lines apart',
  same_file_and_weakness: 'the same file and class of weakness',
} as const;
export type Reason = keyof typeof reasons;

const confidences: Readonly<Record<Reason, number>> = {
  same_key: 1,
  same_package_and_id: 1,
  same_route_and_weakness: 0.8,
  same_line_and_weakness: 0.8,
  same_file_and_weakness: 0.5,
};
const linesApart = 3;

export interface Tie {
  readonly left: number;
  readonly right: number;
  readonly reason: Reason;
  readonly confidence: number;
}

export interface Cluster {
  readonly ids: readonly number[];
  readonly confidence: number;
  readonly ties: readonly Tie[];
}

const families = new Map(weaknessClasses.flatMap(({ name, cwes }) => cwes.map((cwe) => [cwe, name] as const)));
const familiesOf = ({ cwes }: Clustered): readonly string[] => [
  ...new Set(cwes.map((cwe) => families.get(cwe) ?? `CWE-${cwe}`)),
];

interface Key {
  readonly key: string;
  readonly reason: Reason;
  readonly line: number;
}

/** A file that one tool names from a directory below is the same file: its last two parts are compared. */
const fileOf = (path: string): string => path.replaceAll('\\', '/').split('/').slice(-2).join('/').toLowerCase();

function keysOf(row: Clustered): Key[] {
  const found: Key[] = [];
  const add = (reason: Reason, parts: readonly string[], line = 0): void =>
    void found.push({ key: JSON.stringify([reason, row.application_id, ...parts]), reason, line });
  const { place } = row;
  if (row.cluster_key !== null) add('same_key', [row.cluster_key]);
  if (place?.kind === 'package') for (const id of row.vuln_ids) add('same_package_and_id', [id, packageName(place)]);
  if (place?.kind === 'web')
    for (const family of familiesOf(row))
      add('same_route_and_weakness', [place.method ?? 'GET', templatedUrl(place.url), place.param ?? '', family]);
  if (place?.kind === 'code')
    for (const family of familiesOf(row))
      add('same_file_and_weakness', [fileOf(place.path), family], place.line ?? Number.NaN);
  return found;
}

/** Neighbours of one key: whoever shares it is tied to the next of another tool. */
function tiesOf(of: readonly { readonly row: Clustered; readonly key: Key }[]): Tie[] {
  const sorted = [...of].sort((one, other) => one.key.line - other.key.line || one.row.id - other.row.id);
  // of each the next one of another tool, from the end on: one pass, however many are of one tool
  const nexts: (number | undefined)[] = [];
  for (let at = sorted.length - 2; at >= 0; at--)
    nexts[at] = sorted[at]?.row.tool === sorted[at + 1]?.row.tool ? nexts[at + 1] : at + 1;
  const ties: Tie[] = [];
  for (const [index, one] of sorted.entries()) {
    const next = sorted[nexts[index] ?? sorted.length];
    if (next === undefined) continue;
    const isNear = Math.abs(next.key.line - one.key.line) <= linesApart;
    const reason = one.key.reason === 'same_file_and_weakness' && isNear ? 'same_line_and_weakness' : one.key.reason;
    const [left, right] = pairOf(one.row.id, next.row.id);
    ties.push({ left, right, reason, confidence: confidences[reason] });
  }
  return ties;
}

/** `pinned`: pairs that are two, as `left:right`. The surest first, then the smallest id. */
export function clustersOf(rows: readonly Clustered[], pinned: ReadonlySet<string>): Cluster[] {
  const byKey = new Map<string, { row: Clustered; key: Key }[]>();
  for (const row of rows)
    for (const key of keysOf(row)) {
      const of = byKey.get(key.key);
      if (of === undefined) byKey.set(key.key, [{ row, key }]);
      else of.push({ row, key });
    }
  const ties = [...byKey.values()].flatMap(tiesOf);
  ties.sort((one, other) => other.confidence - one.confidence || one.left - other.left || one.right - other.right);
  const sets = new Map(rows.map((row) => [row.id, { ids: [row.id], tools: new Set([row.tool]), ties: [] as Tie[] }]));
  for (const tie of ties) {
    const [left, right] = [sets.get(tie.left), sets.get(tie.right)];
    if (left === undefined || right === undefined) continue;
    if (left === right) {
      if (!left.ties.some((one) => one.left === tie.left && one.right === tie.right)) left.ties.push(tie);
      continue;
    }
    const isApart = left.ids.some((one) =>
      right.ids.some((other) => pinned.has(pairOf(one, other).map(String).join(':'))),
    );
    if (isApart || [...right.tools].some((tool) => left.tools.has(tool))) continue;
    left.ids.push(...right.ids);
    left.ties.push(...right.ties, tie);
    for (const tool of right.tools) left.tools.add(tool);
    for (const id of right.ids) sets.set(id, left);
  }
  return [...new Set(sets.values())]
    .filter(({ ids }) => ids.length > 1)
    .map(({ ids, ties: own }) => ({
      ids: ids.sort((one, other) => one - other),
      confidence: Math.min(...own.map(({ confidence }) => confidence)),
      ties: own,
    }))
    .sort((one, other) => other.confidence - one.confidence || (one.ids[0] ?? 0) - (other.ids[0] ?? 0));
}
