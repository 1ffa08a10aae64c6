// What open findings say as sentences and charts: by severity, by application, found and closed over time.
import type { Fragment, Sql } from '../../database.js';
import { countText, type Chart } from '../drawn/charts.js';
import { dayIn, daysBetween } from '../time-zone.js';

const severities = ['info', 'low', 'medium', 'high', 'critical'] as const;
const colours = ['#9aa7b8', '#4f9d69', '#c9a227', '#d9762b', '#c0392b'] as const;

export interface Trends {
  /** Open, by severity: 0 info to 4 critical. */
  readonly bySeverity: readonly number[];
  readonly byApplication: readonly { readonly name: string; readonly n: number; readonly urgent: number }[];
  readonly applications: number;
  readonly days: readonly { readonly day: string; readonly found: number; readonly closed: number }[];
  /** Half of what was closed in the period was closed within so many days; null: nothing was closed. */
  readonly medianDays: number | null;
}

export interface When {
  readonly now: Date;
  readonly zone: string;
  readonly days: number;
  /** The first hour of the first of those days. */
  readonly from: Date;
}

/** Hours are counted, so that days of every zone with whole hours are exact. */
async function readDays(sql: Sql, where: Fragment, { now, zone, from }: When): Promise<Trends['days']> {
  const rows = await sql<{ hour: Date; found: number; closed: number }[]>`
    select hour, sum(found)::int as found, sum(closed)::int as closed from (
      select date_trunc('hour', first_seen) as hour, 1 as found, 0 as closed from vm_findings
        where first_seen >= ${from} and first_seen <= ${now} and ${where}
      union all
      select date_trunc('hour', closed_at), 0, 1 from vm_findings
        where closed_at >= ${from} and closed_at <= ${now} and not is_open and ${where}) each
    group by hour order by hour`;
  const counted = new Map(daysBetween(zone, from, now).map((day) => [day, { found: 0, closed: 0 }]));
  for (const { hour, found, closed } of rows) {
    const of = counted.get(dayIn(zone, hour));
    if (of === undefined) continue;
    of.found += found;
    of.closed += closed;
  }
  return [...counted].map(([day, of]) => ({ day, ...of }));
}

export async function readTrends(sql: Sql, where: Fragment, when: When): Promise<Trends> {
  const counted = await sql<{ severity: number; n: number }[]>`
    select severity, count(*)::int as n from vm_findings where is_open and ${where} group by severity`;
  const byApplication = await sql<{ name: string; n: number; urgent: number; applications: number }[]>`
    select a.name, f.n, f.urgent, (count(*) over ())::int as applications from (
      select application_id, count(*)::int as n, count(*) filter (where severity >= 3)::int as urgent
      from vm_findings where is_open and ${where} group by application_id) f
    join vm_applications a on a.id = f.application_id order by f.urgent desc, f.n desc, a.name limit 8`;
  const [closed] = await sql<{ days: number | null }[]>`
    select percentile_cont(0.5) within group (order by extract(epoch from closed_at - first_seen)) / 86400 as days
    from vm_findings where not is_open and closed_at >= ${when.from} and closed_at <= ${when.now} and ${where}`;
  return {
    bySeverity: severities.map((_, at) => counted.find(({ severity }) => severity === at)?.n ?? 0),
    byApplication: byApplication.map(({ name, n, urgent }) => ({ name, n, urgent })),
    applications: byApplication[0]?.applications ?? 0,
    days: await readDays(sql, where, when),
    medianDays: closed?.days == null ? null : Number(closed.days),
  };
}

const plural = (n: number, one: string, many = `${one}s`): string => `${countText(n)} ${n === 1 ? one : many}`;
const isAre = (n: number): string => (n === 1 ? 'is' : 'are');

export function trendSentences(
  { bySeverity, byApplication, applications, days, medianDays }: Trends,
  { open, known_exploited: kev, overdue }: { open: number; known_exploited: number; overdue: number },
  period: number,
): string[] {
  const [found, closed] = [days.reduce((n, one) => n + one.found, 0), days.reduce((n, one) => n + one.closed, 0)];
  const of = severities.map((name, at) => [name, bySeverity[at] ?? 0] as const).filter(([, n]) => n > 0);
  const parts = of.reverse().map(([name, n]) => `${countText(n)} ${name}`);
  const sentences =
    open === 0
      ? ['No findings are open.']
      : [
          `${plural(open, 'finding')} ${isAre(open)} open in ${plural(applications, 'application')}: ` +
            `${parts.join(', ')}.`,
          `${plural(kev, 'open finding')} ${isAre(kev)} known to be exploited; ${countText(overdue)} ` +
            `${isAre(overdue)} overdue.`,
        ];
  const trend = found === closed ? 'as many as came up' : found > closed ? 'fewer than came up' : 'more than came up';
  sentences.push(
    `In the last ${plural(period, 'day')} ${plural(found, 'finding')} came up and ${countText(closed)} ` +
      `${closed === 1 ? 'was' : 'were'} closed${found + closed === 0 ? '' : `, ${trend}`}.`,
  );
  if (medianDays !== null)
    sentences.push(
      `Half of what was closed in this time was closed within ${plural(Math.ceil(medianDays), 'day')} of its ` +
        'first sight.',
    );
  const [first] = byApplication;
  if (first !== undefined && first.urgent > 0 && applications > 1)
    sentences.push(`Most critical and high findings are in ${first.name}: ${countText(first.urgent)}.`);
  return sentences;
}

export const trendCharts = ({ bySeverity, byApplication, days }: Trends): Chart[] => [
  {
    kind: 'bars',
    title: 'Open findings by severity',
    bars: severities
      .map((label, at) => ({ label, value: bySeverity[at] ?? 0, colour: colours[at] ?? colours[0] }))
      .reverse(),
  },
  {
    kind: 'beside',
    title: 'Found and closed, by day',
    names: ['found', 'closed'],
    columns: days.map(({ day, found, closed }) => ({ label: day.slice(5), values: [found, closed] })),
  },
  {
    kind: 'bars',
    title: 'Open findings by application, those with the most urgent ones first',
    bars: byApplication.map(({ name, n }) => ({ label: name, value: n })),
  },
];
