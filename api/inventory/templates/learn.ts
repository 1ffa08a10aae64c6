// Paths → templates. The result depends on the set of paths alone: not on their order, not on how they were cut into
// batches, not on how often each came. Each place of a path is judged by what stands there beside each other:
//
//   kind of segment (proxy/observation/segment-kind.ts)   merged into one parameter
//   uuid, ulid, integer, hex, email and other data        always; one value is enough
//   year, date                                            from two values on, or beside other data
//   locale, language                                      from two locales, or three languages, on
//   slug                                                  from `slugsMin` on, `rootSlugsMin` where resources are named
//   word                                                  from `wordsMin` on, where the words have the same below them
//   word, slug behind a word for people (`/users`)        sooner: from `people` on (jsmith, jane-doe)
//   word with one path below that nobody shares           from `scatteredMin` on: a scanner that is answered
//   version; words of words.ts; literals of a specification  never
//
// A segment `{kind}` stands for values of which only the kind was kept: enough of them to merge.
import type { SegmentKind } from '#proxy/contract';
import { below, distinctOf, isParameter, membersAt, wordKinds, type LearnedPath, type Member } from './members.js';
import { namesOfPeople } from './people.js';
import { scatteredAmong, thingsMax } from './scattered.js';
import { isFixed, isRoot, namesPeople, namesVersion } from './words.js';

export type { LearnedPath } from './members.js';

/** A path template of a specification: literals as they are, parameters as `{name}`. */
export type DeclaredTemplate = readonly string[];

export interface LearnOptions {
  readonly declared?: readonly DeclaredTemplate[];
  /** Templates up to the place (`/users/{id}`, `/products`), below which somebody took a merge back. */
  readonly apart?: ReadonlySet<string>;
}

export interface MergeEvidence {
  /** Distinct values that stand here. */
  readonly distinct: number;
  /** True: there were more, which are no longer told apart. */
  readonly isMore: boolean;
  /** By kind: how many distinct values. */
  readonly kinds: Readonly<Partial<Record<SegmentKind, number>>>;
  /** Of the values by their hits, in bits. */
  readonly entropy: number;
  readonly reason: string;
}

export interface Parameter {
  readonly name: string;
  readonly evidence: MergeEvidence;
  /** Where a merge may be taken back: the template above. */
  readonly place: string;
  /** Words and slugs are among the values. */
  readonly takesWords: boolean;
  readonly node: TemplateNode;
}

export interface TemplateNode {
  readonly literals: ReadonlyMap<string, TemplateNode>;
  readonly parameter: Parameter | null;
  /** Some path ends here. */
  readonly isEnd: boolean;
}

export const slugsMin = 12;
export const rootSlugsMin = 60;
export const wordsMin = 30;
export const rootWordsMin = 100;
/** The tree of templates of these paths. */
export function learnTemplates(paths: readonly LearnedPath[], options: LearnOptions = {}): TemplateNode {
  return learnNode(paths, { depth: 0, place: '', previous: null, names: [] }, options.declared ?? [], options);
}

interface Place {
  readonly depth: number;
  /** The template above. */
  readonly place: string;
  /** The literal right above; null: there is none. */
  readonly previous: string | null;
  readonly names: readonly string[];
}

function learnNode(
  paths: readonly LearnedPath[],
  at: Place,
  declared: readonly DeclaredTemplate[],
  options: LearnOptions,
): TemplateNode {
  const members = membersAt(paths, at.depth);
  const merged = choose(members, at, declared, options);
  const literals = new Map<string, TemplateNode>();
  for (const member of members) {
    if (merged?.members.includes(member) === true) continue;
    const below = declared.filter((one) => one[at.depth] === member.segment || isParameter(one[at.depth]));
    const next = {
      depth: at.depth + 1,
      place: `${at.place}/${member.segment}`,
      previous: member.segment,
      names: at.names,
    };
    literals.set(member.segment, learnNode(member.paths, next, below, options));
  }
  return {
    literals,
    parameter: merged === null ? null : parameterOf(merged, at, declared, options),
    isEnd: paths.some(({ segments }) => segments.length === at.depth),
  };
}

interface Merged {
  readonly members: readonly Member[];
  readonly why: string;
  readonly declaredName: string | null;
}

