// The inventory: what bills of material list, by scope. A scope that is imported again says what is still there; with
// `sync` what it no longer lists is gone, and stays as a row that says until when.
import { json, type Tx } from '../database.js';
import { hashFields } from '../imports/fingerprint.js';
import { cut } from '../imports/record.js';
import type { ListedComponent } from './listed.js';
import { advisoryNameOf, parsePurl } from './purl.js';

export interface ComponentCounts {
  /** listed = created + updated + unchanged + duplicates_in_file + dropped */
  listed: number;
  created: number;
  updated: number;
  unchanged: number;
  duplicates_in_file: number;
  /** Without a name. */
  dropped: number;
  /** No longer listed. */
  gone: number;
}

interface ComponentScope {
  readonly applicationId: number;
  readonly scopeKey: string;
  readonly mode: 'add' | 'sync';
  readonly runId: number;
  readonly now: Date;
  readonly seenAt: Date;
}

const batch = 1000;

function toRow(one: ListedComponent) {
  const purl = parsePurl(one.purl);
  const [name, version] = [cut(one.name || (purl?.name ?? ''), 500), cut(one.version || (purl?.version ?? ''), 300)];
  return {
    key: hashFields([purl === null ? '' : one.purl, name, version]),
    purl: purl === null ? null : cut(one.purl, 1500),
    type: purl?.type ?? '',
    name,
    version,
    licences: [...new Set(one.licences.filter(Boolean).map((text) => cut(text, 200)))].sort().slice(0, 20),
    relation: one.relation,
    package: purl === null ? null : (advisoryNameOf(purl)?.package ?? null),
  };
}

/** Writes what a bill lists, and closes what its scope no longer does; if that changes, it is matched anew. */
export async function storeComponents(
  tx: Tx,
  listed: readonly ListedComponent[],
  scope: ComponentScope,
): Promise<ComponentCounts> {
  const counts: ComponentCounts = {
    listed: listed.length,
    created: 0,
    updated: 0,
    unchanged: 0,
    duplicates_in_file: 0,
    dropped: 0,
    gone: 0,
  };
  const rows = new Map<string, ReturnType<typeof toRow>>();
  for (const one of listed) {
    const row = toRow(one);
    if (row.name === '') counts.dropped++;
    else if (rows.has(row.key)) counts.duplicates_in_file++;
    else rows.set(row.key, row);
  }
  const all = [...rows.values()];
  for (let from = 0; from < all.length; from += batch) await write(tx, all.slice(from, from + batch), scope, counts);
  if (scope.mode === 'sync') {
    const gone = await tx`
      update vm_components set gone_at = ${scope.now}
      where scope_key = ${scope.scopeKey} and gone_at is null and last_run is distinct from ${scope.runId}`;
    counts.gone = gone.count;
  }
  if (counts.created + counts.updated + counts.gone > 0) await noteChanged(tx, scope.applicationId, scope.now);
  return counts;
}

async function write(tx: Tx, rows: readonly object[], scope: ComponentScope, counts: ComponentCounts): Promise<void> {
  const { applicationId, scopeKey, runId, seenAt } = scope;
  const made = await tx<{ is_new: boolean; is_changed: boolean }[]>`
    with n as (
      select * from jsonb_to_recordset(${json(tx, rows)}) as n(key text, purl text, type text, name text, version text,
        licences jsonb, relation text, package text)
    ), before as (
      select key, licences, relation, gone_at from vm_components
      where scope_key = ${scopeKey} and key in (select key from n)
    ), written as (
      insert into vm_components as c (application_id, scope_key, key, purl, type, name, version, licences, relation,
        package, first_run, last_run, first_seen, last_seen)
      select ${applicationId}, ${scopeKey}, n.key, n.purl, n.type, n.name, n.version, n.licences, n.relation, n.package,
        ${runId}, ${runId}, ${seenAt}, ${seenAt} from n
      on conflict (scope_key, key) do update set licences = excluded.licences, relation = excluded.relation,
        package = excluded.package, last_run = excluded.last_run, gone_at = null,
        last_seen = greatest(c.last_seen, excluded.last_seen)
      returning 1
    )
    select b.key is null as is_new,
      b.key is not null
        and (b.gone_at is not null or b.licences <> n.licences or b.relation <> n.relation) as is_changed
    from n left join before b on b.key = n.key`;
  for (const { is_new, is_changed } of made) counts[is_new ? 'created' : is_changed ? 'updated' : 'unchanged']++;
}

/** The application is matched with the advisories again. */
export async function noteChanged(tx: Tx, applicationId: number, now: Date): Promise<void> {
  await tx`
    insert into vm_osv_pending (application_id, noted_at) values (${applicationId}, ${now})
      on conflict (application_id) do update set mark = null`;
}

/** Takes back what a run did to the inventory of its scope. */
export async function undoComponents(
  tx: Tx,
  run: {
    readonly id: number;
    readonly scope_key: string;
    readonly application_id: number | null;
    readonly created_at: Date;
  },
  now: Date,
): Promise<number> {
  const { id, scope_key: scope, application_id: application } = run;
  const removed = await tx`delete from vm_components where scope_key = ${scope} and first_run = ${id}`;
  await tx`
    update vm_components set last_run = (
      select max(r.id) from vm_runs r where r.scope_key = ${scope} and r.id < ${id} and r.status = 'succeeded')
    where scope_key = ${scope} and last_run = ${id}`;
  const back = await tx`
    update vm_components set gone_at = null where scope_key = ${scope} and gone_at = ${run.created_at}`;
  if (application !== null && removed.count + back.count > 0) await noteChanged(tx, application, now);
  return removed.count;
}
