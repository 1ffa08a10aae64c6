// The section "Attacks and Decisions": what the firewall recorded over a time, and what it did.
import type { Tint } from '../../chains/score.js';
import { countText, type Chart } from '../drawn/charts.js';
import type { Section } from '../report.js';
import { dayIn, daysBetween } from '../time-zone.js';

interface Counted {
  readonly name: string;
  readonly n: number;
}
/** Security events of a time, counted by the firewall. */
export interface FirewallActivity {
  /** Whole hours, those without an event left out. */
  readonly hours: readonly { readonly at: Date; readonly n: number; readonly blocked: number }[];
  /** Of the time before that is as long; null: no records reach back so far. */
  readonly before: number | null;
  /** The first hour of which there are records; null: there are none. */
  readonly recordedFrom: Date | null;
  readonly categories: readonly (Counted & { readonly blocked: number })[];
  readonly sites: readonly Counted[];
}

const percent = (part: number, whole: number): string => `${whole === 0 ? 0 : Math.round((100 * part) / whole)} %`;
const plural = (n: number, one: string): string => `${countText(n)} ${one}${n === 1 ? '' : 's'}`;

function sentencesOf(of: FirewallActivity, days: Days, zone: string): string[] {
  const total = days.reduce((n, one) => n + one.n, 0);
  const blocked = days.reduce((n, one) => n + one.blocked, 0);
  if (total === 0) return ['The firewall recorded no security events in this time.'];
  const [category] = of.categories;
  const busiest = days.reduce((most, one) => (one.n > most.n ? one : most));
  const sentences = [
    `The firewall recorded ${plural(total, 'security event')} on ${plural(of.sites.length, 'site')} and blocked ` +
      `${countText(blocked)} of them (${percent(blocked, total)}).`,
  ];
  if (category !== undefined)
    sentences.push(`The most frequent kind was ${category.name}: ${percent(category.n, total)} of all events.`);
  sentences.push(`The busiest day was ${busiest.day} with ${plural(busiest.n, 'event')}.`);
  if (of.before !== null && of.before > 0) {
    const change = Math.round((100 * (total - of.before)) / of.before);
    sentences.push(
      change === 0
        ? 'That is as many as in the time of the same length before.'
        : `That is ${Math.abs(change)} % ${change > 0 ? 'more' : 'less'} than in the time of the same length before.`,
    );
  }
  const first = days[0]?.day ?? '';
  const recorded = of.recordedFrom === null ? '' : dayIn(zone, of.recordedFrom);
  if (recorded > first) sentences.push(`Records begin on ${recorded}: days before that show nothing.`);
  return sentences;
}

type Days = readonly { readonly day: string; readonly n: number; readonly blocked: number }[];

function daysOf({ hours }: FirewallActivity, { from, to, zone }: Period): Days {
  const days = new Map(daysBetween(zone, from, to).map((day) => [day, { n: 0, blocked: 0 }]));
  for (const { at, n, blocked } of hours) {
    const day = days.get(dayIn(zone, at));
    if (day === undefined) continue;
    day.n += n;
    day.blocked += blocked;
  }
  return [...days].map(([day, of]) => ({ day, ...of }));
}

interface Period {
  readonly from: Date;
  readonly to: Date;
  readonly zone: string;
}

const tintOf = (n: number, total: number): Tint => (n * 4 >= total ? 'high' : n * 20 >= total ? 'medium' : 'low');
const bars = (title: string, of: readonly Counted[]): Chart => ({
  kind: 'bars',
  title,
  bars: of.map(({ name: label, n: value }) => ({ label, value })),
});

export function firewallSection(of: FirewallActivity, title: string, period: Period): Section {
  const days = daysOf(of, period);
  const total = days.reduce((n, one) => n + one.n, 0);
  const blocked = days.reduce((n, one) => n + one.blocked, 0);
  return {
    title,
    figures: [
      ['Security events', total],
      ['Blocked', blocked],
      ['Not blocked', total - blocked],
      ['Sites with events', of.sites.length],
    ],
    columns: [
      { name: 'Kind of attack', width: 369 },
      { name: 'Events', width: 100 },
      { name: 'Share', width: 100 },
      { name: 'Blocked', width: 100 },
      { name: 'Not blocked', width: 100 },
    ],
    rows: of.categories.map(({ name, n, blocked: b }) => ({
      tint: tintOf(n - b, total),
      cells: [name, n, percent(n, total), b, n - b],
    })),
    none: 'No security events.',
    summary: sentencesOf(of, days, period.zone),
    charts: [
      {
        kind: 'stacked',
        title: 'Security events by day',
        names: ['not blocked', 'blocked'],
        columns: days.map(({ day, n, blocked: b }) => ({ label: day.slice(5), values: [n - b, b] })),
      },
      bars('Events by site', of.sites),
    ],
    method: [
      'Security events of all sites are counted by whole hours as nodes reported them; days are those of the time ' +
        `zone ${period.zone}. Each event is of one kind: that of the rule or limit that decided.`,
    ],
    definitions: [
      ['Security event', 'a request or response in which a rule, a limit or a list of the firewall found something'],
      ['Blocked', 'the firewall refused the request or withheld the response'],
      ['Not blocked', 'recorded only: below the limit of the score, in monitoring mode, or challenged'],
    ],
    members: {
      security_events: { total, blocked, not_blocked: total - blocked },
      event_kinds: of.categories,
      events_by_day: days,
    },
  };
}
