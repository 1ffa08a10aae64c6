// Observations into cells: sums by site, method and path. One writer at a time; what a sender gives an id is taken once
// however often it is sent.
import { createHash } from 'node:crypto';
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
import { keptBatch, type Keeping } from './kept.js';
import { queueSightings } from './sightings.js';
import { addStats, answeredWell, statsOf, storable, type Stats } from './stats.js';
import type { TemplateNode } from './templates/learn.js';
import { foldedPath } from './templates/match.js';

/** Paths of a site that are told apart; further ones only count where their template is known. */
export const cellsPerSiteMax = 20_000;

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

export type WrittenBatch = Pick<ObservationBatch, 'observations' | 'sightings' | 'relations'>;

export interface CellWriter {
  /** `id` null: never taken before. */
  write(batch: WrittenBatch, source: ObservationSource, id: string | null): Promise<Taken>;
  /** The same within a transaction that holds the lock `inventory`, without a question whether it was taken. */
  writeIn(tx: Tx, batch: WrittenBatch, source: ObservationSource, level: MaskLevel): Promise<Taken>;
}

export interface CellWriterOptions extends Pick<Keeping, 'key' | 'treeOf'> {
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

export function createCellWriter({ database, now, level, key, treeOf }: CellWriterOptions): CellWriter {
  const writeIn: CellWriter['writeIn'] = async (tx, batch, source, maskLevel) => {
    const kept = keptBatch(batch, { level: maskLevel, key, treeOf });
    await queueSightings(tx, kept, new Date(now()));
    const given = sumUp(kept.observations, source);
    const known = await findCells(tx, given, treeOf);
    const counts = await countCells(tx, [...new Set(given.map(({ site }) => site))]);
    const sums = new Map<string, Cell>();
    let dropped = 0;
    for (const cell of given) {
      const place = placeFor(cell, known, counts, treeOf(cell.site));
      if (place === null) dropped += 1;
      else merge(sums, known, place);
    }
    await saveCells(tx, [...sums.values()]);
    await touchSites(tx, given, [...sums.values()], dropped);
    return { stored: given.length - dropped, dropped, isDuplicate: false };
  };
  return {
    writeIn,
    async write(batch, source, id) {
      const maskLevel = await level();
      return database.sql.begin(async (tx) => {
        await lockUntilCommit(tx, 'inventory');
        if (id !== null && !(await takeOnce(tx, source, id, new Date(now()))))
          return { stored: 0, dropped: 0, isDuplicate: true };
        return writeIn(tx, batch, source, maskLevel);
      });
    },
  };
}

/** One cell a site, method and path. */
function sumUp(observations: readonly Observation[], source: ObservationSource): Cell[] {
  const cells = new Map<string, Cell>();
  for (const observation of observations) {
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
  ...one,
  stats: addStats(one.stats, other.stats),
  firstMs: Math.min(one.firstMs, other.firstMs),
  lastMs: Math.max(one.lastMs, other.lastMs),
});

/** Where the sums go: to the path itself, to its template, or nowhere (null). A path that nobody got is no endpoint. */
function placeFor(
  cell: Cell,
  known: ReadonlyMap<string, Cell>,
  counts: Map<string, number>,
  tree: TemplateNode | null,
): Cell | null {
  if (known.has(keyOf(cell))) return cell;
  const count = counts.get(cell.site) ?? 0;
  if (answeredWell(cell.stats) > 0 && count < cellsPerSiteMax) {
    counts.set(cell.site, count + 1);
    return cell;
  }
  const folded = tree === null ? null : foldedPath(tree, segmentsOf(cell.path));
  return folded === null ? null : { ...cell, path: folded };
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
async function findCells(
  tx: Queryable,
  cells: readonly Cell[],
  treeOf: CellWriterOptions['treeOf'],
): Promise<Map<string, Cell>> {
  const places = new Map<string, Pick<Cell, 'site' | 'method' | 'path'>>();
  for (const { site, method, path } of cells) {
    const tree = treeOf(site);
    const folded = tree === null ? null : foldedPath(tree, segmentsOf(path));
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
  return rows.map(toCell);
}

async function countCells(tx: Queryable, sites: readonly string[]): Promise<Map<string, number>> {
  const rows = await tx<{ site: string; cells: number }[]>`
    select site, count(*)::int as cells from api_cells
    where site in (select value from json_array_elements_text(${JSON.stringify(sites)}::text::json)) group by site`;
  return new Map(rows.map(({ site, cells }) => [site, cells]));
}

export async function saveCells(tx: Queryable, cells: readonly Cell[]): Promise<void> {
  if (cells.length === 0) return;
  const rows = cells.map(({ stats, firstMs, lastMs, ...cell }) => ({
    ...cell,
    stats: JSON.stringify(stats),
    hits: stats.count,
    first_seen: new Date(firstMs).toISOString(),
    last_seen: new Date(lastMs).toISOString(),
  }));
  await tx`
    insert into api_cells (site, method, path, stats, hits, first_seen, last_seen)
    select * from json_to_recordset(${JSON.stringify(rows)}::text::json) as r
      (site text, method text, path text, stats text, hits bigint, first_seen timestamptz, last_seen timestamptz)
    on conflict (site, method, path) do update set stats = excluded.stats, hits = excluded.hits,
      first_seen = excluded.first_seen, last_seen = excluded.last_seen`;
}

async function touchSites(tx: Tx, given: readonly Cell[], kept: readonly Cell[], dropped: number): Promise<void> {
  const rows = [...new Set(given.map(({ site }) => site))].map((site, index) => ({
    site,
    observed: kept.filter((cell) => cell.site === site).length,
    dropped: index === 0 ? dropped : 0,
  }));
  await tx`
    insert into api_sites (site, observed, dropped)
    select * from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as r (site text, observed bigint, dropped bigint)
    on conflict (site) do update set observed = api_sites.observed + excluded.observed,
      dropped = api_sites.dropped + excluded.dropped`;
}

/** The place of a path among others: not of its sender's choosing, and the same everywhere. */
export const rankOf = (path: string): string => createHash('sha256').update(path).digest('hex').slice(0, 16);

/** A path of a record of others, in the form of observations; `{kind}` is for those of nodes only. */
export const foreignPath = (path: string): string => normalPath(path);
