// Another checkout directory does not make a finding new. Paths are stored as they stand in the repository: the
// directory of the checkout comes from the request, the report, the names that CI services use, the paths that earlier
// reports of the application have, and at last from what the report's absolute paths have in common.
import type { Queryable } from '../../database.js';
import { reportPath, secretHash } from '../normalize.js';
import { isDropped, type FindingRecord, type Item, type Items, type ReportFacts } from '../record.js';
import { CommonRoot } from './shared-directory.js';
import { FormerPlaces } from './former.js';
import { higherOf, liftsOf, type Frame, type Higher, type Lift, type Lifted } from './lifts.js';
import { readFrames, readLastRoot, readLifts } from './lift-stored.js';
import { movesOf, nameOf, pairsOf, rootOfMost, withRoot, type Known, type Move } from './moves.js';
import { below, checkoutOf, deeper, isAbsolute, isHeld, isOfSystem, partsOf, withoutRoot } from './paths.js';
import { Unlike } from './unlike.js';

/** Records that are looked at before the first one is passed on. */
const sampleMax = 1000;
const namesMax = 300;
const knownMax = 5000;
/** Records that are passed on together. */
const atOnce = 50;

const withoutPlaced = ({ placed: _, ...rest }: FindingRecord): FindingRecord => rest;
const pathOf = ({ location }: FindingRecord): string | null =>
  'path' in location && typeof location.path === 'string' && location.path !== '' ? location.path : null;

/** What the application has of earlier reports. */
export interface EarlierPaths {
  readonly readKnown: (names: readonly string[]) => Promise<readonly Known[]>;
  /** Whether some stored path begins with the directory. */
  readonly isKnownBelow: (directory: string) => Promise<boolean>;
  /** The directory that the last report of the scope was of. */
  readonly readLast: () => Promise<string | null>;
  readonly readFrames: () => Promise<readonly Frame[]>;
}

/** Whether a path lies neither below the directory nor where systems keep their own files. */
const isOfRepositoryRoot = (path: string, root: string): boolean => below(path, root) === null && !isOfSystem(path);

/** Of one report: `resolve` gives the path in the repository, the same for the same path. */
export class Roots {
  private readonly given: string | null;
  private readonly reported: readonly string[];
  private moves: readonly Move[] = [];
  private common: string | null = null;
  /** The checkout, further down than the names of CI services tell. */
  private checkout: string | null = null;
  /** The directory that most paths were found below; null: all are relative. */
  found: string | null = null;
  /** What is stored lies further down than it was taken for. */
  lifts: readonly Lift[] = [];
  private readonly unlike = new Unlike();
  private stored: ReadonlySet<string> = new Set();
  /** Some path that is stored has a slash before it in this report, and is no one of a system. */
  private isSlashed = false;

  /** `given`: as the request says; `reported`: absolute directories that the report itself calls its bases. */
  constructor(given: string | undefined, reported: readonly string[]) {
    this.given = given === undefined || given.trim() === '' ? null : reportPath(given).replace(/\/+$/, '');
    // of nested bases the outer one is the repository
    this.reported = [...new Set(reported.map((base) => reportPath(base).replace(/\/+$/, '')))]
      .filter((base) => base !== '' && isAbsolute(base))
      .sort((left, right) => left.length - right.length);
  }

  /** By request, report, and the names that CI services use; null: none of them says anything. */
  private named(path: string): string | null {
    for (const base of [this.given, ...this.reported, this.checkout]) {
      const rest = base === null ? '' : (below(path, base) ?? '');
      if (rest === '') continue; // a file is no directory, whatever the report calls it
      this.found ??= base;
      return rest;
    }
    return null;
  }

  /** Two files of a report never have one path. */
  resolve(path: string): string {
    return this.unlike.pathOf(path, (given) => this.place(given));
  }

