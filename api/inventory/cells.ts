// Observations into cells: sums by site, method and path. One writer at a time; what a sender gives an id is taken once
// however often it is sent.
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  isStaticAsset,
  normalPath,
  segmentsOf,
  type MaskLevel,
  type Observation,
  type ObservationBatch,
  type ObservationSource,
} from '#proxy/contract';
import { lockUntilCommit } from '../db/lock-keys.js';
import type { Database, Queryable, Tx } from '../db/client.js';
import type { Folder } from './fold.js';
import { keptBatch, type KeptBatch, type Keeping } from './kept.js';
import { queueWindow, windowOf } from './sightings.js';
import { addStats, answeredWell, statsOf, storable, type Stats } from './stats.js';
import { foldedPlace, type SiteForm } from './templates/form.js';
import { foldedPath } from './templates/match.js';

/** Paths of a site that are told apart; further ones only count where their template is known. */
export const cellsPerSiteMax = 20_000;
/** Paths of a site that were refused or failed for everybody so far, and of which no template is known. */
export const pendingPerSiteMax = 1000;
/** So many new paths of a site are looked at before anything else is added to it. */
const newCellsMax = 500;
/** Some milliseconds; then others that use this thread have their turn. */
const cellsAtOnce = 500;

export interface Cell {
  readonly site: string;
  readonly method: string;
  readonly path: string;
  readonly stats: Stats;
  readonly firstMs: number;
  readonly lastMs: number;
}

export interface Taken {
  /** Observations that found their place. */
  readonly stored: number;
  /** Those that did not: no endpoint that is known, and none that answered well, or no room. */
  readonly dropped: number;
  readonly isDuplicate: boolean;
}

export type WrittenBatch = Pick<ObservationBatch, 'observations' | 'sightings' | 'relations' | 'dropped_by_site'>;

/** What may be kept of a batch; `window` is what is kept of principals, as text (windowOf). */
export interface KeptWindow extends Pick<KeptBatch, 'observations'> {
  readonly window: string | null;
}

