// What a site's specifications declare, and how that compares with its traffic. The specifications in force count; of
// a site that has none in force the newest version of each name. Documents are read, and compared, in a thread of
// their own; rows go there some at a time.
import type { ApiGap, DeclaredOperation, SitePosture } from '#vm-manager';
import { segmentsOf } from '#proxy/contract';
import type { Queryable } from '../../db/client.js';
import { sitePrefixOf } from '../../change/steps/specifications.js';
import { inventoryOf, matchTemplate } from '../../inventory/index.js';
import { selectRows } from '../../inventory/store.js';
import type { RefusedPath } from '../../posture/gaps/report.js';
import { findKey, findSpecification, listNewest, type SpecRow } from '../../spec/store.js';
import type { ApisParts } from './parts.js';
import type { PlacedDocument } from './reading/jobs.js';
import { reading, type Ask } from './reading/reading-thread.js';

/** Of a site without one in force. */
const namesMax = 20;
const rowsAtOnce = 200;
const cellsAtOnce = 1000;
const partsAtOnce = 1000;
/** Operations of the documents of one site. */
const declaredMax = 20_000;
/** Operations that stay known without a question to the thread. */
const keptMax = 100_000;

type Placed = PlacedDocument & { readonly id: number };

export async function documentsOf({ database: { sql }, currentSettings }: ApisParts, site: string): Promise<Placed[]> {
  const settings = await currentSettings();
  const prefix = sitePrefixOf(settings, site);
  const place = ({ id, sha256, name, version }: SpecRow, basePath: string | null): Placed => ({
    ...{ id, sha256, name, version, basePath, prefix },
  });
  const entries = settings.api_specs.filter((one) => one.site === site);
  const inForce: Placed[] = [];
  for (const entry of entries) {
    const row = await findKey(sql, entry);
    if (row !== null) inForce.push(place(row, entry.base_path));
  }
  return inForce.length > 0 ? inForce : (await listNewest(sql, site, namesMax)).map((row) => place(row, null));
}

/** The thread has read these afterwards; those that went meanwhile are left out. */
export async function sendDocuments<T extends { readonly id: number; readonly sha256: string }>(
  ask: Ask,
  sql: Queryable,
  documents: readonly T[],
): Promise<T[]> {
  const { digests } = await ask({ kind: 'known', digests: documents.map(({ sha256 }) => sha256) }, 'missing');
  const missing = new Set(digests);
  const there: T[] = [];
  for (const one of documents) {
    if (missing.has(one.sha256)) {
      const row = await findSpecification(sql, one.id);
      if (row === null) continue;
      const taken = await ask({ kind: 'take', sha256: row.sha256, body: row.body }, 'done', 'missing');
      if (taken.kind === 'missing') continue;
    }
    there.push(one);
  }
  return there;
}

/** The first of the gaps that the thread has found last, some at a time. */
export async function takeGaps(ask: Ask, total: number, max: number): Promise<ApiGap[]> {
  const all: ApiGap[] = [];
  const wanted = Math.min(total, max);
  while (all.length < wanted) {
    const count = Math.min(partsAtOnce, wanted - all.length);
    const { gaps } = await ask({ kind: 'gaps', from: all.length, count }, 'gaps');
    if (gaps.length === 0) break;
    for (const gap of gaps) all.push(gap);
  }
  return all;
}

const kept = new Map<string, readonly DeclaredOperation[]>();

function keepOperations(key: string, operations: readonly DeclaredOperation[]): void {
  kept.set(key, operations);
  let all = [...kept.values()].reduce((sum, { length }) => sum + length, 0);
  for (const [oldest, { length }] of kept) {
    if (all <= keptMax || oldest === key) return;
    kept.delete(oldest);
    all -= length;
  }
}

const keyOf = (site: string, one: Placed): string =>
  JSON.stringify([site, one.sha256, one.name, one.basePath, one.prefix]);

async function readOperations(ask: Ask, site: string, document: Placed): Promise<readonly DeclaredOperation[]> {
  const { total } = await ask({ kind: 'declared', site, document }, 'count');
  const all: DeclaredOperation[] = [];
  while (all.length < total) {
    const { operations } = await ask({ kind: 'operations', from: all.length, count: partsAtOnce }, 'operations');
    if (operations.length === 0) break;
    for (const one of operations) all.push(one);
  }
  keepOperations(keyOf(site, document), all);
  return all;
}

export async function declaredOf(parts: ApisParts, site: string): Promise<DeclaredOperation[]> {
  const documents = await documentsOf(parts, site);
  const found: DeclaredOperation[] = [];
  const take = (operations: readonly DeclaredOperation[]): void => {
    for (const one of operations) if (found.length < declaredMax) found.push(one);
  };
  const unread = documents.filter((one) => !kept.has(keyOf(site, one)));
  if (unread.length === 0) {
    for (const one of documents) take(kept.get(keyOf(site, one)) ?? []);
    return found;
  }
  await reading.with(
    async (ask) => {
      for (const one of documents) {
        if (found.length >= declaredMax) break;
        const [there] = await sendDocuments(ask, parts.database.sql, [one]);
        if (there !== undefined) take(kept.get(keyOf(site, one)) ?? (await readOperations(ask, site, there)));
      }
    },
    { of: site },
  );
  return found;
}

async function* rowsOf(sql: Queryable, site: string) {
  let after: readonly [method: string, template: string] = ['', ''];
  for (;;) {
    const rows = await selectRows(sql, site, after, rowsAtOnce);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    if (rows.length < rowsAtOnce) return;
    after = [last.method, last.template];
  }
}

/** Paths that were asked and never answered well. */
async function* refusedOf(parts: ApisParts, site: string): AsyncGenerator<RefusedPath[]> {
  const { sql } = parts.database;
  const tree = inventoryOf(parts).treeOf(site);
  if (tree === null) return;
  let after: readonly [method: string, path: string] = ['', ''];
  for (;;) {
    const rows: readonly { method: string; path: string; hits: number }[] = await sql<
      { method: string; path: string; hits: number }[]
    >`
      select method, path, hits from api_cells
      where site = ${site} and hits > 0 and (method, path) > (${after[0]}, ${after[1]})
      order by method, path limit ${cellsAtOnce}`;
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows.flatMap(({ method, path, hits }) => {
      const match = matchTemplate(tree, segmentsOf(path));
      return match === null ? [] : [{ method, template: match.template, hits: Number(hits) }];
    });
    if (rows.length < cellsAtOnce) return;
    after = [last.method, last.path];
  }
}

/** With the first `gapsMax` of its gaps, the gravest first. Throws ApiError `busy`. */
export async function postureOf(parts: ApisParts, site: string, gapsMax: number): Promise<SitePosture> {
  const { sql } = parts.database;
  await inventoryOf(parts).refresh();
  const documents = await documentsOf(parts, site);
  return reading.with(
    async (ask) => {
      const there = await sendDocuments(ask, sql, documents);
      await ask({ kind: 'begin', site, documents: there }, 'done');
      for await (const rows of rowsOf(sql, site)) await ask({ kind: 'endpoints', rows }, 'done');
      for await (const rows of refusedOf(parts, site)) await ask({ kind: 'refused', rows }, 'done');
      const { figures } = await ask({ kind: 'posture', nowMs: parts.now() }, 'figures');
      return { ...figures, gaps: await takeGaps(ask, figures.total, gapsMax) };
    },
    { of: site },
  );
}