  private place(path: string): string {
    const rest = this.named(path) ?? path;
    for (const move of this.moves) {
      const { from, to } = move;
      const moved = this.isOf(move, rest) ? (from === '' ? rest : below(rest, from)) : null;
      if (moved === null || moved === '') continue;
      if (to === '') this.found ??= from;
      return to === '' ? moved : `${to}/${moved}`;
    }
    if (!isAbsolute(rest)) return rest;
    const inner = this.common === null ? null : below(rest, this.common);
    if (inner === null || inner === '') return withoutRoot(rest) || rest;
    this.found ??= this.common;
    return inner;
  }

  /** Learns from the sample, and, where it is cut, from the whole report; `looked`: files that were looked at. */
  async learn(
    sample: readonly FindingRecord[],
    earlier: EarlierPaths,
    readAll: () => AsyncIterable<Items>,
    isWhole: boolean,
    looked: readonly string[] = [],
  ): Promise<void> {
    await this.learnCheckout(sample, earlier.isKnownBelow, looked);
    const places = sample.flatMap((record) => {
      const path = pathOf(record);
      return path === null ? [] : [{ rule_id: record.ruleId, path }];
    });
    if (places.length === 0) return;
    const known = await earlier.readKnown([...new Set(spread(places, namesMax).map(({ path }) => nameOf(path)))]);
    if (this.checkout !== null && isOfRepository(this.checkout, places, known)) this.checkout = null;
    const open = places.map(({ rule_id, path }) => ({ rule_id, path: this.named(path) ?? path }));
    await this.learnMoves(open, known, earlier);
    await this.learnCommon(open, earlier.isKnownBelow, isWhole ? null : readAll);
    this.unlike.order(
      places.map(({ path }) => path),
      (path) => this.place(path),
    );
  }

  /** `readAll`: of a report of which `open` is the beginning. */
  private async learnCommon(
    open: readonly Known[],
    isKnownBelow: EarlierPaths['isKnownBelow'],
    readAll: (() => AsyncIterable<Items>) | null,
  ): Promise<void> {
    if (this.common !== null || !open.some(({ path }) => isAbsolute(path) && !this.isMoved(path))) return;
    const common = new CommonRoot();
    if (readAll === null) for (const { path } of open) common.add(path);
    else
      for await (const items of readAll())
        for (const item of items) {
          const path = isDropped(item) ? null : pathOf(item);
          if (path !== null) common.add(this.named(path) ?? path);
        }
    this.common = common.root;
    const { unlisted } = common;
    if (this.common !== null || unlisted === null || this.found !== null) return;
    // paths of the repository itself, with a slash before them
    if (!(await isKnownBelow(partsOf(unlisted)[0] ?? ''))) this.common = unlisted;
  }

  /** What paths that are known tell, and the directory of the last report. */
  private async learnMoves(open: readonly Known[], known: readonly Known[], earlier: EarlierPaths): Promise<void> {
    const sample = spread(open, namesMax);
    const pairs = pairsOf(sample, known);
    this.stored = new Set(known.map(({ path }) => path));
    this.isSlashed = sample.some(
      ({ path }) => isAbsolute(path) && this.stored.has(withoutRoot(path)) && !isOfSystem(path) && !isHeld(path),
    );
    const last = await earlier.readLast();
    this.moves = withRoot(movesOf(sample, known, pairs), rootOfMost(sample, known, last));
    if (last === null && known.length === 0) return;
    const told = { places: open, sample, known, moves: this.moves, pairs, last, base: this.found };
    if (higherOf(told, 0) === null) return;
    const frames = await earlier.readFrames();
    const higher = higherOf(
      told,
      frames.reduce((sum, { count }) => sum + count, 0),
    );
    if (higher !== null) this.lift(higher, frames);
  }

  private lift(higher: Higher, frames: readonly Frame[]): void {
    this.lifts = liftsOf(higher, frames);
    const { root, parts } = higher;
    const isAll = this.lifts.length === parts.length;
    if (root !== '') this.common = root;
    // other moves below it are of files that have one name and are not the same
    const isReplaced = ({ from }: Move): boolean => (root === '' ? !isAbsolute(from) : below(from, root) !== null);
    if (this.lifts.length > 0 || isAll) this.moves = this.moves.filter((move) => !isReplaced(move));
  }

