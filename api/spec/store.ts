// Stored specifications: text as it was sent, by site, name and version. A version is never changed.
import { createHash } from 'node:crypto';
import type { Queryable, Tx } from '../db/client.js';
import type { Specification } from './document/read.js';

export interface SpecRow {
  readonly id: number;
  readonly site: string;
  readonly name: string;
  readonly version: number;
  readonly at: Date;
  readonly author: string;
  readonly title: string;
  /** `info.version` of the document. */
  readonly declared_version: string;
  readonly openapi: string;
  readonly format: 'json' | 'yaml';
  readonly operations: number;
  readonly sha256: string;
}

export interface SpecKey {
  readonly site: string;
  readonly name: string;
  readonly version: number;
}

/** Older ones go, unless the settings name them. */
export const versionsKept = 50;

export const digestOfText = (text: string): string => createHash('sha256').update(text, 'utf8').digest('hex');

const toRow = (row: SpecRow): SpecRow => ({ ...row, id: Number(row.id) });

/**
 * Names of sites that begin so are places of applications of the vulnerability manager, which are no site. What is
 * stored there belongs to the users of the application, who ask /api/v1/api-security.
 */
export const isPlaceOfApplication = (site: string): boolean => site.startsWith('~');

export async function listSpecifications(sql: Queryable, site?: string, name?: string): Promise<SpecRow[]> {
  const rows = await sql<SpecRow[]>`
    select id, site, name, version, at, author, title, declared_version, openapi, format, operations, sha256
    from api_specifications
    where (${site ?? null}::text is null or site = ${site ?? null}) and
      (${name ?? null}::text is null or name = ${name ?? null})
    order by site, name, version desc limit 5000`;
  return rows.map(toRow);
}

export async function findSpecification(sql: Queryable, id: number): Promise<(SpecRow & { body: string }) | null> {
  const [row] = await sql<(SpecRow & { body: string })[]>`select * from api_specifications where id = ${id}`;
  return row === undefined ? null : { ...toRow(row), body: row.body };
}

/** Without their texts, those of sites of the firewall alone, or with those of applications, too. */
export async function listOfSites(
  sql: Queryable,
  withApplications: boolean,
  { site, name }: { readonly site?: string | undefined; readonly name?: string | undefined },
): Promise<SpecRow[]> {
  const rows = await sql<SpecRow[]>`
    select id, site, name, version, at, author, title, declared_version, openapi, format, operations, sha256
    from api_specifications
    where (${site ?? null}::text is null or site = ${site ?? null}) and
      (${name ?? null}::text is null or name = ${name ?? null}) and (${withApplications} or left(site, 1) <> '~')
    order by site, name, version desc limit 5000`;
  return rows.map(toRow);
}

/** Without their texts: of each name of a site the newest. */
export async function listNewest(sql: Queryable, site: string, max: number): Promise<SpecRow[]> {
  const rows = await sql<SpecRow[]>`
    select distinct on (name) id, site, name, version, at, author, title, declared_version, openapi, format, operations,
      sha256
    from api_specifications where site = ${site} order by name, version desc limit ${max}`;
  return rows.map(toRow);
}

/** Without their texts: some of these sites (of all for null), by site, name and the newest first, and how many. */
export async function pageOfSites(
  sql: Queryable,
  sites: readonly string[] | null,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ readonly rows: SpecRow[]; readonly total: number }> {
  const where = sites === null ? sql`true` : sql`site in (select jsonb_array_elements_text(${sql.json([...sites])}))`;
  const rows = await sql<SpecRow[]>`
    select id, site, name, version, at, author, title, declared_version, openapi, format, operations, sha256
    from api_specifications where ${where} order by site, name, version desc limit ${limit} offset ${offset}`;
  const [all] = await sql<{ n: number }[]>`select count(*)::int as n from api_specifications where ${where}`;
  return { rows: rows.map(toRow), total: all?.n ?? 0 };
}

