// Events counted as they come in, each once, by id: ids are handed out in the order of commits. What is counted here
// lets the workbench answer over millions of events without reading them.
import type { Database, Queryable } from '../../db/client.js';

const rowsPerChunk = { postgres: 100_000, embedded: 2000 } as const;
const rowsPerRun = 20_000_000;
const patienceMs = 2000;

/** How far events are counted: those with a larger id are read themselves. */
export async function countedTo(sql: Queryable): Promise<number> {
  const [state] = await sql<{ counted_to: number }[]>`select counted_to from event_counting`;
  return state?.counted_to ?? 0;
}

const newestId = async (sql: Queryable): Promise<number> =>
  (await sql<{ id: number | null }[]>`select max(id) as id from security_events`)[0]?.id ?? 0;

/** Whether more events than this are in no count by hour yet. Requests have ids of the same sequence. */
export async function isFarBehind(sql: Queryable, counted: number, most: number): Promise<boolean> {
  if ((await newestId(sql)) - counted <= most) return false;
  const [row] = await sql<{ n: number }[]>`
    select count(*) as n from (select 1 from security_events where id > ${counted} limit ${most + 1}) as uncounted`;
  return (row?.n ?? 0) > most;
}

/** Whether events of the range were stored before there were categories; an index has these alone. */
export async function hasUncategorised(sql: Queryable, { from, to }: { from: Date; to: Date }): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`
    select exists (select 1 from security_events where category is null and at >= ${from} and at < ${to}) as found`;
  return row?.found ?? false;
}

/** Returns how many ids were passed. One server at a time (a job of the leader). */
export async function countEvents(
  { sql, kind, untilQuiet }: Pick<Database, 'sql' | 'kind' | 'untilQuiet'>,
  signal?: AbortSignal,
): Promise<number> {
  await sql`insert into event_counting (counted_to) values (0) on conflict do nothing`;
  const begun = await countedTo(sql);
  const last = Math.min(await newestId(sql), begun + rowsPerRun);
  let from = begun;
  if (from < last) await untilQuiet(patienceMs);
  while (from < last && signal?.aborted !== true) {
    const to = Math.min(last, from + rowsPerChunk[kind]);
    await countChunk(sql, from, to);
    from = to;
  }
  return from - begun;
}

/** One statement: the counts and how far they go are stored together. */
async function countChunk(sql: Queryable, from: number, to: number): Promise<void> {
  await sql`
    with hours as (
      insert into event_hours as h (hour, site, category, rule_id, verdict, status, n)
      select date_trunc('hour', at, 'UTC'), site, coalesce(category, 'other'), coalesce(rule_id, 0), verdict, status,
        count(*)
      from security_events where id > ${from} and id <= ${to}
      group by 1, 2, 3, 4, 5, 6
      on conflict (hour, site, category, rule_id, verdict, status) do update set n = h.n + excluded.n
    )
    update event_counting set counted_to = ${to}`;
}

/** With the records that retention removes. */
export async function pruneCounts(sql: Queryable, before: Date): Promise<void> {
  await sql`delete from event_hours where hour < date_trunc('day', ${before}::timestamptz, 'UTC')`;
}
