// The rollup: one row for each application and day, made again for what has changed since the last look. It finds the
// changes as the chain engine does (vm_chain_changes and the snapshot of the last look), and those that time makes:
// findings whose day has come. Posture and trends read these rows and never count findings.
import type { Fragment, Sql, Tx } from '../database.js';

/** Changes are kept for an hour; who has not looked for half of it counts everything anew. */
const restMaxMs = 1_800_000;
const daysKept = 800;
const dayMs = 86_400_000;
const name = 'app-days';

interface Look {
  readonly snapshot: string;
  readonly as_of: Date;
  readonly looked_at: Date;
}

/** The day of a moment, UTC, such as 2027-01-31. */
export const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/** Open findings of one application as columns of vm_app_days; `f` is vm_findings. */
const counted = (tx: Tx, now: Date): Fragment => tx`
  count(*) filter (where f.severity = 4) as open_critical, count(*) filter (where f.severity = 3) as open_high,
  count(*) filter (where f.severity = 2) as open_medium, count(*) filter (where f.severity = 1) as open_low,
  count(*) filter (where f.severity = 0) as open_info, count(*) filter (where f.due_at < ${now}) as overdue,
  count(*) filter (where f.kev) as kev`;

/** Applications of which something has changed since a look; null: count them all. */
async function changedSince(tx: Tx, last: Look | undefined, now: Date, clock: Date): Promise<number[] | null> {
  if (last === undefined || clock.getTime() - last.looked_at.getTime() > restMaxMs || now < last.as_of) return null;
  const rows = await tx<{ id: number }[]>`
    select application_id as id from vm_chain_changes
    where changed_in >= pg_snapshot_xmin(${last.snapshot}::pg_snapshot)
      and not pg_visible_in_snapshot(changed_in, ${last.snapshot}::pg_snapshot)
    union select application_id from vm_findings
    where is_open and due_at is not null and due_at >= ${last.as_of} and due_at < ${now}`;
  return rows.map(({ id }) => id);
}

/** Rows of the days since the last look, as they were then; what happened on them is counted afterwards. */
async function carryOn(tx: Tx, last: Look, today: string): Promise<void> {
  await tx`
    insert into vm_app_days (application_id, day, open_critical, open_high, open_medium, open_low, open_info, overdue,
      kev, sources)
    select application_id, next::date, open_critical, open_high, open_medium, open_low, open_info, overdue, kev, sources
    from vm_app_days, generate_series(${dayOf(last.as_of)}::date + 1, ${today}::date, interval '1 day') as next
    where day = ${dayOf(last.as_of)}::date on conflict (application_id, day) do nothing`;
  await tx`delete from vm_app_days where day < ${today}::date - ${daysKept}::int`;
}

/** Today's row of applications: their open findings as they are. */
async function countOpen(tx: Tx, which: Fragment, today: string, now: Date): Promise<number> {
  const { count } = await tx`
    insert into vm_app_days (application_id, day, open_critical, open_high, open_medium, open_low, open_info, overdue,
      kev, sources)
    select a.id, ${today}::date, coalesce(n.open_critical, 0), coalesce(n.open_high, 0), coalesce(n.open_medium, 0),
      coalesce(n.open_low, 0), coalesce(n.open_info, 0), coalesce(n.overdue, 0), coalesce(n.kev, 0),
      coalesce(s.sources, '{}')
    from vm_applications a
      left join (select f.application_id, ${counted(tx, now)} from vm_findings f
        where f.is_open and f.source <> 'quality'
          and f.application_id in (select a.id from vm_applications a where ${which}) group by 1) n
        on n.application_id = a.id
      left join (select application_id, jsonb_object_agg(source, jsonb_build_array(n, grave)) as sources
        from (select application_id, source, count(*) as n, count(*) filter (where severity >= 3) as grave
          from vm_findings f where is_open and source <> 'quality'
            and f.application_id in (select a.id from vm_applications a where ${which}) group by 1, 2) each
        group by 1) s on s.application_id = a.id
    where ${which}
    on conflict (application_id, day) do update set open_critical = excluded.open_critical,
      open_high = excluded.open_high, open_medium = excluded.open_medium, open_low = excluded.open_low,
      open_info = excluded.open_info, overdue = excluded.overdue, kev = excluded.kev, sources = excluded.sources`;
  return count;
}