/** Without their texts: of each site and name the newest. */
export async function listNewestOfAll(sql: Queryable, max: number): Promise<SpecRow[]> {
  const rows = await sql<SpecRow[]>`
    select distinct on (site, name) id, site, name, version, at, author, title, declared_version, openapi, format,
      operations, sha256
    from api_specifications order by site, name, version desc limit ${max}`;
  return rows.map(toRow);
}

/** Without its text. */
export async function findKey(sql: Queryable, key: SpecKey): Promise<SpecRow | null> {
  const [row] = await sql<SpecRow[]>`
    select id, site, name, version, at, author, title, declared_version, openapi, format, operations, sha256
    from api_specifications where site = ${key.site} and name = ${key.name} and version = ${key.version}`;
  return row === undefined ? null : toRow(row);
}

export async function findVersion(sql: Queryable, key: SpecKey): Promise<(SpecRow & { body: string }) | null> {
  const [row] = await sql<(SpecRow & { body: string })[]>`
    select * from api_specifications where site = ${key.site} and name = ${key.name} and version = ${key.version}`;
  return row === undefined ? null : { ...toRow(row), body: row.body };
}

export interface NewSpecification {
  readonly site: string;
  readonly name: string;
  readonly author: string;
  readonly at: Date;
  readonly text: string;
  readonly head: SpecificationHead;
}

/** What is stored beside the text. */
export interface SpecificationHead {
  readonly title: string;
  readonly declaredVersion: string;
  readonly openapi: string;
  readonly format: 'json' | 'yaml';
  readonly operations: number;
  readonly sha256: string;
}

export const headOf = (text: string, { model, format }: Specification): SpecificationHead => ({
  ...{ title: model.title.slice(0, 500), declaredVersion: model.version.slice(0, 100), openapi: model.openapi },
  ...{ format, operations: model.operations.length, sha256: digestOfText(text) },
});

/** The newest version when it has the same text, else a new one. The caller holds the lock of the settings. */
export async function storeSpecification(tx: Tx, given: NewSpecification): Promise<{ row: SpecRow; created: boolean }> {
  const { site, name, author, at, text, head } = given;
  const { title, declaredVersion, openapi, format, operations, sha256 } = head;
  const [newest] = await listSpecifications(tx, site, name);
  if (newest?.sha256 === sha256) return { row: newest, created: false };
  // numbers are not given twice: one that was deleted may stand in a version of the settings
  const [used] = await tx<{ last: number }[]>`
    insert into api_specification_numbers (site, name, last) values (${site}, ${name}, 1)
    on conflict (site, name) do update set last = api_specification_numbers.last + 1 returning last`;
  const [row] = await tx<SpecRow[]>`
    insert into api_specifications
      (site, name, version, at, author, title, declared_version, openapi, format, operations, sha256, body)
    values (${site}, ${name}, ${used?.last ?? 1}, ${at}, ${author}, ${title}, ${declaredVersion}, ${openapi},
      ${format}, ${operations}, ${sha256}, ${text})
    returning *`;
  if (row === undefined) throw new Error('the specification was not stored');
  return { row: toRow(row), created: true };
}

export async function removeSpecification(tx: Tx, id: number): Promise<void> {
  await tx`delete from api_specifications where id = ${id}`;
}

/** Every `site name version` that a kept version of the settings names. */
export async function namedBySettings(sql: Queryable): Promise<Set<string>> {
  const rows = await sql<{ body: string }[]>`
    select body from settings_versions where body like '%"api_specs":[{%'`;
  const named = new Set<string>();
  for (const { body } of rows) {
    const { api_specs: specs } = JSON.parse(body) as { api_specs?: readonly SpecKey[] };
    for (const key of specs ?? []) named.add(keyText(key));
  }
  return named;
}

export const keyText = ({ site, name, version }: SpecKey): string => `${site}\0${name}\0${version}`;

/** Forgets the oldest beyond `versionsKept` of one name. */
export async function pruneSpecifications(tx: Tx, site: string, name: string): Promise<void> {
  const old = (await listSpecifications(tx, site, name)).slice(versionsKept);
  if (old.length === 0) return;
  const named = await namedBySettings(tx);
  for (const row of old) if (!named.has(keyText(row))) await removeSpecification(tx, row.id);
}