export interface CellWriter {
  /** `id` null: never taken before. */
  write(batch: WrittenBatch, source: ObservationSource, id: string | null): Promise<Taken>;
  /**
   * What may be kept of a batch, within a transaction that holds the lock `inventory` and without a question whether
   * it was taken.
   */
  writeKept(tx: Tx, kept: KeptWindow, source: ObservationSource, level: MaskLevel): Promise<Taken>;
  /** Runs a transaction that takes that lock when those before it are through. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
}

/** One after the other, so that those who wait for the lock `inventory` hold no connection of the pool. */
function createTurns(): CellWriter['inTurn'] {
  const state = { last: Promise.resolve() as Promise<unknown> };
  return (work) => {
    const turn = state.last.then(work);
    state.last = turn.catch(() => undefined);
    return turn;
  };
}

export interface CellWriterOptions extends Pick<Folder, 'formOf' | 'treeOf' | 'refreshIn'>, Pick<Keeping, 'key'> {
  readonly database: Database;
  readonly now: () => number;
  /** How much of what requests carry may be kept now. */
  readonly level: () => Promise<MaskLevel>;
}

const keyOf = ({ site, method, path }: Pick<Cell, 'site' | 'method' | 'path'>): string => `${site}\0${method}\0${path}`;

/** True the first time. */
export async function takeOnce(tx: Queryable, source: string, id: string, now: Date): Promise<boolean> {
  const { count } = await tx`
    insert into api_taken (source, id, at) values (${source}, ${id}, ${now}) on conflict do nothing`;
  return count > 0;
}

export function createCellWriter(options: CellWriterOptions): CellWriter {
  const { database, now, level, key, treeOf, formOf, refreshIn } = options;
  const writeKept: CellWriter['writeKept'] = async (tx, kept, source, maskLevel) => {
    await queueWindow(tx, kept.window, new Date(now()));
    const given = await sumUp(kept.observations, source);
    const sites = await countCells(tx, [...new Set(given.map(({ site }) => site))]);
    const put = async (cells: readonly Cell[]): Promise<Cell[]> => {
      const known = await findCells(tx, cells, formOf);
      const { sums, homeless } = await placeAll(cells, known, sites, formOf);
      await saveCells(tx, [...sums.values()]);
      await touchSites(tx, [...sums.values()]);
      return homeless;
    };
    const refresh = async (isDue: (site: SiteCounts) => boolean): Promise<void> => {
      for (const [site, counts] of sites) {
        if (!isDue(counts)) continue;
        await refreshIn(tx, site, maskLevel);
        counts.added = 0;
      }
    };
    let left = await put(given);
    // What was refused may be of an endpoint that this very batch made known.
    if (left.length > pendingPerSiteMax) {
      await refresh(({ added }) => added > 0);
      left = await put(left);
    }
    const dropped = await keepPending(tx, left, sites);
    await refresh(({ cells, added }) => added > Math.max(newCellsMax, cells / 4));
    return { stored: given.length - dropped, dropped, isDuplicate: false };
  };
  const inTurn = createTurns();
  return {
    writeKept,
    inTurn,
    async write(batch, source, id) {
      const maskLevel = await level();
      const kept = keptBatch(batch, { level: maskLevel, key, treeOf });
      const store = async (tx: Tx): Promise<Taken> => {
        await lockUntilCommit(tx, 'inventory');
        if (id !== null && !(await takeOnce(tx, source, id, new Date(now()))))
          return { stored: 0, dropped: 0, isDuplicate: true };
        await touchSites(tx, [], leftOut(batch));
        return writeKept(tx, { observations: kept.observations, window: windowOf(kept) }, source, maskLevel);
      };
      return inTurn(() => database.sql.begin(store));
    },
  };
}

/** What a worker had no room for, by site: the inventory owns up to it as to what it leaves out itself. */
const leftOut = ({ dropped_by_site: bySite = {} }: WrittenBatch): ReadonlyMap<string, number> =>
  new Map(Object.entries(bySite).map(([site, count]) => [storable(site).slice(0, 200), count]));

/** What nobody got waits for an endpoint to become known, as far as there is room; returns how many found none. */
async function keepPending(tx: Tx, cells: readonly Cell[], sites: ReadonlyMap<string, SiteCounts>): Promise<number> {
  const kept = cells.filter(({ site, stats }) => {
    const counts = sites.get(site);
    if (counts === undefined || counts.pending >= pendingPerSiteMax) return false;
    if (answeredWell(stats) > 0 || isNoise(stats)) return false;
    counts.pending += 1;
    return true;
  });
  await saveCells(tx, kept);
  const dropped = new Map<string, number>();
  for (const cell of cells) if (!kept.includes(cell)) dropped.set(cell.site, (dropped.get(cell.site) ?? 0) + 1);
  await touchSites(tx, kept, dropped);
  return cells.length - kept.length;
}

/** Nobody got it so far: it teaches nothing, and is no endpoint. */
export const isPending = ({ path, stats }: Pick<Cell, 'path' | 'stats'>): boolean =>
  answeredWell(stats) === 0 && !path.includes('/{');

/** Answers of paths that the application does not know, and nothing else. */
const isNoise = ({ statuses }: Stats): boolean =>
  Object.keys(statuses).every((status) => /^(?:40[45]|410|501)$/.test(status));

/** One cell a site, method and path. */
async function sumUp(observations: readonly Observation[], source: ObservationSource): Promise<Cell[]> {
  const cells = new Map<string, Cell>();
  for (const [index, observation] of observations.entries()) {
    if (index % cellsAtOnce === cellsAtOnce - 1) await nextTurn();
    const method = storable(observation.method).slice(0, 32);
    if (isStaticAsset(method, observation.path)) continue;
    const site = storable(observation.site).slice(0, 200);
    const path = storable(observation.path).slice(0, 1024);
    const { first_ms: firstMs, last_ms: lastMs } = observation;
    merge(cells, new Map(), { site, method, path, stats: statsOf(observation, source), firstMs, lastMs });
  }
  return [...cells.values()];
}

function merge(into: Map<string, Cell>, known: ReadonlyMap<string, Cell>, cell: Cell): void {
  const key = keyOf(cell);
  const before = into.get(key) ?? known.get(key);
  into.set(key, before === undefined ? cell : addCells(before, cell));
}

export const addCells = (one: Cell, other: Cell): Cell => ({
  site: one.site,
  method: one.method,
  path: one.path,
  stats: addStats(one.stats, other.stats),
  firstMs: Math.min(one.firstMs, other.firstMs),
  lastMs: Math.max(one.lastMs, other.lastMs),
});

/** Of a site: its paths that are told apart, those that wait among them, and those that came with this batch. */
interface SiteCounts {
  readonly cells: number;
  pending: number;
  added: number;
}

type FormOf = (site: string) => SiteForm | null;

/** Sums by their places. Those that have none are of paths that nobody got, or for which there is no room. */
async function placeAll(
  cells: readonly Cell[],
  known: ReadonlyMap<string, Cell>,
  sites: ReadonlyMap<string, SiteCounts>,
  formOf: FormOf,
): Promise<{ readonly sums: ReadonlyMap<string, Cell>; readonly homeless: Cell[] }> {
  const sums = new Map<string, Cell>();
  const homeless: Cell[] = [];
  for (const [index, cell] of cells.entries()) {
    if (index % cellsAtOnce === cellsAtOnce - 1) await nextTurn();
    const place = placeFor(cell, known, sites.get(cell.site), formOf(cell.site));
    if (place === null) homeless.push(cell);
    else merge(sums, known, place);
  }
  return { sums, homeless };
}

/** Where the sums go: to the path itself, to its template, or nowhere (null). A path that nobody got is no endpoint. */
function placeFor(
  cell: Cell,
  known: ReadonlyMap<string, Cell>,
  counts: SiteCounts | undefined,
  form: SiteForm | null,
): Cell | null {
  if (known.has(keyOf(cell))) return cell;
  const folded = form === null ? null : foldedPlace(form, cell.method, cell.path);
  if (folded !== null) return { ...cell, path: folded };
  if (counts !== undefined && answeredWell(cell.stats) > 0 && counts.cells + counts.added < cellsPerSiteMax) {
    counts.added += 1;
    return cell;
  }
  const template = form === null ? null : foldedPath(form.tree, segmentsOf(cell.path));
  return template === null ? null : { ...cell, path: template };
}

interface CellRow {
  readonly site: string;
  readonly method: string;
  readonly path: string;
  readonly stats: string;
  readonly first_seen: Date;
  readonly last_seen: Date;
}

const toCell = ({ stats, first_seen, last_seen, ...row }: CellRow): Cell => ({
  ...row,
  stats: JSON.parse(stats) as Stats,
  firstMs: first_seen.getTime(),
  lastMs: last_seen.getTime(),
});

/** Of their paths, and of the templates that those would be added to. */
async function findCells(tx: Queryable, cells: readonly Cell[], formOf: FormOf): Promise<Map<string, Cell>> {
  const places = new Map<string, Pick<Cell, 'site' | 'method' | 'path'>>();
  for (const { site, method, path } of cells) {
    const form = formOf(site);
    const folded = form === null ? null : foldedPath(form.tree, segmentsOf(path));
    for (const one of folded === null ? [path] : [path, folded]) {
      const place = { site, method, path: one };
      places.set(keyOf(place), place);
    }
  }
  const keys = [...places.values()];
  const rows = await tx<CellRow[]>`
    select c.site, c.method, c.path, c.stats, c.first_seen, c.last_seen
    from json_to_recordset(${JSON.stringify(keys)}::text::json) as k (site text, method text, path text)
    join api_cells c on c.site = k.site and c.method = k.method and c.path = k.path`;
  return new Map(rows.map((row) => [keyOf(row), toCell(row)]));
}

export async function cellsOf(tx: Queryable, site: string): Promise<Cell[]> {
  const rows = await tx<CellRow[]>`
    select site, method, path, stats, first_seen, last_seen from api_cells where site = ${site}`;
  const cells: Cell[] = [];
  for (const [index, row] of rows.entries()) {
    if (index % cellsAtOnce === cellsAtOnce - 1) await nextTurn();
    cells.push(toCell(row));
  }
  return cells;
}

async function countCells(tx: Queryable, sites: readonly string[]): Promise<Map<string, SiteCounts>> {
  const rows = await tx<{ site: string; cells: number; pending: number }[]>`
    select s.site, count(c.site)::int as cells, (count(*) filter (where c.hits = 0))::int as pending
    from json_array_elements_text(${JSON.stringify(sites)}::text::json) as s (site)
    left join api_cells c on c.site = s.site group by s.site`;
  return new Map(rows.map(({ site, cells, pending }) => [site, { cells, pending, added: 0 }]));
}

export async function saveCells(tx: Queryable, cells: readonly Cell[]): Promise<void> {
  for (let from = 0; from < cells.length; from += cellsAtOnce)
    await saveSome(tx, cells.slice(from, from + cellsAtOnce));
}

async function saveSome(tx: Queryable, cells: readonly Cell[]): Promise<void> {
  const rows = cells.map((cell) => ({
    site: cell.site,
    method: cell.method,
    path: cell.path,
    stats: JSON.stringify(cell.stats),
    hits: isPending(cell) ? 0 : cell.stats.count, // countCells tells them apart by it
    first_seen: new Date(cell.firstMs).toISOString(),
    last_seen: new Date(cell.lastMs).toISOString(),
  }));
  await tx`
    insert into api_cells (site, method, path, stats, hits, first_seen, last_seen)
    select * from json_to_recordset(${JSON.stringify(rows)}::text::json) as r
      (site text, method text, path text, stats text, hits bigint, first_seen timestamptz, last_seen timestamptz)
    on conflict (site, method, path) do update set stats = excluded.stats, hits = excluded.hits,
      first_seen = excluded.first_seen, last_seen = excluded.last_seen`;
}

/** Has the inventory made anew of sites whose cells are others now; `dropped` are those without a place. */
async function touchSites(
  tx: Tx,
  kept: readonly Cell[],
  dropped: ReadonlyMap<string, number> = new Map(),
): Promise<void> {
  const observed = new Map<string, number>();
  for (const { site } of kept) observed.set(site, (observed.get(site) ?? 0) + 1);
  const rows = [...new Set([...observed.keys(), ...dropped.keys()])].map((site) => ({
    site,
    observed: observed.get(site) ?? 0,
    dropped: dropped.get(site) ?? 0,
  }));
  if (rows.length === 0) return;
  await tx`
    insert into api_sites (site, observed, dropped)
    select * from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as r (site text, observed bigint, dropped bigint)
    on conflict (site) do update set observed = api_sites.observed + excluded.observed,
      dropped = api_sites.dropped + excluded.dropped`;
}

/** A path of a record of others, in the form of observations; `{kind}` is for those of nodes only. */
export const foreignPath = (path: string): string => normalPath(path);
