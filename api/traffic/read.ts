// Counts of the request log. Each uses the same window (from inclusive, to exclusive) and the same columns as the list
// of GET /api/requests, so that a number and the list behind it agree.
import type { Queryable } from '../db/client.js';

export interface Window {
  readonly from: Date;
  readonly to: Date;
  readonly buckets: number;
  readonly top: number;
  /** Records up to this id; null: all that are stored now. */
  readonly asOf: number | null;
  /** null: all of them. */
  readonly site: string | null;
}

interface Counted {
  readonly requests: number;
  readonly blocked: number;
}

const newestRecord = async (sql: Queryable): Promise<number> =>
  (await sql<{ id: number }[]>`select coalesce(max(id), 0) as id from request_records`)[0]?.id ?? 0;

/**
 * Every number counts stored records of [from, to) up to one and the same record, which the answer names: what is
 * stored between two of these statements, or before a list is opened, changes none of them.
 */
export async function readTraffic(sql: Queryable, { from, to, buckets, top, asOf, site }: Window) {
  const newest = asOf ?? (await newestRecord(sql));
  const bucketSeconds = Math.max(1, Math.ceil((to.getTime() - from.getTime()) / 1000 / buckets));
  const ofSite = site === null ? sql`` : sql`and site = ${site}`;
  const inWindow = sql`at >= ${from} and at < ${to} and id <= ${newest} ${ofSite}`;
  const counted = sql`count(*)::int as requests, (count(*) filter (where verdict = 'block'))::int as blocked`;
  const series = await sql<(Counted & { slot: number })[]>`
    select floor(extract(epoch from at - ${from}::timestamptz) / ${bucketSeconds})::int as slot, ${counted}
    from request_records where ${inWindow} group by slot`;
  const verdicts = await sql<{ verdict: string; requests: number }[]>`
    select verdict, count(*)::int as requests from request_records where ${inWindow}
    group by verdict order by requests desc, verdict`;
  const rules = await sql<{ rule_id: number; requests: number }[]>`
    select rule_id::int as rule_id, count(*)::int as requests from (
      select distinct id, jsonb_array_elements_text(rule_ids) as rule_id from request_records where ${inWindow}
    ) as matched group by rule_id order by requests desc, rule_id limit ${top}`;
  const topOf = <T>(name: 'client_ip' | 'site') => sql<(T & Counted)[]>`
    select ${sql(name)}, ${counted} from request_records where ${inWindow}
    group by ${sql(name)} order by requests desc, ${sql(name)} limit ${top}`;
  const clients = await topOf<{ client_ip: string }>('client_ip');
  const sites = await topOf<{ site: string }>('site');
  const paths = await sql<({ path: string } & Counted)[]>`
    select split_part(uri, '?', 1) as path, ${counted} from request_records where ${inWindow}
    group by path order by requests desc, path limit ${top}`;
  const bySlot = new Map(series.map((one) => [one.slot, one]));
  const slots = Math.ceil((to.getTime() - from.getTime()) / 1000 / bucketSeconds);
  const sum = (name: keyof Counted): number => series.reduce((total, one) => total + one[name], 0);
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    as_of: newest,
    requests: sum('requests'),
    blocked: sum('blocked'),
    flagged: verdicts.find(({ verdict }) => verdict === 'flag')?.requests ?? 0,
    bucket_seconds: bucketSeconds,
    series: Array.from({ length: slots }, (_, slot) => ({
      at: new Date(from.getTime() + slot * bucketSeconds * 1000).toISOString(),
      requests: bySlot.get(slot)?.requests ?? 0,
      blocked: bySlot.get(slot)?.blocked ?? 0,
    })),
    verdicts: [...verdicts],
    rules: [...rules],
    clients: [...clients],
    paths: [...paths],
    sites: [...sites],
  };
}
