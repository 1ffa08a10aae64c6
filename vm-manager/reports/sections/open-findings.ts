// The section "Open Findings": how many there are, how many of them are urgent, and the fifty that come first.
import type { Fragment, Sql } from '../../database.js';
import { severityOf, type FindingRow } from '../../findings/fields.js';
import type { Severity } from '../../findings/words.js';
import type { Tint } from '../../chains/score.js';
import { dayIn } from '../time-zone.js';
import { readTrends, trendCharts, trendSentences, type When } from './finding-trends.js';
import type { Section } from '../report.js';

const rowsMax = 50;

const tintOfSeverity: Readonly<Record<Severity, Tint>> = {
  critical: 'critical',
  high: 'high',
  medium: 'medium',
  low: 'low',
  info: 'low',
};

interface Counts {
  readonly open: number;
  readonly critical: number;
  readonly known_exploited: number;
  readonly overdue: number;
}

const definitions = [
  ['Severity', 'how grave a weakness is by itself: critical, high, medium, low or info'],
  ['Known exploited', 'listed in the catalogue of known exploited vulnerabilities of CISA (KEV)'],
  ['Overdue', 'still open after the day that the policy sets; findings whose clock is stopped are not counted'],
  ['Risk', '0 to 100: severity, likelihood of exploitation, reachability and importance of the application'],
] as const;

/**
 * Open findings for which `where` holds (columns of `vm_findings`); a clock that stands still is never overdue. Days
 * are those of `zone`.
 */
export async function findingsSection(sql: Sql, where: Fragment, title: string, when: When): Promise<Section> {
  const { now, zone, days } = when;
  const [counted] = await sql<Counts[]>`
    select count(*)::int as open, count(*) filter (where severity = 4)::int as critical,
      count(*) filter (where kev)::int as known_exploited,
      count(*) filter (where due_at < ${now} and sla_paused_at is null)::int as overdue
    from vm_findings where is_open and ${where}`;
  const figures = counted ?? { open: 0, critical: 0, known_exploited: 0, overdue: 0 };
  const trends = await readTrends(sql, where, when);
  const found = await sql<(FindingRow & { application: string })[]>`
    select f.*, a.name as application from (
      select * from vm_findings where is_open and ${where} order by priority_score desc, id desc limit ${rowsMax}) f
    join vm_applications a on a.id = f.application_id order by f.priority_score desc, f.id desc`;
  const findings = found.map((row) => ({
    id: String(row.id),
    severity: severityOf(row),
    title: row.title,
    application: row.application,
    location: row.location,
    due_at: row.due_at === null ? null : row.due_at.toISOString(),
    effective_risk: row.effective_risk,
  }));
  return {
    title,
    figures: [
      ['Open findings', figures.open],
      ['Critical', figures.critical],
      ['Known exploited', figures.known_exploited],
      ['Overdue', figures.overdue],
    ],
    columns: [
      { name: 'Severity', width: 55 },
      { name: 'Finding', width: 270 },
      { name: 'Application', width: 110 },
      { name: 'Location', width: 220 },
      { name: 'Due', width: 70 },
      { name: 'Risk', width: 44 },
    ],
    rows: findings.map((one) => ({
      tint: tintOfSeverity[one.severity],
      cells: [
        one.severity,
        one.title,
        one.application,
        one.location,
        one.due_at === null ? 'none' : dayIn(zone, new Date(one.due_at)),
        one.effective_risk,
      ],
    })),
    none: 'No open findings.',
    summary: trendSentences(trends, figures, days),
    charts: trendCharts(trends),
    method: [
      'Counted are findings of active applications within the scope that the builder of the report may see. A ' +
        'finding is open until it is resolved, accepted, muted or shown to be false. The table has the fifty of ' +
        'the highest priority.',
      `Days are those of the time zone ${zone}. Found is the day of the first sight; closed is the last day on which ` +
        'a finding that is closed now was closed.',
    ],
    definitions,
    members: { open_findings: figures, findings },
  };
}
