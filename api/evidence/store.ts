// Evidence for tuning: how often each rule trips on which site, and whether anybody still comes by where an exclusion
// applies. Counted from the stored request records as they come in, by id, each record once; when more comes than can
// be counted, the oldest is left out and that is said. An exclusion is counted by its scope (method and path): requests
// that it applies to, not requests that would have tripped without it, which nobody can know without inspecting them
// twice.
import { createHash } from 'node:crypto';
import type { Database, Queryable } from '../db/client.js';
import type { Settings } from '../settings/schema.js';

export type Exclusion = Settings['rule_exclusions'][number];

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

/** What it excludes, in short: an exclusion that is changed, or another one under its id, is counted anew. */
function scopeOf({ rule_id, tag, target, path, method }: Exclusion): string {
  return createHash('sha256')
    .update(JSON.stringify([rule_id, tag, target, path, method]))
    .digest('hex')
    .slice(0, 16);
}

/**
 * `/a/*` + `/b` → an expression of the database for the path as it was sent, up to the query; null matches every path.
 */
export function pathPattern(path: string | null): string | null {
  if (path === null) return null;
  const segments = path
    .replace(/(?:\/\*?)+$/, '')
    .split('/')
    .map((segment) =>
      segment
        .split('*')
        .map((part) => part.replace(/[^A-Za-z0-9_-]/g, '\\$&'))
        .join('[^/?#]*'),
    );
  return `^${segments.join('/')}([/?#]|$)`;
}

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
  await sql`insert into evidence_state (since, counted_at, counted_to) values (${now}, ${now}, ${last}) on conflict do nothing`;
  const [state] = await sql<State[]>`select * from evidence_state`;
  if (state === undefined) throw new Error('the counting has no beginning');
  const live = exclusions.filter(
    ({ enabled, expires_at }) => enabled && (expires_at === null || Date.parse(expires_at) > now.getTime()),
  );
  if (live.length > 0) {
    await sql`insert into exclusion_uses (exclusion_id, scope, day)
      select id, scope, ${now}::timestamptz::date from json_to_recordset(${JSON.stringify(live.map((one) => ({ id: one.id, scope: scopeOf(one) })))}::text::json) as e (id bigint, scope text) on conflict do nothing`;
  }
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
 * A `like` that holds for every path that `pathPattern` matches, and many times cheaper: it rules out nearly all of
 * them.
 */
