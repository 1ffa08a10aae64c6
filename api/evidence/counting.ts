// Evidence for tuning: how often each rule trips on which site, and whether anybody still comes by where an exclusion
// applies. Counted from the stored request records as they come in, by id, each record once; when more comes than can
// be counted, the oldest is left out and that is said. An exclusion is counted by its scope (method and path): requests
// that it applies to, not requests that would have tripped without it, which nobody can know without inspecting them
// twice.
import type { Database, Queryable } from '../db/client.js';
import { pathPattern, roughPattern, scopeOf, type Exclusion } from './scope.js';

/**
 * Records of one statement. On the embedded database others wait for it: some ten milliseconds, also with many
 * exclusions.
 */
const chunkRows = (kind: Database['kind'], exclusions: number): number =>
  kind === 'postgres' ? 20_000 : Math.max(100, Math.floor(1000 / (1 + exclusions / 50)));
/** How long one round lets an apply go first. */
const patienceMs = 2000;
const rowsPerRun = 400_000;
const keptDays = 90;
const dayMs = 86_400_000;

interface State {
  readonly since: Date;
  readonly counted_at: Date;
  readonly counted_to: number;
  readonly skipped: number;
}

/**
 * Counts what came since the last call; returns how many records that were. Call on one server at a time (a job of the
 * leader).
 */
export async function countEvidence(
  { sql, kind, untilQuiet }: Pick<Database, 'sql' | 'kind' | 'untilQuiet'>,
  exclusions: readonly Exclusion[],
  now: Date,
  signal?: AbortSignal,
): Promise<number> {
  const [newest] = await sql<{ id: number | null }[]>`select max(id) as id from request_records`;
  const last = newest?.id ?? 0;
  // nothing from before the counting began: it would be evidence of some days and not of others
  await sql`
    insert into evidence_state (since, counted_at, counted_to) values (${now}, ${now}, ${last})
    on conflict do nothing`;
  const [state] = await sql<State[]>`select * from evidence_state`;
  if (state === undefined) throw new Error('the counting has no beginning');
  const live = exclusions.filter(
    ({ enabled, expires_at }) => enabled && (expires_at === null || Date.parse(expires_at) > now.getTime()),
  );
  if (live.length > 0) await watch(sql, live, now);
  let from = Math.max(state.counted_to, last - rowsPerRun);
  const skipped = from - state.counted_to;
  const begun = from;
  for (let hasWaited = false; from < last && signal?.aborted !== true; ) {
    if (!hasWaited) hasWaited = await untilQuiet(patienceMs);
    const to = Math.min(last, from + chunkRows(kind, live.length));
    await countChunk(sql, live, from, to, from === begun ? skipped : 0, now);
    from = to;
  }
  if (state.counted_at.toISOString().slice(0, 10) !== now.toISOString().slice(0, 10)) await prune(sql, now);
  return from - begun;
}

/**
 * One statement: the counters and how far they go are never apart. Each exclusion looks through all paths, not each
 * path through all exclusions: the database keeps 32 compiled expressions, and with more would compile one for every
 * comparison.
 */
async function countChunk(
  sql: Queryable,
  live: readonly Exclusion[],
  from: number,
  to: number,
  skipped: number,
  now: Date,
): Promise<void> {
  const scopes = JSON.stringify(
    live.map((one) => ({
      id: one.id,
      scope: scopeOf(one),
      method: one.method === '*' ? null : one.method,
      rough: roughPattern(one.path),
      pattern: pathPattern(one.path),
    })),
  );
  await sql`
    with chunk as materialized (
      select at, site, method, uri, rule_ids from request_records where id > ${from} and id <= ${to}),
    hits as (
      insert into rule_hits (rule_id, site, day, hits, last_at)
      select rule.value::bigint, site, at::date, count(*), max(at)
      from chunk, jsonb_array_elements_text(rule_ids) as rule (value) where rule_ids <> '[]' group by 1, 2, 3
      on conflict (rule_id, site, day) do update
      set hits = rule_hits.hits + excluded.hits, last_at = greatest(rule_hits.last_at, excluded.last_at)),
    paths as materialized (
      select method, split_part(uri, '?', 1) as path, at::date as day, count(*) as requests, max(at) as last_at
      from chunk group by 1, 2, 3),
    uses as (
      insert into exclusion_uses (exclusion_id, scope, day, requests, last_at)
      select e.id, e.scope, own.day, own.requests, own.last_at
      from json_to_recordset(${scopes}::text::json) as e (
        id bigint, scope text, method text, rough text, pattern text)
      cross join lateral (
        select day, sum(requests) as requests, max(last_at) as last_at from paths
        where (e.method is null or e.method = paths.method) and path like e.rough
          and (e.pattern is null or path ~ e.pattern)
        group by day) as own
      on conflict (exclusion_id, scope, day) do update
      set requests = exclusion_uses.requests + excluded.requests,
        last_at = greatest(exclusion_uses.last_at, excluded.last_at))
    update evidence_state
    set counted_to = ${to}, counted_at = ${now}, skipped = evidence_state.skipped + ${skipped}`;
}

/** A row for today, with 0 when nobody comes: that an exclusion was watched is evidence, too. */
async function watch(sql: Queryable, live: readonly Exclusion[], now: Date): Promise<void> {
  const scopes = JSON.stringify(live.map((one) => ({ id: one.id, scope: scopeOf(one) })));
  await sql`
    insert into exclusion_uses (exclusion_id, scope, day)
    select id, scope, ${now}::timestamptz::date
    from json_to_recordset(${scopes}::text::json) as e (id bigint, scope text)
    on conflict do nothing`;
}

async function prune(sql: Queryable, now: Date): Promise<void> {
  const before = new Date(now.getTime() - keptDays * dayMs);
  await sql`delete from rule_hits where day < ${before}::timestamptz::date`;
  await sql`delete from exclusion_uses where day < ${before}::timestamptz::date`;
}
