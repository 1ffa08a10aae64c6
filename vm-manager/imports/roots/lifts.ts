// A first report of one part of a repository looks as if that part were the repository. A later one shows that it is
// not: it has files beside it, below one directory with it. Then the paths that are stored get the name of the part.
import { isAlikeName, isAnyKnown, type Known, type Move } from './moves.js';
import {
  below,
  commonParts,
  firstOfCheckout,
  innerAt,
  isAbsolute,
  isHolder,
  isOfSystem,
  isUnlisted,
  partsOf,
} from './paths.js';

/** How many open sightings of the scope the reports of one directory have seen last; '': their paths were relative. */
export interface Frame {
  readonly root: string;
  readonly count: number;
}
/** What is stored of these directories lies in `prefix` of the repository. */
export interface Lift {
  readonly prefix: string;
  readonly roots: readonly string[];
}
/** A lift that was made, or that a preview supposes. */
export interface Lifted {
  readonly prefix: string;
  /** At the end of keys from before it. */
  readonly mark: string;
}
/** A lift that is not stored: what is read is taken for lifted. */
export interface Supposed extends Lifted, Lift {}

/** What a report tells, its paths after the names that CI services use. */
export interface Told {
  readonly places: readonly Known[];
  /** Those of them whose names were looked up. */
  readonly sample: readonly Known[];
  readonly known: readonly Known[];
  /** Those that are certain, and all that two paths suggest. */
  readonly moves: readonly Move[];
  readonly pairs: readonly Move[];
  /** The directory of the last report of the scope; null: it had none. */
  readonly last: string | null;
  /** That this report's paths are relative to; null: none is named. */
  readonly base: string | null;
}
/** Paths that speak for a directory by their names alone tell nothing, unless there are some of them. */
const namesakesMin = 3;
/** A directory above those of earlier reports; empty: relative paths begin there. */
export interface Higher {
  readonly root: string;
  readonly parts: readonly Part[];
}
interface Part {
  readonly prefix: string;
  /** Paths that say so; null: the directory itself is known. */
  readonly votes: number | null;
  readonly agree: number;
}

const prefixMax = 200;
const rootOf = (parts: readonly string[]): string => `${/^[A-Z]:$/.test(parts[0] ?? '') ? '' : '/'}${parts.join('/')}`;

/** Deep enough to be one checkout: what holds the checkouts of a person or an agent is none. */
const isTree = (parts: readonly string[]): boolean => parts.length > Math.max(firstOfCheckout(parts), 1);

/** The directory above `bases` and those of the paths that lie in one checkout with them; null: there is none. */
function above(bases: readonly string[], paths: readonly string[]): string | null {
  const [first = [], ...rest] = [...bases.map(partsOf), ...paths.map((path) => partsOf(path).slice(0, -1))];
  let common: readonly string[] = first;
  for (const parts of rest) {
    const both = commonParts(common, parts);
    if (both.length === common.length || isTree(both)) common = both;
  }
  const inner = innerAt(common);
  const kept = inner < 0 ? common : common.slice(0, inner);
  return isTree(kept) ? rootOf(kept) : null;
}

/** Whether the directory of the last report is a part beside those of this one, and not what moved to one of them. */
function isBeside(last: string, { moves }: Told, paths: readonly string[], sightings: number): boolean {
  const here = partsOf(last);
  const there = paths.map((path) => partsOf(path).slice(0, -1));
  const common = there.reduce<readonly string[]>((parts, one) => commonParts(parts, one), here);
  if (isUnlisted(last)) return isPartOf(here, there, common);
  if (!isTree(common) || common.length === here.length) return false;
  const name = here[common.length] ?? '';
  if (there.some((one) => one[common.length] !== undefined && isAlikeName(one[common.length] ?? '', name)))
    return false;
  const [moved, other] = moves.filter(({ from, to }) => to === '' && isAbsolute(from));
  const votes = other === undefined ? (moved?.votes ?? 0) : 0;
  const isMoved = votes * 2 > sightings && (votes > 2 || !isHolder(here[0] ?? ''));
  return !isMoved;
}

/**
 * In a place that no list knows: two directories of one, or the same further down, are parts beside each other, unless
 * their names differ in the number of the run alone, or they are deep in an agent's directories and end alike.
 */
function isPartOf(here: readonly string[], there: readonly (readonly string[])[], common: readonly string[]): boolean {
  const at = common.length;
  if (at === 0 || at === here.length) return false;
  // a drive, as shells of Windows write it
  if (at === 1 && /^[a-z]$/.test(common[0] ?? '')) return false;
  const name = here[at] ?? '';
  const rest = here.slice(at + 1);
  return there.every((one) => {
    const other = one[at];
    if (other === undefined) return true;
    const isAlikeBehind = rest.length > 0 && rest.every((part, index) => part === one[at + 1 + index]);
    if (isAlikeBehind && (at > 1 || rest.length > 1)) return false;
    return !isAlikeName(other, name) || /^\D?\d+$/.test(name);
  });
}

/** How many paths stand below the directory as they are known; those of `''` are relative. */
function standingAt(directory: string, places: readonly Known[], known: ReadonlySet<string>): number {
  const innerOf = (path: string): string | null =>
    directory !== '' ? below(path, directory) : isAbsolute(path) ? null : path;
  return places.filter(({ rule_id, path }) => known.has(`${rule_id}\0${innerOf(path)}`)).length;
}
const setOf = (known: readonly Known[]): ReadonlySet<string> =>
  new Set(known.map(({ rule_id, path }) => `${rule_id}\0${path}`));

