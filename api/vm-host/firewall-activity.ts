// Security events of a time for reports, exact by hour. No client is named: reports are read by people who may not read
// events.
import type { FirewallActivity } from '#vm-manager';
import { eventCategories, isCategory } from '../events/summary/categories.js';
import type { Parts } from '../parts.js';

/** A sum of one hour, of one category or of one site: the other two are null. */
interface Sum {
  readonly at: Date | null;
  readonly category: string | null;
  readonly site: string | null;
  readonly n: number;
  readonly blocked: number;
}

const nameOf = (category: string): string => (isCategory(category) ? eventCategories[category].name : category);

export function createFirewallActivity({ database }: Pick<Parts, 'database'>) {
  const { sql } = database;
  return async ({ from, to }: { readonly from: Date; readonly to: Date }): Promise<FirewallActivity> => {
    const fresh = sql`id > (select coalesce(max(counted_to), 0) from event_counting)`;
    const seen = sql`
      select hour as at, site, category, verdict, n from event_hours
      union all
      select date_trunc('hour', at), site, coalesce(category, 'other'), verdict, 1 from security_events where ${fresh}`;
    // summed by the database: months of many sites are millions of rows
    const sums = await sql<Sum[]>`
      select at, category, site, sum(n)::bigint as n,
        coalesce(sum(n) filter (where verdict = 'block'), 0)::bigint as blocked
      from (${seen}) as each where at >= ${from} and at < ${to}
      group by grouping sets ((at), (category), (site)) order by n desc, category, site`;
    const start = new Date(from.getTime() - (to.getTime() - from.getTime()));
    const [older] = await sql<{ first: Date | null; before: number }[]>`
      select least(
          (select min(hour) from event_hours),
          (select min(date_trunc('hour', at)) from security_events where ${fresh})
        ) as first,
        (select coalesce(sum(n), 0)::bigint from (${seen}) as each where at >= ${start} and at < ${from}) as before`;
    const first = older?.first ?? null;
    return {
      hours: sums.flatMap(({ at, n, blocked }) => (at === null ? [] : [{ at, n, blocked }])),
      before: first !== null && first <= start ? (older?.before ?? 0) : null,
      recordedFrom: first,
      categories: sums.flatMap(({ category, n, blocked }) =>
        category === null ? [] : [{ name: nameOf(category), n, blocked }],
      ),
      sites: sums.flatMap(({ site, n }) => (site === null ? [] : [{ name: site, n }])),
    };
  };
}