  /**
   * Where the checkout is below a directory of which it is not known how far up it is. What earlier reports have there
   * decides: a report about one part of a repository looks as if that part were the repository.
   */
  private async learnCheckout(
    sample: readonly FindingRecord[],
    isKnownBelow: EarlierPaths['isKnownBelow'],
    looked: readonly string[],
  ) {
    const bases = [this.given, ...this.reported];
    const paths = [...sample.flatMap((record) => pathOf(record) ?? []), ...looked];
    const open = paths.filter(
      (path) => isAbsolute(path) && bases.every((base) => base === null || below(path, base) === null),
    );
    const named = checkoutOf(open);
    if (named === null) return;
    // beside `/app/x`, `/web/y` and `/main.tf` are of a repository whose paths are written with a slash before them
    if (/^\/[^/]+$/.test(named.root) && open.some((path) => isOfRepositoryRoot(path, named.root))) return;
    this.checkout = named.root;
    // paths beside and below the directory of the tool: the one above both is the checkout
    if (open[0]?.startsWith('/?up/') === true && paths.some((path) => !isAbsolute(path))) return;
    const found = deeper(open, named);
    if (found === null) return;
    const [part = ''] = found.root.slice(found.holder.length + 1).split('/');
    if (!(await isKnownBelow(part))) this.checkout = found.root;
  }

  /**
   * What lies in a place of checkouts, or beside files of the system alone, is not written from the repository with a
   * slash before it, unless it is stored like that.
   */
  private isOf({ from }: Move, path: string): boolean {
    if (from === '') return !isAbsolute(path);
    if (from !== '/') return below(path, from) !== null;
    return isAbsolute(path) && (this.stored.has(withoutRoot(path)) || (this.isSlashed && !isHeld(path)));
  }

  private isMoved(path: string): boolean {
    return this.moves.some((move) => move.from !== '' && this.isOf(move, path));
  }

  record(record: FindingRecord): FindingRecord {
    const before = pathOf(record);
    return this.recordAt(record, before === null ? null : this.resolve(before));
  }

  /** As if its path in the repository were this. */
  recordAt(record: FindingRecord, path: string | null): FindingRecord {
    const { placed } = record;
    const rest = placed === undefined ? record : withoutPlaced(record);
    const before = pathOf(record);
    if (before === null || path === null) return rest;
    const evidence = record.evidence.map((one) => this.evidence(one));
    if (path === before && placed === undefined) return evidence.length === 0 ? record : { ...rest, evidence };
    const location = { ...record.location, path } as FindingRecord['location'];
    if (location.kind === 'resource' && location.address === before) Object.assign(location, { address: path });
    if (location.kind === 'secret' && placed !== undefined)
      Object.assign(location, { hash: secretHash(`${record.ruleId}|${path}|${placed}`) });
    const { nativeId } = record;
    const isOfPath = nativeId?.endsWith(` ${before}`) === true;
    return {
      ...rest,
      location,
      evidence,
      nativeId: isOfPath ? `${nativeId.slice(0, nativeId.length - before.length)}${path}` : nativeId,
    };
  }

  private evidence(one: unknown): unknown {
    if (typeof one !== 'object' || one === null || !('path' in one) || typeof one.path !== 'string') return one;
    return { ...one, path: this.resolve(one.path) };
  }
}

function spread<T>(all: readonly T[], most: number): readonly T[] {
  if (all.length <= most) return all;
  const step = all.length / most;
  return Array.from({ length: most }, (_, index) => all[Math.floor(index * step)] as T);
}