/**
 * Whether the checkout itself lies further down or up now (`/ci`, then `/ci/shop`): most paths stand there
 * as they are known, and none where they stood before.
 */
function isCheckoutMoved({ sample, known, moves, last }: Told): boolean {
  const [move, other] = moves.filter(({ from, to }) => to === '' && isAbsolute(from));
  if (last === null || move === undefined || other !== undefined || move.from === last) return false;
  const { from, votes, agree } = move;
  if (below(from, last) === null && below(last, from) === null) return false;
  if (votes < (agree > 1 ? 2 : namesakesMin)) return false;
  const all = setOf(known);
  return standingAt(from, sample, all) * 2 > sample.length && standingAt(last, sample, all) === 0;
}

/** Of moves one below the other the one that most paths speak for: the others are of files that have one name. */
function unlike(moves: readonly Move[]): readonly Move[] {
  const kept: Move[] = [];
  for (const move of moves.toSorted((left, right) => right.votes - left.votes))
    if (kept.every(({ from }) => below(from, move.from) === null && below(move.from, from) === null)) kept.push(move);
  return kept;
}

/** What a place that no list knows and all others have in common, as it proved to be a part of something. */
function rootOfUnlisted(last: string, paths: readonly string[]): string | null {
  if (last === '/' || !isUnlisted(last)) return null;
  const others = paths.filter((path) => below(path, last) === null && !isOfSystem(path));
  // the few that lie elsewhere are of caches and tools
  if (others.length * 2 < paths.length || others.length === 0) return null;
  const common = others.reduce<readonly string[]>(
    (parts, path) => commonParts(parts, partsOf(path).slice(0, -1)),
    partsOf(last),
  );
  return `/${common.join('/')}`;
}

/** By absolute paths. `sightings`: open ones of the scope. */
function ofAbsolute(told: Told, sightings: number): Higher | null {
  const paths = [...new Set(told.places.map(({ path }) => path).filter(isAbsolute))];
  if (paths.length === 0) return null;
  const { last, moves } = told;
  const whole = unlike(moves.filter(({ from, to }) => to === '' && isAbsolute(from)));
  const isInside = last !== null && paths.some((path) => below(path, last) !== null);
  if (last !== null && (isInside || isBeside(last, told, paths, sightings))) {
    const root = rootOfUnlisted(last, paths) ?? above([last], paths);
    const prefix = root === null ? null : below(last, root);
    if (root === null || prefix === null) return null;
    return { root, parts: prefix === '' ? [] : [{ prefix, votes: null, agree: 0 }] };
  }
  if (whole.length === 0) return null;
  const outside = paths.filter((path) => whole.every(({ from }) => below(path, from) === null));
  if (outside.length === 0 && whole.length < 2) return null;
  const root = above(
    whole.map(({ from }) => from),
    outside,
  );
  if (root === null) return null;
  const parts = whole.flatMap(({ from, votes, agree }) => {
    const prefix = below(from, root) ?? '';
    return prefix === '' ? [] : [{ prefix, votes, agree }];
  });
  return parts.length === whole.length ? { root, parts } : null;
}

/** By relative paths, none of which is known as it is. */
function ofRelative({ places, known, pairs, last, base }: Told): Higher | null {
  const paths = places.map(({ path }) => path).filter((path) => !isAbsolute(path));
  if (paths.length === 0) return null;
  if (base !== null && last !== null) {
    const prefix = below(last, base) ?? '';
    const all = setOf(known);
    if (standingAt('', places, all) > standingAt(prefix, places, all)) return null;
    return prefix === '' ? null : { root: '', parts: [{ prefix, votes: null, agree: 0 }] };
  }
  if (isAnyKnown(places, known)) return null;
  const parts = pairs.flatMap(({ from, to, votes, agree }) => {
    if (to !== '' || from === '' || isAbsolute(from)) return [];
    // a directory of images that was one of the repository, with a slash before it
    if (last === `/${from}`) return [{ prefix: from, votes, agree }];
    const isWhole = paths.every((path) => below(path, from) !== null);
    return votes < 2 || isWhole ? [] : [{ prefix: from, votes, agree }];
  });
  return parts.length === 0 ? null : { root: '', parts };
}

/** null: what is stored stands where it should, as far as the report tells. */
export const higherOf = (told: Told, sightings: number): Higher | null =>
  isCheckoutMoved(told) ? null : (ofAbsolute(told, sightings) ?? ofRelative(told));

/** What is to be lifted, of which directories; what too little speaks for is not. */
export function liftsOf({ parts }: Higher, frames: readonly Frame[]): readonly Lift[] {
  const left = new Map(frames.map(({ root, count }) => [root, count]));
  const made: Lift[] = [];
  const order = parts.toSorted((one, other) => (other.votes ?? Infinity) - (one.votes ?? Infinity));
  for (const { prefix, votes, agree } of order) {
    const isOf = (root: string): boolean => root === '' || `${root}/`.includes(`/${prefix}/`);
    const named = [...left.keys()].filter(isOf);
    const roots = named.some((root) => root !== '') || parts.length > 1 ? named : [...left.keys()];
    const count = roots.reduce((sum, root) => sum + (left.get(root) ?? 0), 0);
    const isSure = votes === null || votes * 2 > count || (agree > 1 && votes > 1);
    if (!isSure || roots.length === 0 || prefix.length > prefixMax) continue;
    for (const root of roots) left.delete(root);
    made.push({ prefix, roots });
  }
  return made;
}