export const roughPattern = (path: string | null): string =>
  `${(path ?? '')
    .replace(/(?:\/\*?)+$/, '')
    .replace(/[\\%_]/g, '\\$&')
    .replaceAll('*', '%')}%`;

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
    with chunk as materialized (select at, site, method, uri, rule_ids from request_records where id > ${from} and id <= ${to}),
    hits as (
      insert into rule_hits (rule_id, site, day, hits, last_at)
      select rule.value::bigint, site, at::date, count(*), max(at) from chunk, jsonb_array_elements_text(rule_ids) as rule (value) where rule_ids <> '[]' group by 1, 2, 3
      on conflict (rule_id, site, day) do update set hits = rule_hits.hits + excluded.hits, last_at = greatest(rule_hits.last_at, excluded.last_at)),
    paths as materialized (select method, split_part(uri, '?', 1) as path, at::date as day, count(*) as requests, max(at) as last_at from chunk group by 1, 2, 3),
    uses as (
      insert into exclusion_uses (exclusion_id, scope, day, requests, last_at)
      select e.id, e.scope, own.day, own.requests, own.last_at from json_to_recordset(${scopes}::text::json) as e (id bigint, scope text, method text, rough text, pattern text)
      cross join lateral (
        select day, sum(requests) as requests, max(last_at) as last_at from paths
        where (e.method is null or e.method = paths.method) and path like e.rough and (e.pattern is null or path ~ e.pattern) group by day) as own
      on conflict (exclusion_id, scope, day) do update set requests = exclusion_uses.requests + excluded.requests, last_at = greatest(exclusion_uses.last_at, excluded.last_at))
    update evidence_state set counted_to = ${to}, counted_at = ${now}, skipped = evidence_state.skipped + ${skipped}`;
}

async function prune(sql: Queryable, now: Date): Promise<void> {
  const before = new Date(now.getTime() - keptDays * dayMs);
  await sql`delete from rule_hits where day < ${before}::timestamptz::date`;
  await sql`delete from exclusion_uses where day < ${before}::timestamptz::date`;
}

export interface RuleHits {
  readonly rule_id: number;
  readonly hits: number;
  readonly last_at: Date;
  readonly sites: readonly { readonly site: string; readonly hits: number }[];
}

/** Rules that tripped since then, the busiest first; `range`: ids, both ends included. */
export async function findRuleHits(
  sql: Queryable,
  from: Date,
  range: readonly [number, number],
  limit: number,
): Promise<RuleHits[]> {
  return sql<RuleHits[]>`
    select rule_id, sum(hits)::bigint as hits, max(last_at) as last_at, json_agg(json_build_object('site', site, 'hits', hits) order by hits desc, site) as sites
    from (select rule_id, site, sum(hits)::bigint as hits, max(last_at) as last_at from rule_hits where day >= ${from}::timestamptz::date and rule_id between ${range[0]} and ${range[1]} group by rule_id, site) by_site
    group by rule_id order by 2 desc, rule_id limit ${limit}`;
}

export interface ExclusionUse {
  /** First day it was watched; null: not yet. */
  readonly watchedSince: Date | null;
  readonly requests: number;
  readonly lastAt: Date | null;
}

export async function findExclusionUses(sql: Queryable, from: Date): Promise<(exclusion: Exclusion) => ExclusionUse> {
  const rows = await sql<
    { exclusion_id: number; scope: string; since: Date; requests: number; last_at: Date | null }[]
  >`
    select exclusion_id, scope, min(day)::timestamptz as since, coalesce(sum(requests) filter (where day >= ${from}::timestamptz::date), 0)::bigint as requests, max(last_at) as last_at from exclusion_uses group by 1, 2`;
  const known = new Map(rows.map((row) => [`${row.exclusion_id} ${row.scope}`, row]));
  return (exclusion) => {
    const row = known.get(`${exclusion.id} ${scopeOf(exclusion)}`);
    return { watchedSince: row?.since ?? null, requests: row?.requests ?? 0, lastAt: row?.last_at ?? null };
  };
}

export type Proposal =
  | { readonly action: 'keep' | 'remove'; readonly reason: string; readonly expires_at: null }
  | { readonly action: 'renew' | 'limit'; readonly reason: string; readonly expires_at: string };

export const idleDays = 30;
const soonDays = 14;
const renewedDays = 90;

/**
 * What to do about an exclusion, for people to decide; nothing is changed by itself. `skipped`: records were left out,
 * so "nobody came" cannot be said.
 */
export function proposeFor(exclusion: Exclusion, use: ExclusionUse, nowMs: number, skipped: boolean): Proposal {
  const decide = (action: 'keep' | 'remove', reason: string): Proposal => ({ action, reason, expires_at: null });
  const later = new Date(Math.ceil(nowMs / dayMs) * dayMs + renewedDays * dayMs).toISOString();
  const expiresMs = exclusion.expires_at === null ? Infinity : Date.parse(exclusion.expires_at);
  if (expiresMs <= nowMs) return decide('remove', 'it has expired and does nothing');
  if (!exclusion.enabled) return decide('keep', 'it is switched off');
  const watchedMs = use.watchedSince === null ? 0 : nowMs - use.watchedSince.getTime();
  const isIdle = use.requests === 0 && watchedMs >= idleDays * dayMs;
  if (isIdle && !skipped) return decide('remove', `no request came where it applies for ${idleDays} days`);
  if (expiresMs - nowMs <= soonDays * dayMs) {
    return use.requests === 0
      ? decide('keep', 'it expires soon, and nobody came by lately')
      : {
          action: 'renew',
          reason: `it expires soon and applied to ${use.requests} requests in ${idleDays} days; have the application mended, or let it last longer`,
          expires_at: later,
        };
  }
  if (exclusion.expires_at === null)
    return { action: 'limit', reason: 'it never expires; with an end somebody looks at it again', expires_at: later };
  if (watchedMs < idleDays * dayMs) return decide('keep', `it is watched for less than ${idleDays} days`);
  return decide(
    'keep',
    use.requests > 0
      ? `it applied to ${use.requests} requests in ${idleDays} days`
      : 'records were left out of the counting, so that nobody came cannot be said',
  );
}
