// Which findings have one of the names of a document's vulnerabilities. Read before anything is written: a document of
// 20,000 statements must not hold a transaction, which on the embedded database is the whole database, while it looks.
import { ApiError } from '#http-kit';
import { json, type Queryable } from '../database.js';
import type { FindingRow } from '../findings/fields.js';
import { visibleFindings } from '../findings/query.js';
import type { Reach } from '../kit/caller.js';
import { Breath } from '../kit/values/breath.js';
import type { Location } from '../imports/record.js';
import type { Stated } from './read.js';

export type Found = FindingRow & {
  readonly place: Location | null;
  readonly application: string;
  readonly external_id: string | null;
};

/** What is stated of what is there: all names of each id, and the findings that have a name. */
export interface Meeting {
  readonly names: ReadonlyMap<string, ReadonlySet<string>>;
  readonly byName: ReadonlyMap<string, readonly Found[]>;
}

const findingsMax = 50_000;
const namesMax = 100_000;
/** So few names are looked up by the index, one by one; for more, all rows are read once. */
const namesByIndex = 20;
const slice = 5_000;
const batch = 500;

type Namer = (id: string, aliases: readonly string[]) => void;

async function advisoriesOf(sql: Queryable, ids: ReadonlySet<string>, take: Namer): Promise<void> {
  if (ids.size <= namesByIndex) {
    for (const id of ids) {
      const rows = await sql<{ id: string; aliases: readonly string[] }[]>`
        select id, aliases from vm_osv where id = ${id}
        union select id, aliases from vm_osv where aliases @> ${json(sql, [id])}`;
      for (const row of rows) take(row.id, row.aliases);
    }
    return;
  }
  const breath = new Breath();
  for (let after = ''; ; ) {
    const rows = await sql<{ id: string; aliases: readonly string[] }[]>`
      select id, aliases from vm_osv where id > ${after} order by id limit ${slice}`;
    for (const row of rows) {
      if (ids.has(row.id) || row.aliases.some((one) => ids.has(one))) take(row.id, row.aliases);
      await breath.take();
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < slice) return;
    after = last.id;
  }
}

/** Every name of each id, by the advisories that are known here. */
async function namesOf(sql: Queryable, ids: ReadonlySet<string>): Promise<Map<string, Set<string>>> {
  const names = new Map([...ids].map((id) => [id, new Set([id])]));
  await advisoriesOf(sql, ids, (id, aliases) => {
    for (const asked of [id, ...aliases])
      for (const name of [id, ...aliases]) names.get(asked)?.add(name.toUpperCase());
  });
  return names;
}

/** Ids of the findings that have one of the names, each with those that it has. */
async function idsBy(
  sql: Queryable,
  reach: Reach,
  application: number | null,
  names: ReadonlySet<string>,
): Promise<ReadonlyMap<number, readonly string[]>> {
  const found = new Map<number, readonly string[]>();
  const add = (row: { readonly id: number; readonly vuln_ids: readonly string[] }): void => {
    const own = row.vuln_ids.filter((one) => names.has(one));
    if (own.length > 0) found.set(row.id, own);
    if (found.size > findingsMax)
      throw new ApiError('unfit', `The statements meet more than ${findingsMax} findings: name an application.`);
  };
  const within = application === null ? sql`true` : sql`application_id = ${application}`;
  if (names.size <= namesByIndex) {
    for (const name of names) {
      const rows = await sql<{ id: number; vuln_ids: readonly string[] }[]>`
        select id, vuln_ids from vm_findings where vuln_ids @> ${json(sql, [name])}
          and ${visibleFindings(sql, reach)} and ${within} limit ${findingsMax + 1}`;
      rows.forEach(add);
    }
    return found;
  }
  const breath = new Breath();
  for (let after = 0; ; ) {
    const rows = await sql<{ id: number; vuln_ids: readonly string[] }[]>`
      select id, vuln_ids from vm_findings where id > ${after} and vuln_ids <> '[]'
        and ${visibleFindings(sql, reach)} and ${within} order by id limit ${slice}`;
    for (const row of rows) {
      add(row);
      await breath.take();
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < slice) return found;
    after = last.id;
  }
}

/**
 * Throws 422 for documents that name or meet too much. What is found may have changed when it is settled, which looks
 * at each finding again.
 */
export async function meet(
  sql: Queryable,
  reach: Reach,
  application: number | null,
  statements: readonly Stated[],
): Promise<Meeting> {
  const ids = new Set(statements.flatMap((one) => one.ids));
  const names = ids.size <= namesMax ? await namesOf(sql, ids) : new Map<string, Set<string>>();
  const asked = new Set([...names.values()].flatMap((some) => [...some]));
  if (ids.size > namesMax || asked.size > namesMax)
    throw new ApiError('unfit', `The document has more than ${namesMax} names of vulnerabilities: send it in parts.`);
  const own = await idsBy(sql, reach, application, asked);
  const byName = new Map<string, Found[]>();
  const all = [...own.keys()];
  for (let from = 0; from < all.length; from += batch) {
    const rows = await sql<Found[]>`
      select f.*, a.name as application, a.external_id, case when d.location ? 'kind' then d.location end as place
      from vm_findings f join vm_applications a on a.id = f.application_id and a.status = 'active'
        left join vm_finding_details d on d.finding_id = f.id
      where f.id in ${sql(all.slice(from, from + batch))} order by f.id`;
    for (const row of rows)
      for (const name of own.get(row.id) ?? []) {
        const of = byName.get(name);
        if (of === undefined) byName.set(name, [row]);
        else of.push(row);
      }
  }
  return { names, byName };
}
