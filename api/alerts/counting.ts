// What rules measure: requests counted as they come in, each once, by the id of its record (ids are handed out in the
// order of commits). Slots are ten seconds, so that a window is right to ten seconds.
import { listEnds } from '../certificates/store.js';
import type { Database, Queryable } from '../db/client.js';
import type { AlertRule, Metric } from './rule.js';

export const slotMs = 10_000;
/** A day, the longest window, and some time for records that come late. */
const keptMs = 26 * 3_600_000;
const rowsPerRun = 1_000_000;
const chunkRows = { embedded: 2000, postgres: 50_000 } as const;

/** Counts what came since the last call. The first call begins with what comes next. */
export async function countRequests({ sql, kind }: Database, now: Date, signal?: AbortSignal): Promise<number> {
  const [newest] = await sql<{ id: number | null }[]>`select max(id) as id from request_records`;
  const last = newest?.id ?? 0;
  await sql`insert into alert_cursor (counted_to) values (${last}) on conflict do nothing`;
  const [cursor] = await sql<{ counted_to: number }[]>`select counted_to from alert_cursor`;
  let from = Math.max(cursor?.counted_to ?? last, last - rowsPerRun);
  const begun = from;
  while (from < last && signal?.aborted !== true) {
    const to = Math.min(last, from + chunkRows[kind]);
    // one statement: the counts and how far they go are never apart, and another server that counted is noticed
    const moved = await sql`
      with moved as (
        update alert_cursor set counted_to = ${to} where counted_to <= ${from} returning 1),
      counted as (
        insert into alert_counts (slot, site, requests, blocked, errors)
        select to_timestamp(floor(extract(epoch from at) / 10) * 10), site, count(*),
          count(*) filter (where verdict in ('block', 'blocked')), count(*) filter (where status >= 500)
        from request_records where id > ${from} and id <= ${to} and exists (select 1 from moved)
        group by 1, 2 order by 1, 2
        on conflict (slot, site) do update set requests = alert_counts.requests + excluded.requests,
          blocked = alert_counts.blocked + excluded.blocked, errors = alert_counts.errors + excluded.errors)
      select 1 from moved`;
    if (moved.length === 0) break;
    from = to;
  }
  await sql`delete from alert_counts where slot < ${new Date(now.getTime() - keptMs)}`;
  return from - begun;
}

export interface Measured {
  readonly from: Date;
  readonly to: Date;
  readonly requests: number;
  readonly blocked: number;
  readonly errors: number;
  /** Whether there were requests before the window, within the last day. */
  readonly hadTraffic: boolean;
  /** Of the rule's metric; null: there is nothing to measure. */
  readonly value: number | null;
  readonly holds: boolean;
}

/**
 * What a rule measures at a moment. `isFiring`: it fires already; what is missing then is missing until it is back,
 * also when the day before has nothing any more to compare with.
 */
export async function measure(sql: Queryable, rule: AlertRule, now: Date, isFiring: boolean): Promise<Measured> {
  const from = new Date(Math.ceil((now.getTime() - rule.window_min * 60_000) / slotMs) * slotMs);
  const ofSite = rule.site === null ? sql`` : sql`and site = ${rule.site}`;
  const [sums] = await sql<{ requests: number; blocked: number; errors: number; before: boolean }[]>`
    select coalesce(sum(requests), 0)::bigint as requests, coalesce(sum(blocked), 0)::bigint as blocked,
      coalesce(sum(errors), 0)::bigint as errors,
      exists (select 1 from alert_counts where slot < ${from} ${ofSite}) as before
    from alert_counts where slot >= ${from} and slot <= ${now} ${ofSite}`;
  const { requests = 0, blocked = 0, errors = 0, before = false } = sums ?? {};
  const count = besideRequests[rule.metric];
  const value =
    count === undefined ? valueOf(rule, { requests, blocked, errors }) : await count(sql, rule.site, from, now);
  return {
    from,
    to: now,
    requests,
    blocked,
    errors,
    hadTraffic: before,
    value,
    holds: holdsAt(rule, value, before || isFiring),
  };
}

type Count = (sql: Queryable, site: string | null, from: Date, now: Date) => Promise<number | null>;

/** Metrics that are counted where their events are stored, each row once, by the moment at which it was found. */
const besideRequests: Readonly<Partial<Record<Metric, Count>>> = {
  self_test_lost: async (sql, site, from) => {
    const ofSite = site === null ? sql`` : sql`and site = ${site}`;
    const [row] = await sql<{ n: number }[]>`
      select coalesce(sum(jsonb_array_length(lost)), 0)::bigint as n from self_tests
      where ended_at >= ${from} and jsonb_typeof(lost) = 'array' ${ofSite}`;
    return row?.n ?? 0;
  },
  certificate_days: async (sql, _site, _from, now) => {
    const endsAt = (await listEnds(sql)).map(({ not_after: end }) => end.getTime());
    return endsAt.length === 0 ? null : (Math.min(...endsAt) - now.getTime()) / 86_400_000;
  },
  api_threats: async (sql, site, from) => {
    const ofSite = site === null ? sql`` : sql`and site = ${site}`;
    const [row] = await sql<{ n: number }[]>`
      select count(*) as n from api_threats where found_at >= ${from} and status <> 'dismissed' ${ofSite}`;
    return row?.n ?? 0;
  },
};
export const metricsBesideRequests: ReadonlySet<Metric> = new Set(Object.keys(besideRequests) as Metric[]);

function valueOf({ metric }: AlertRule, sums: Pick<Measured, 'requests' | 'blocked' | 'errors'>): number | null {
  if (metric === 'block_rate') return sums.requests === 0 ? null : (sums.blocked / sums.requests) * 100;
  if (metric === 'blocked' || metric === 'errors') return sums[metric];
  return sums.requests;
}

function holdsAt({ metric, comparison, threshold }: AlertRule, value: number | null, isAwaited: boolean): boolean {
  if (value === null) return false;
  if (metric === 'missing_data') return isAwaited && value <= threshold;
  return comparison === 'above' ? value > threshold : value < threshold;
}