/** What becomes one parameter at this place; null: nothing. */
function choose(
  members: readonly Member[],
  at: Place,
  declared: readonly DeclaredTemplate[],
  options: LearnOptions,
): Merged | null {
  const literal = new Set(declared.map((one) => one[at.depth]));
  const free = members.filter(({ segment, kind }) => !literal.has(segment) && kind !== 'version');
  const named = declared.map((one) => one[at.depth]).find(isParameter);
  if (named !== undefined && free.length > 0)
    return { members: free, why: 'the specification has a parameter here', declaredName: named.slice(1, -1) };
  const isApart = options.apart?.has(at.place === '' ? '/' : at.place) === true;
  if (isApart) {
    const rest = free.filter(({ isSaturated }) => isSaturated);
    return rest.length === 0
      ? null
      : { members: rest, why: 'values that are no longer told apart', declaredName: null };
  }
  const data = dataOf(free, at);
  const locales = data.length > 0 ? [] : localesOf(free);
  const words = wordsOf(free, at);
  const all = [...new Set([...data, ...straysOf(free, data), ...locales, ...words.members])];
  if (all.length === 0) return null;
  const whys = [
    data.length > 0 ? 'values that no name of a resource has' : '',
    locales.length > 0 ? 'languages' : '',
    words.why,
  ];
  return { members: all, why: whys.filter((why) => why !== '').join('; '), declaredName: null };
}

function dataOf(members: readonly Member[], { previous }: Place): Member[] {
  const data = members.filter(({ kind }) => !wordKinds.has(kind));
  const times = data.filter(({ kind }) => kind === 'year' || kind === 'date');
  if (times.length === data.length) return distinctOf(times) >= 2 ? times : [];
  if (!namesVersion(previous)) return data;
  const isVersions = data.every(({ segment, paths }) => /^\d$/.test(segment) && paths.every(goesOn(segment)));
  return isVersions && data.length <= 4 ? [] : data;
}

/** Random ids that happen to read as words or slugs: as long as the tokens beside them, with case or digits amid. */
function straysOf(members: readonly Member[], data: readonly Member[]): Member[] {
  const tokens = data.filter(({ kind }) => kind === 'token' || kind === 'prefixed');
  if (distinctOf(tokens) < 5) return [];
  const lengths = new Set(tokens.map(({ segment }) => segment.length));
  return members.filter(
    ({ segment, kind }) =>
      (kind === 'slug' || kind === 'word') && segment.length >= 10 && lengths.has(segment.length) && isMixed(segment),
  );
}

function isMixed(segment: string): boolean {
  let changes = 0;
  for (let at = 1; at < segment.length; at += 1)
    if (/[A-Z]/.test(segment.charAt(at)) !== /[A-Z]/.test(segment.charAt(at - 1))) changes += 1;
  return changes >= 3 || /\d/.test(segment);
}

const goesOn =
  (segment: string) =>
  ({ segments }: LearnedPath): boolean =>
    segments.at(-1) !== segment;

function localesOf(members: readonly Member[]): Member[] {
  const locales = members.filter(({ kind }) => kind === 'locale');
  const languages = members.filter(({ kind }) => kind === 'language');
  const isMany = distinctOf(locales) >= 2 || distinctOf(languages) >= 3;
  return isMany || (locales.length > 0 && languages.length > 0) ? [...locales, ...languages] : [];
}

function wordsOf(members: readonly Member[], { depth, previous }: Place): { members: Member[]; why: string } {
  const isResource = isRoot(previous);
  const free = members.filter(
    (member) => member.isSaturated || ((member.kind === 'slug' || member.kind === 'word') && !isName(member, depth)),
  );
  const slugs = free.filter(({ kind }) => kind === 'slug');
  const words = free.filter(({ kind }) => kind === 'word');
  const slugsNeeded = isResource ? rootSlugsMin : slugsMin;
  const areSlugs = distinctOf(slugs) >= slugsNeeded;
  // The name of a collection has ids right below it; the name of somebody has not.
  const isValue = (member: Member): boolean => member.isSaturated || !below(member, depth).hasData;
  const people = namesPeople(previous) ? namesOfPeople(free.filter(isValue), depth) : null;
  if (people !== null) return people;
  const scattered = scatteredAmong(words.filter(isValue), depth, isResource);
  const apart = new Set(scattered);
  const values = words.filter((member) => isValue(member) && !apart.has(member));
  const wordsNeeded = isResource ? rootWordsMin : wordsMin;
  const areWords = distinctOf(values) >= wordsNeeded && areAlike(values, depth);
  const beside = areSlugs && !areWords ? wordsBeside(values, slugs, depth) : [];
  const parts: readonly (readonly [of: readonly Member[], why: string])[] = [
    [scattered, 'one path each, and never the same'],
    [areWords ? values : [], `at least ${wordsNeeded} names with the same below them`],
    [areSlugs && !areWords ? [...slugs, ...beside] : [], `at least ${slugsNeeded} slugs`],
    [areWords ? slugs : [], ''],
  ];
  const found = parts.filter(([of]) => of.length > 0);
  const whys = found.map(([, why]) => why).filter((why) => why !== '');
  return { members: found.flatMap(([of]) => of), why: whys.join('; ') };
}

