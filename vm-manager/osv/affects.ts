// Whether a version is affected: the evaluation of the OSV schema ("Evaluation"). Listed versions are affected as they
// stand; in a range the events are gone through in order of their versions. Pure.
import type { Affected, Range } from './advisory.js';
import { comparatorOf, type Compare } from './versions/index.js';

export type Answer =
  | { readonly kind: 'affected'; readonly fixed: string | null; readonly canBeFixed: boolean | null }
  | { readonly kind: 'not affected' }
  | { readonly kind: 'not comparable'; readonly reason: string };

type Entry = Pick<Affected, 'ecosystem' | 'ranges' | 'versions'>;
/** null: some version of the range is none. */
type InRange = { readonly isAffected: boolean; readonly fixed: string | null } | null;

/** `0` is before every version. */
const compareWith = (compare: Compare) => (left: string, right: string) =>
  left === right ? 0 : left === '0' ? -1 : right === '0' ? 1 : compare(left, right);

function inRange({ events }: Range, version: string, given: Compare): InRange {
  const compare = compareWith(given);
  const limits = events.filter(([kind, limit]) => kind === 'limit' && limit !== '*');
  const others = events.filter(([kind]) => kind !== 'limit');
  if ([...others, ...limits].some(([, at]) => compare(version, at) === null)) return null;
  if (limits.length > 0 && !limits.some(([, limit]) => (compare(version, limit) ?? 0) < 0))
    return { isAffected: false, fixed: null };
  const places = ['introduced', 'fixed', 'last_affected'];
  const sorted = [...others].sort(
    ([left, at], [right, other]) => (compare(at, other) ?? 0) || places.indexOf(left) - places.indexOf(right),
  );
  let isAffected = false;
  let fixed: string | null = null;
  for (const [kind, at] of sorted) {
    const place = compare(version, at) ?? 0;
    if (kind === 'introduced' && place >= 0) isAffected = true;
    if (kind === 'fixed' && place >= 0) isAffected = false;
    if (kind === 'last_affected' && place > 0) isAffected = false;
    if (kind === 'fixed' && place < 0) fixed ??= at;
  }
  return { isAffected, fixed };
}

/** What one entry of an advisory says of one version. */
export function isAffected(entry: Entry, version: string): Answer {
  if (version === '') return { kind: 'not comparable', reason: 'the component has no version' };
  const isListed = entry.versions.includes(version);
  let unknown: string | null = null;
  let fixed: string | null = null;
  let isInside = false;
  for (const range of entry.ranges) {
    const compare = comparatorOf(entry.ecosystem, range.type);
    const found = compare === null ? null : inRange(range, version, compare);
    if (found === null) {
      // commits say nothing of versions where versions are listed as well
      if (range.type !== 'GIT' || entry.versions.length === 0)
        unknown =
          compare === null
            ? `versions of ${entry.ecosystem}${range.type === 'GIT' ? ' by commits' : ''} cannot be compared here`
            : 'a version is none of its ecosystem';
      continue;
    }
    isInside ||= found.isAffected;
    if (found.isAffected || isListed) fixed ??= found.fixed;
  }
  if (isInside || isListed) {
    const canBeFixed = entry.ranges.length === 0 ? null : entry.ranges.some(({ events }) => hasFix(events));
    return { kind: 'affected', fixed, canBeFixed };
  }
  // an entry that names neither ranges nor versions is about every version
  if (entry.ranges.length === 0 && entry.versions.length === 0)
    return { kind: 'affected', fixed: null, canBeFixed: null };
  return unknown === null ? { kind: 'not affected' } : { kind: 'not comparable', reason: unknown };
}

const hasFix = (events: Range['events']): boolean => events.some(([kind]) => kind === 'fixed');
