// Which directory became which between two reports, told by findings of one rule whose paths end alike. The known path
// with the longest common end decides; where two are equally long nothing is told, and the findings stay apart: to take
// one service of a repository for another would give its findings what people decided on those of the other.
import { below, innerAt, isAbsolute, isHolder, isOfRepositories, isUnlisted, partsOf } from './paths.js';

/** A place of an earlier report. */
export interface Known {
  readonly rule_id: string;
  readonly path: string;
}
/** A directory of this report that was another one before. */
export interface Move {
  /** Of this report; empty: where its relative paths begin. */
  readonly from: string;
  /** Of earlier ones; empty: the repository itself. */
  readonly to: string;
  /** Paths that it explains. */
  votes: number;
  /** Parts that agree, in the best pair. */
  agree: number;
}

/** A file name that one rule reports in more places tells nothing. */
const sameMax = 500;
const movesMax = 20;

export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
const keyOf = ({ rule_id, path }: Known): string => `${rule_id}\0${nameOf(path)}`;

const distinctOf = (sample: readonly Known[]): readonly Known[] => [
  ...new Map(sample.map((one) => [`${keyOf(one)}\0${one.path}`, one])).values(),
];

function groupedBy(known: readonly Known[]): ReadonlyMap<string, ReadonlySet<string>> {
  const byKey = new Map<string, Set<string>>();
  for (const one of known) byKey.set(keyOf(one), (byKey.get(keyOf(one)) ?? new Set()).add(one.path));
  return byKey;
}

/** Whether a relative path stands as it is where one was before. */
export function isAnyKnown(sample: readonly Known[], known: readonly Known[]): boolean {
  const paths = new Set(known.map(({ path }) => path));
  return sample.some(({ path }) => !isAbsolute(path) && paths.has(path));
}

/** All moves that a path suggests, by the known path that it has the longest end in common with. */
export function pairsOf(sample: readonly Known[], known: readonly Known[]): readonly Move[] {
  const byKey = groupedBy(known);
  const moves = new Map<string, Move>();
  for (const one of distinctOf(sample)) {
    const best = closest(one.path, byKey.get(keyOf(one)) ?? new Set());
    if (best === null) continue;
    const { from, to, agree } = best;
    const move = moves.get(`${from}\0${to}`) ?? { from, to, votes: 0, agree: 0 };
    move.votes++;
    move.agree = Math.max(move.agree, agree);
    moves.set(`${from}\0${to}`, move);
  }
  return [...moves.values()];
}

/**
 * The directory below which the most paths stand exactly as they are known; one that the last report had counts for
 * more where two are equal. A repository with a directory of its own name (`shop/shop/x`) looks as if it began further
 * up, by the common ends of its paths. null: two are equal.
 */
export function rootOfMost(sample: readonly Known[], known: readonly Known[], last: string | null): Move | null {
  const byKey = groupedBy(known);
  const roots = new Map<string, Move>();
  for (const one of distinctOf(sample)) {
    const paths = isAbsolute(one.path) ? byKey.get(keyOf(one)) : undefined;
    if (paths === undefined || paths.size > sameMax) continue;
    for (const path of paths) {
      if (!one.path.endsWith(`/${path}`)) continue;
      const from = one.path.slice(0, -path.length - 1) || '/';
      const move = roots.get(from) ?? { from, to: '', votes: 0, agree: 0 };
      move.votes++;
      move.agree = Math.max(move.agree, partsOf(path).length);
      roots.set(from, move);
    }
  }
  const weightOf = ({ from, votes }: Move): number => votes + (from === last ? 0.5 : 0);
  const [first, second] = [...roots.values()].sort((left, right) => weightOf(right) - weightOf(left));
  return first === undefined || (second !== undefined && weightOf(second) === weightOf(first)) ? null : first;
}

/** `moves`, but the one of most paths in the place of those above and below it. */
export function withRoot(moves: readonly Move[], root: Move | null): readonly Move[] {
  if (root === null || root.from === '/' || !isCheckout(root)) return moves;
  const isNested = ({ from, to }: Move): boolean =>
    to === '' && isAbsolute(from) && (below(from, root.from) !== null || below(root.from, from) !== null);
  return [root, ...moves.filter((move) => move.from === '/' || !isNested(move))].slice(0, movesMax);
}