/** `/app` is a directory of images, or `app` of the repository with a slash before it: more known places decide. */
function isOfRepository(directory: string, places: readonly Known[], known: readonly Known[]): boolean {
  const all = new Set(known.map(({ rule_id, path }) => `${rule_id}\0${path}`));
  let votes = 0;
  for (const { rule_id, path } of places) {
    const inner = below(path, directory);
    if (inner === null) continue;
    if (all.has(`${rule_id}\0${withoutRoot(path)}`)) votes++;
    if (all.has(`${rule_id}\0${inner}`)) votes--;
  }
  return votes > 0;
}

export interface RootSource {
  readonly sql: Queryable;
  readonly applicationId: number;
  readonly scopeKey: string;
  /** Of the request. */
  readonly root: string | undefined;
  /** The report once more, from its beginning. */
  readonly again: () => AsyncIterable<Items>;
  /** Stores a lift, or supposes it. */
  readonly lift: (lift: Lift) => Promise<Lifted>;
}

/** The records with the paths of their repository. `facts.root`: the directory of the checkout, if there is one. */
export async function* inRepository(
  items: AsyncGenerator<Items>,
  facts: ReportFacts,
  source: RootSource,
): AsyncGenerator<Items> {
  const sample: Item[] = [];
  let isWhole = false;
  while (sample.length < sampleMax && !isWhole) {
    const next = await items.next();
    if (next.done === true) isWhole = true;
    else sample.push(...next.value);
  }
  const roots = new Roots(source.root, facts.roots ?? []);
  const records = sample.filter((item): item is FindingRecord => !isDropped(item));
  const earlier = {
    readKnown: (names: readonly string[]) => readKnown(source, names),
    isKnownBelow: (directory: string) => isKnownBelow(source, directory),
    readLast: () => readLastRoot(source.sql, source),
    readFrames: () => readFrames(source.sql, source),
  };
  const { inventory } = facts;
  await roots.learn(records, earlier, source.again, isWhole, spread([...(inventory ?? [])], sampleMax));
  const lifted = await readLifts(source.sql, source);
  for (const lift of roots.lifts) lifted.push(await source.lift(lift));
  const former = lifted.length === 0 ? null : new FormerPlaces(lifted, roots);
  facts.former = former;
  const resolved = (item: Item): Item => {
    if (isDropped(item)) return item;
    const record = roots.record(item);
    former?.note(item, record);
    return record;
  };
  if (inventory !== null) facts.inventory = new Set([...inventory].map((path) => roots.resolve(path)));
  for (let from = 0; from < sample.length; from += atOnce) yield sample.slice(from, from + atOnce).map(resolved);
  if (!isWhole) for await (const some of items) yield some.map(resolved);
  facts.root = roots.found?.replace(/^\/\?unc\//, '//').replace(/^\/\?up/, '..') ?? null;
}

/** Open places of files of these names: of the scope, else of the application. */
async function readKnown(
  { sql, applicationId, scopeKey }: RootSource,
  names: readonly string[],
): Promise<readonly Known[]> {
  if (names.length === 0) return [];
  const own = await sql<Known[]>`
    select distinct f.rule_id, o.location ->> 'path' as path
    from vm_occurrences o join vm_findings f on f.id = o.finding_id
    where o.scope_key = ${scopeKey} and o.gone_at is null
      and regexp_replace(o.location ->> 'path', '^.*/', '') in ${sql(names)} limit ${knownMax}`;
  if (own.length > 0) return own;
  return sql<Known[]>`
    select distinct f.rule_id, d.location ->> 'path' as path
    from vm_findings f join vm_finding_details d on d.finding_id = f.id
    where f.application_id = ${applicationId} and f.is_open
      and regexp_replace(d.location ->> 'path', '^.*/', '') in ${sql(names)} limit ${knownMax}`;
}

async function isKnownBelow({ sql, applicationId }: RootSource, directory: string): Promise<boolean> {
  const rows = await sql`
    select 1 from vm_findings f join vm_finding_details d on d.finding_id = f.id
    where f.application_id = ${applicationId} and starts_with(d.location ->> 'path', ${`${directory}/`}) limit 1`;
  return rows.length > 0;
}
