// What stands beside each other at one place of paths.
import { segmentKind, segmentKinds, type SegmentKind } from '#proxy/contract';

export interface LearnedPath {
  readonly segments: readonly string[];
  readonly hits: number;
}

/** A saturated kind counts as so many values. */
const saturated = 1_000_000;

export interface Member {
  readonly segment: string;
  readonly kind: SegmentKind;
  readonly isSaturated: boolean;
  readonly paths: LearnedPath[];
}

/** What may be the name of a resource; all else is data. */
export const wordKinds: ReadonlySet<SegmentKind> = new Set(['word', 'slug', 'locale', 'language', 'version']);

export const isParameter = (segment: string | undefined): segment is string =>
  segment !== undefined && segment.startsWith('{') && segment.endsWith('}');
const knownKinds: ReadonlySet<string> = new Set(segmentKinds);

export function membersAt(paths: readonly LearnedPath[], depth: number): Member[] {
  const byName = new Map<string, LearnedPath[]>();
  for (const path of paths) {
    const segment = path.segments[depth];
    if (segment === undefined) continue;
    const list = byName.get(segment);
    if (list === undefined) byName.set(segment, [path]);
    else list.push(path);
  }
  return [...byName].map(([segment, list]) => {
    const inner = isParameter(segment) ? segment.slice(1, -1) : '';
    const isSaturated = knownKinds.has(inner);
    return { segment, kind: isSaturated ? (inner as SegmentKind) : kindAt(segment), isSaturated, paths: list };
  });
}

/** Custom methods (`users:search`) and system queries (`$metadata`) are names, whatever signs they have. */
function kindAt(segment: string): SegmentKind {
  const kind = segmentKind(segment);
  return kind === 'other' && /^[$@!]?[A-Za-z]{2,40}(:[A-Za-z]{2,40})?$/.test(segment) ? 'word' : kind;
}

export const distinctOf = (members: readonly Member[]): number =>
  members.reduce((sum, { isSaturated }) => sum + (isSaturated ? saturated : 1), 0);

/** What stands right below, without data, and whether data does. */
export function below(
  member: Member,
  depth: number,
): { readonly names: ReadonlySet<string>; readonly hasData: boolean } {
  const names = new Set<string>();
  let hasData = false;
  for (const { segments } of member.paths) {
    const next = segments[depth + 1];
    if (next === undefined) continue;
    if (isParameter(next) || !wordKinds.has(kindAt(next))) hasData = true;
    else names.add(next);
  }
  return { names, hasData };
}