/** The moves that are certain enough: of known places first, as the root holds all, then of the longest common ends. */
export function movesOf(
  sample: readonly Known[],
  known: readonly Known[],
  pairs: readonly Move[] = pairsOf(sample, known),
): readonly Move[] {
  const relatives = distinctOf(sample).filter(({ path }) => !isAbsolute(path));
  const isOneKnown = isAnyKnown(relatives, known);
  const absolute = pairs.reduce((sum, { from, votes }) => sum + (isAbsolute(from) ? votes : 0), 0);
  const certain = pairs.filter((move) => {
    if (move.from === move.to) return false;
    if (isAbsolute(move.from)) return move.to === '' ? isCheckout(move) : isOtherPlace(move, absolute);
    // a relative path is moved only where none is known as it is, and one of both is the repository itself
    const isWhole = move.from === '' || move.to === '';
    return !isOneKnown && isWhole && !isPart(move) && move.votes * 2 > relatives.length;
  });
  const roots = certain.filter(({ from, to }) => to === '' && isAbsolute(from));
  return certain
    .filter(({ from, to }) => to === '' || !isAbsolute(from) || roots.every((root) => below(from, root.from) === null))
    .sort(
      (left, right) =>
        Number(isUnlisted(left.from)) - Number(isUnlisted(right.from)) ||
        right.agree - left.agree ||
        right.votes - left.votes ||
        lengthOf(left.from) - lengthOf(right.from),
    )
    .slice(0, movesMax);
}

/** The outer one first; the root of the file system holds everything, and tells least. */
const lengthOf = (from: string): number => (from === '/' ? Infinity : from.length);

/** A file name alone does not make `/home/a/shop/services/b` the repository: a directory of repositories is within. */
const isCheckout = ({ from, agree }: Move): boolean => agree > 1 || innerAt(partsOf(from)) < 0;

/** By its name alone `services/b/index.ts` is not the `index.ts` that stands in the repository itself. */
const isPart = ({ from, to, agree }: Move): boolean =>
  agree < 2 && [from, to].some((directory) => isOfRepositories(partsOf(directory)[0] ?? ''));

/** Two directories that are no repository: either was a checkout before, not another part of this one. */
function isOtherPlace({ from, to, votes, agree }: Move, voters: number): boolean {
  if ((agree < 2 && votes < 2) || votes * 2 <= voters) return false;
  const [here, before] = [partsOf(from), partsOf(to)];
  if (before.length === 1) return innerAt(here) < 0 && isOfRepositories(before[0] ?? '');
  return isHolder(before[0] ?? '') || !here.includes(before[0] ?? '') || isAnotherRun(here, before);
}

/** `run-1` and `run-2` are two checkouts of one agent, `billing` and `web` two parts of one. */
export const isAlikeName = (left: string, right: string): boolean => {
  const bare = (name: string): string => name.toLowerCase().replace(/[\d@]+|[0-9a-f]{7,}/g, '');
  return left !== right && (bare(left) === bare(right) || /^tmp\b/.test(left));
};

/**
 * Two directories of one agent that no list knows, which differ in the number of the run alone. `/api/v1` and `/api/v2`
 * are parts of a repository, whose paths some tools write with a slash before them.
 */
function isAnotherRun(here: readonly string[], before: readonly string[]): boolean {
  const other = here.findIndex((part, index) => part !== before[index]);
  const [left = '', right = ''] = [here[other], before[other]];
  return (
    here.length === before.length &&
    other > 0 &&
    here.slice(other + 1).every((part, index) => part === before[other + 1 + index]) &&
    before.every((part) => !isOfRepositories(part)) &&
    !/^\D?\d+$/.test(left) &&
    isAlikeName(left, right)
  );
}

interface Pair {
  readonly from: string;
  readonly to: string;
  readonly agree: number;
}

/** By the known path with the longest common end; null: there is none, or two are as long. */
function closest(path: string, known: ReadonlySet<string>): Pair | null {
  if (known.size > sameMax) return null;
  let best: Pair | null = null;
  let isTie = false;
  for (const before of known) {
    const pair = compare(path, before);
    if (best === null || pair.agree > best.agree) [best, isTie] = [pair, false];
    else if (pair.agree === best.agree) isTie = true;
  }
  return isTie ? null : best;
}

/** What is before the parts in which both paths end alike. */
function compare(path: string, before: string): Pair {
  const [left, right] = [partsOf(path), partsOf(before)];
  let agree = 0;
  while (agree < Math.min(left.length, right.length) && left.at(-1 - agree) === right.at(-1 - agree)) agree++;
  const root = path.startsWith('/') ? '/' : '';
  const from = left.slice(0, left.length - agree).join('/');
  return {
    from: isAbsolute(path) ? `${root}${from}` : from,
    to: right.slice(0, right.length - agree).join('/'),
    agree,
  };
}
