// Who came lately, out of the request log: TLS clients by their fingerprints, and programs by their User-Agent. The
// newest requests are looked at and no others, so that the answer costs the same however long the log is; what a
// database does not store (ordinary requests beyond its limit) is not counted.
import type { Queryable } from '../db/client.js';

/** How far back is looked, and at how many requests. */
export const recentMs = 3_600_000;
export const recentRequestsMax = 10_000;
/** Fingerprints and User-Agents that are returned; the rest is left out, the rarest first. */
const fingerprintsMax = 50;
const agentsMax = 1000;

/** Of some of the newest requests. */
export interface RecentCount {
  readonly requests: number;
  /** Refused by a gate or by rules. */
  readonly blocked: number;
  /** Bodies of answers, in bytes on the wire. */
  readonly bytes: number;
  readonly last_at: Date;
}

export interface RecentFingerprint extends RecentCount {
  readonly ja3: string;
  readonly ja4: string;
  /** Addresses that had it. */
  readonly clients: number;
  /** Different User-Agents that it had, and the last of them. */
  readonly user_agents: number;
  readonly user_agent: string;
}

export interface RecentAgent extends RecentCount {
  readonly user_agent: string;
}

const recent = (sql: Queryable, now: Date) => sql`
  select ja3, ja4, client_ip, user_agent, verdict, response_bytes, at from request_records
  where at > ${new Date(now.getTime() - recentMs)} and at <= ${now}
  order by at desc, id desc limit ${recentRequestsMax}`;

const counts = (sql: Queryable) => sql`
  count(*)::int as requests, (count(*) filter (where verdict in ('block', 'blocked', 'refused')))::int as blocked,
  sum(response_bytes)::float8 as bytes, max(at) as last_at`;

/** TLS clients of the newest requests, the most frequent first. */
export async function recentFingerprints(sql: Queryable, now: Date): Promise<RecentFingerprint[]> {
  return sql<RecentFingerprint[]>`
    select ja3, ja4, ${counts(sql)}, count(distinct client_ip)::int as clients,
      count(distinct user_agent)::int as user_agents, (array_agg(user_agent order by at desc))[1] as user_agent
    from (${recent(sql, now)}) as r where ja3 is not null and ja4 is not null
    group by ja3, ja4 order by requests desc, ja4, ja3 limit ${fingerprintsMax}`;
}

/** User-Agents of the newest requests, the most frequent first. */
export async function recentAgents(sql: Queryable, now: Date): Promise<RecentAgent[]> {
  return sql<RecentAgent[]>`
    select user_agent, ${counts(sql)} from (${recent(sql, now)}) as r
    where user_agent <> '' group by user_agent order by requests desc, user_agent limit ${agentsMax}`;
}
