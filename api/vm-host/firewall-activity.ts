// Security events of a time for reports, exact by hour. No client is named: reports are read by people who may not read
// events.
import type { FirewallActivity } from '#vm-manager';
import { eventCategories, isCategory } from '../events/summary/categories.js';
import type { Parts } from '../parts.js';

interface HourRow {
  readonly at: Date;
  readonly category: string;
  readonly site: string;
  readonly n: number;
  readonly blocked: number;
}

const nameOf = (category: string): string => (isCategory(category) ? eventCategories[category].name : category);

function sumBy(rows: readonly HourRow[], keyOf: (row: HourRow) => string) {
  const sums = new Map<string, { n: number; blocked: number }>();
  for (const row of rows) {
    const sum = sums.get(keyOf(row)) ?? { n: 0, blocked: 0 };
    sums.set(keyOf(row), { n: sum.n + row.n, blocked: sum.blocked + row.blocked });
  }
  return [...sums].map(([name, sum]) => ({ name, ...sum })).sort((a, b) => b.n - a.n || (a.name < b.name ? -1 : 1));
}

export function createFirewallActivity({ database }: Pick<Parts, 'database'>) {
  const { sql } = database;
  return async ({ from, to }: { readonly from: Date; readonly to: Date }): Promise<FirewallActivity> => {
    const fresh = sql`id > (select coalesce(max(counted_to), 0) from event_counting)`;
    const seen = sql`
      select hour as at, site, category, verdict, n from event_hours
      union all
      select date_trunc('hour', at), site, coalesce(category, 'other'), verdict, 1 from security_events where ${fresh}`;
    const rows = await sql<HourRow[]>`
      select at, category, site, sum(n)::bigint as n,
        coalesce(sum(n) filter (where verdict = 'block'), 0)::bigint as blocked
      from (${seen}) as each where at >= ${from} and at < ${to} group by at, category, site`;
    const start = new Date(from.getTime() - (to.getTime() - from.getTime()));
    const [older] = await sql<{ first: Date | null; before: number }[]>`
      select least(
          (select min(hour) from event_hours),
          (select min(date_trunc('hour', at)) from security_events where ${fresh})
        ) as first,
        (select coalesce(sum(n), 0)::bigint from (${seen}) as each where at >= ${start} and at < ${from}) as before`;
    const hours = sumBy(rows, ({ at }) => at.toISOString());
    const first = older?.first ?? null;
    return {
      hours: hours.map(({ name, n, blocked }) => ({ at: new Date(name), n, blocked })),
      before: first !== null && first <= start ? (older?.before ?? 0) : null,
      recordedFrom: first,
      categories: sumBy(rows, ({ category }) => category).map((one) => ({ ...one, name: nameOf(one.name) })),
      sites: sumBy(rows, ({ site }) => site).map(({ name, n }) => ({ name, n })),
    };
  };
}