/** What one does with a collection, the beginning of an API, and what has many things of its own are names. */
const isName = (member: Member, depth: number): boolean =>
  isFixed(member.segment) || isRoot(member.segment) || below(member, depth).names.size > thingsMax;

/** Names of people have the same few things below them; resources have each their own. */
function areAlike(members: readonly Member[], depth: number): boolean {
  const names = new Set<string>();
  for (const member of members) for (const name of below(member, depth).names) names.add(name);
  return names.size <= Math.max(8, members.length / 2);
}

/** Words that stand where slugs do, and have below them what slugs have: slugs of one word. */
function wordsBeside(words: readonly Member[], slugs: readonly Member[], depth: number): Member[] {
  const known = new Set<string>();
  for (const slug of slugs) for (const name of below(slug, depth).names) known.add(name);
  const alike = words.filter((word) => [...below(word, depth).names].every((name) => known.has(name)));
  return alike.length >= 3 ? alike : [];
}

function parameterOf(
  { members, why, declaredName }: Merged,
  at: Place,
  declared: readonly DeclaredTemplate[],
  options: LearnOptions,
): Parameter {
  const kinds: Partial<Record<SegmentKind, number>> = {};
  for (const { kind, isSaturated } of members) kinds[kind] = (kinds[kind] ?? 0) + (isSaturated ? 0 : 1);
  const distinct = members.filter(({ isSaturated }) => !isSaturated).length;
  const isMore = distinct < members.length;
  const entropy = entropyOf(members);
  const name = declaredName ?? freeName(nameOf(members), at.names);
  const place = at.place === '' ? '/' : at.place;
  const paths = members.flatMap((member) => member.paths);
  const next = { depth: at.depth + 1, place: `${at.place}/{${name}}`, previous: '{}', names: [...at.names, name] };
  const further = declared.filter((one) => isParameter(one[at.depth]));
  const verb = distinct === 1 && !isMore ? 'stands' : 'stand';
  const many = `${isMore ? 'more than ' : ''}${distinct} distinct value${distinct === 1 ? '' : 's'}`;
  return {
    name,
    place,
    takesWords: members.some(({ kind }) => wordKinds.has(kind)) || declaredName !== null,
    evidence: {
      distinct,
      isMore,
      kinds,
      entropy,
      reason: `merged because ${many} ${verb} here (entropy ${entropy.toFixed(1)} bits): ${why}`,
    },
    node: learnNode(paths, next, further, options),
  };
}

/** Shannon's, over the hits of values. */
function entropyOf(members: readonly Member[]): number {
  const hits = members.map(({ paths }) => paths.reduce((sum, path) => sum + path.hits, 0));
  const total = hits.reduce((sum, count) => sum + count, 0);
  if (total === 0) return 0;
  const bits = hits.reduce((sum, count) => (count === 0 ? sum : sum - (count / total) * Math.log2(count / total)), 0);
  return Math.round(Math.abs(bits) * 10) / 10;
}

function nameOf(members: readonly Member[]): string {
  const are = (...kinds: SegmentKind[]): boolean => members.every(({ kind }) => kinds.includes(kind));
  if (are('year')) return 'year';
  if (are('date', 'year')) return 'date';
  if (are('email')) return 'email';
  if (are('locale', 'language')) return 'locale';
  if (are('word')) return 'name';
  return are('slug', 'word') ? 'slug' : 'id';
}

/** Names of one template differ, as OpenAPI 3.1 section 4.8.8 wants it: `id`, `id2`, `id3`. */
function freeName(base: string, taken: readonly string[]): string {
  if (!taken.includes(base)) return base;
  for (let count = 2; ; count += 1) if (!taken.includes(`${base}${count}`)) return `${base}${count}`;
}
