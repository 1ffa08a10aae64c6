// What is stored is lifted to a directory further up: paths are rewritten, and keys are marked, as they are made of
// whole texts and cannot be made anew from what is stored. The next report that has a finding gives it the keys of its
// new path.
import type { Queryable } from '../../database.js';
import type { ImportScope } from '../run/scope.js';
import type { Frame, Lift, Lifted } from './lifts.js';

type Of = Pick<ImportScope, 'applicationId' | 'scopeKey'>;
const liftsMax = 12;

/** Of the application, the oldest first. */
export async function readLifts(sql: Queryable, { applicationId }: Pick<Of, 'applicationId'>): Promise<Lifted[]> {
  const rows = await sql<{ id: number; prefix: string }[]>`
    select id, prefix from vm_lifts where application_id = ${applicationId} order by id desc limit ${liftsMax}`;
  return rows.map(({ id, prefix }) => ({ prefix, mark: `^${id}` })).reverse();
}

/** The directory that the last report of the scope was of. */
export async function readLastRoot(sql: Queryable, { scopeKey }: Pick<Of, 'scopeKey'>): Promise<string | null> {
  const [row] = await sql<{ root: string | null }[]>`
    select result ->> 'root' as root from vm_runs
    where scope_key = ${scopeKey} and kind = 'import' and status = 'succeeded' and result ->> 'root' is not null
    order by id desc limit 1`;
  return row?.root ?? null;
}

/** Of the open sightings of the scope, by the directory of the report that saw them last. */
export async function readFrames(sql: Queryable, { scopeKey }: Pick<Of, 'scopeKey'>): Promise<readonly Frame[]> {
  return sql<Frame[]>`
    select coalesce(r.result ->> 'root', '') as root, count(*)::int as count
    from vm_occurrences o left join vm_runs r on r.id = o.last_run
    where o.scope_key = ${scopeKey} and o.gone_at is null and o.location ->> 'path' is not null group by 1`;
}

/** Whether a sighting (`o`) is one of those that are lifted. */
export const isLifted = (sql: Queryable, { scopeKey }: Pick<Of, 'scopeKey'>, { prefix, roots }: Lift) => sql`
  o.scope_key = ${scopeKey} and starts_with(o.tool_key, 'k') and o.location ->> 'path' !~ '^(/|[A-Z]:/)'
    and not starts_with(o.location ->> 'path', ${`${prefix}/`})
    and coalesce((select r.result ->> 'root' from vm_runs r where r.id = o.last_run), '') in ${sql(roots)}`;

/** Within the transaction of an import, before any of its records is looked up. */
export async function liftStored(tx: Queryable, scope: Of, lift: Lift, now: Date): Promise<Lifted> {
  const { prefix } = lift;
  const [row] = await tx<{ id: number }[]>`
    insert into vm_lifts (application_id, scope_key, prefix, at)
    values (${scope.applicationId}, ${scope.scopeKey}, ${prefix}, ${now}) returning id`;
  const mark = `^${row?.id}`;
  // a finding whose own path is that of the sighting: others were lifted with another scope
  const wanted = () => tx`
    select o.finding_id, o.location ->> 'path' as path from vm_occurrences o
    join vm_finding_details d on d.finding_id = o.finding_id and d.location ->> 'path' = o.location ->> 'path'
    where ${isLifted(tx, scope, lift)}`;
  await tx`
    update vm_findings f set
      fingerprint = case when starts_with(f.fingerprint, 'k') then f.fingerprint || ${mark} else f.fingerprint end,
      location = case
        when starts_with(f.location, n.path) then ${`${prefix}/`} || f.location
        else replace(f.location, '(' || n.path, '(' || ${`${prefix}/`} || n.path) end,
      version = f.version + 1, updated_at = ${now}
    from (select distinct finding_id, path from (${wanted()}) w) n where f.id = n.finding_id`;
  await tx`
    update vm_finding_details d set
      location = ${inPart(tx, 'd.location', prefix)},
      evidence = (select coalesce(jsonb_agg(case when jsonb_typeof(e) = 'object' and e ->> 'path' !~ '^(/|[A-Z]:/)'
        then e || jsonb_build_object('path', ${`${prefix}/`} || (e ->> 'path')) else e end order by at), '[]'::jsonb)
        from jsonb_array_elements(d.evidence) with ordinality as x(e, at))
    where d.finding_id in (select finding_id from (${wanted()}) w)`;
  await tx`
    update vm_occurrences o set tool_key = o.tool_key || ${mark}, location = ${inPart(tx, 'o.location', prefix)}
    where ${isLifted(tx, scope, lift)}`;
  return { prefix, mark };
}

/** The location with its path in the directory; a resource without a name of its own is called by its path. */
const inPart = (tx: Queryable, column: 'd.location' | 'o.location', prefix: string) => {
  const location = tx.unsafe(column);
  return tx`${location} || jsonb_build_object('path', ${`${prefix}/`} || (${location} ->> 'path'))
    || case when ${location} ->> 'address' = ${location} ->> 'path'
      then jsonb_build_object('address', ${`${prefix}/`} || (${location} ->> 'path')) else '{}'::jsonb end`;
};