/** What happened to findings of applications from a day on, by day. */
async function countFlow(tx: Tx, which: Fragment, from: string): Promise<void> {
  const open = tx`('new', 'triaged', 'confirmed', 'in_progress', 'fix_pending', 'reopened')`;
  await tx`
    update vm_app_days d set opened = coalesce(n.opened, 0), closed = coalesce(n.closed, 0),
      fixed = coalesce(n.fixed, 0), reopened = coalesce(n.reopened, 0)
    from (select d.application_id, d.day, c.opened, c.closed, c.fixed, c.reopened from vm_app_days d
      join vm_applications a on a.id = d.application_id
      left join (
        select f.application_id, (m.at at time zone 'UTC')::date as day,
          count(*) filter (where not m.was_open and m.opens) as opened,
          count(*) filter (where m.was_open and not m.opens) as closed,
          count(*) filter (where m.was_open and m.to_status = 'resolved') as fixed,
          count(*) filter (where not m.was_open and m.opens and m.from_status is not null) as reopened
        from (select finding_id, at, from_status, to_status, coalesce(from_status in ${open}, false) as was_open,
            to_status in ${open} as opens
          from vm_transitions where at >= ${`${from}T00:00:00Z`}::text::timestamptz) m
        join vm_findings f on f.id = m.finding_id group by 1, 2) c
        on c.application_id = d.application_id and c.day = d.day
      where d.day >= ${from}::date and ${which}) n
    where d.application_id = n.application_id and d.day = n.day
      and (d.opened, d.closed, d.fixed, d.reopened) is distinct from
        (coalesce(n.opened, 0), coalesce(n.closed, 0), coalesce(n.fixed, 0), coalesce(n.reopened, 0))`;
}

/** Brings the rows up to date; returns for how many applications today's row was counted. */
export async function rollUp(sql: Sql, now: Date): Promise<number> {
  return sql.begin('isolation level repeatable read', async (tx) => {
    const [last] = await tx<Look[]>`select snapshot, as_of, looked_at from vm_rollups where name = ${name}`;
    const [here] = await tx<{ snapshot: string; clock: Date }[]>`
      select pg_current_snapshot()::text as snapshot, now() as clock`;
    if (here === undefined) throw new Error('the database gave no snapshot');
    const today = dayOf(now);
    const changed = await changedSince(tx, last, now, here.clock);
    if (last !== undefined && dayOf(last.as_of) < today) await carryOn(tx, last, today);
    let counted = 0;
    if (changed === null || changed.length > 0) {
      const which =
        changed === null ? tx`true` : tx`a.id in (select jsonb_array_elements(${tx.json(changed)})::bigint)`;
      counted = await countOpen(tx, which, today, now);
      const from = last === undefined || last.as_of > now ? now : last.as_of;
      await countFlow(tx, which, dayOf(new Date(Math.max(from.getTime(), now.getTime() - daysKept * dayMs))));
    }
    await tx`
      insert into vm_rollups (name, snapshot, as_of, looked_at)
      values (${name}, ${here.snapshot}, ${now}, ${here.clock})
      on conflict (name) do update set snapshot = excluded.snapshot, as_of = excluded.as_of,
        looked_at = excluded.looked_at`;
    return counted;
  });
}

/** When the rows were last brought up to date; null before the first time. */
export async function asOf(sql: Sql): Promise<Date | null> {
  const [row] = await sql<{ as_of: Date }[]>`select as_of from vm_rollups where name = ${name}`;
  return row?.as_of ?? null;
}
