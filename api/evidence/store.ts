// What was counted (counting.ts): hits of rules, and requests that exclusions applied to.
import type { Queryable } from '../db/client.js';
import { scopeOf, type Exclusion } from './scope.js';

export interface EvidenceState {
  readonly since: Date;
  readonly counted_at: Date;
  /** Records that were left out because too much came at once. */
  readonly skipped: number;
}

/** undefined: nothing was counted yet. */
export async function findEvidenceState(sql: Queryable): Promise<EvidenceState | undefined> {
  const [state] = await sql<EvidenceState[]>`select since, counted_at, skipped from evidence_state`;
  return state;
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
    select rule_id, sum(hits)::bigint as hits, max(last_at) as last_at,
      json_agg(json_build_object('site', site, 'hits', hits) order by hits desc, site) as sites
    from (
      select rule_id, site, sum(hits)::bigint as hits, max(last_at) as last_at from rule_hits
      where day >= ${from}::timestamptz::date and rule_id between ${range[0]} and ${range[1]}
      group by rule_id, site) by_site
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
    select exclusion_id, scope, min(day)::timestamptz as since, max(last_at) as last_at,
      coalesce(sum(requests) filter (where day >= ${from}::timestamptz::date), 0)::bigint as requests
    from exclusion_uses group by 1, 2`;
  const known = new Map(rows.map((row) => [`${row.exclusion_id} ${row.scope}`, row]));
  return (exclusion) => {
    const row = known.get(`${exclusion.id} ${scopeOf(exclusion)}`);
    return { watchedSince: row?.since ?? null, requests: row?.requests ?? 0, lastAt: row?.last_at ?? null };
  };
}
