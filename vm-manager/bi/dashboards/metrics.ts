// Metrics that dashboards are made of: each a question to a dataset, with the columns that it may be split by.
import type { Predicate } from '../../kit/predicate.js';
import type { Query } from '../query.js';

export interface Metric {
  readonly id: string;
  readonly title: string;
  /** What it counts, in a sentence. */
  readonly about: string;
  readonly unit: 'findings' | 'runs' | 'evaluations' | 'of 100' | 'seconds' | 'applications';
  readonly dataset: Query['dataset'];
  readonly measure: string;
  readonly predicate: Predicate | null;
  /** As dimensions of POST /bi/query are written. */
  readonly by: readonly string[];
}

const isOpen: Predicate = { field: 'is_open', op: 'eq', value: true };
const ofFindings = ['severity', 'source', 'status', 'tool', 'application_id', 'month:first_seen', 'week:first_seen'];
const byDay = ['day:day', 'week:day', 'month:day', 'application_id'];

type Row = readonly [
  id: string,
  title: string,
  about: string,
  unit: Metric['unit'],
  dataset: Query['dataset'],
  measure: string,
  predicate: Predicate | null,
  by: readonly string[],
];
const rows: readonly Row[] = [
  [
    'open_findings',
    'Open findings',
    'Findings whose state is an open one.',
    'findings',
    'findings',
    'count',
    isOpen,
    ofFindings,
  ],
  [
    ...(['severe_findings', 'Open critical and high findings', 'Open findings of the two worst severities.'] as const),
    ...(['findings', 'findings', 'count'] as const),
    { and: [isOpen, { field: 'severity', op: 'in', value: ['critical', 'high'] }] },
    ofFindings,
  ],
  [
    ...(['exploited_findings', 'Known to be exploited', 'Open findings of vulnerabilities on the KEV list.'] as const),
    ...(['findings', 'findings', 'count'] as const),
    { and: [isOpen, { field: 'kev', op: 'eq', value: true }] },
    ofFindings,
  ],
  [
    ...(['proven_findings', 'Proven', 'Open findings that an exploit or a sensor has shown.'] as const),
    ...(['findings', 'findings', 'count'] as const),
    { and: [isOpen, { field: 'exploit_confirmed', op: 'eq', value: true }] },
    ofFindings,
  ],
  [
    ...(['fixable_findings', 'With a fix', 'Open findings for which a fixed version is there.'] as const),
    ...(['findings', 'findings', 'count'] as const),
    { and: [isOpen, { field: 'fix_state', op: 'eq', value: 'fixed_available' }] },
    ofFindings,
  ],
  [
    'mean_risk',
    'Mean risk',
    'Mean effective risk of open findings.',
    'of 100',
    'findings',
    'avg:effective_risk',
    isOpen,
    ofFindings,
  ],
  [
    'reopened_findings',
    'Came back',
    'How often open findings were open again.',
    'findings',
    'findings',
    'sum:reopen_count',
    isOpen,
    ofFindings,
  ],
  [
    ...(['deadlines_missed', 'Deadlines missed', 'Findings that were closed after their deadline.'] as const),
    ...(['findings', 'sla', 'count'] as const),
    { field: 'was_met', op: 'eq', value: false },
    ['severity', 'sla_class', 'application_id', 'month:closed_at'],
  ],
  [
    ...(['deadlines_met', 'Deadlines met', 'Findings that were closed by their deadline.'] as const),
    ...(['findings', 'sla', 'count'] as const),
    { field: 'was_met', op: 'eq', value: true },
    ['severity', 'sla_class', 'application_id', 'month:closed_at'],
  ],
  [
    ...(['opened', 'Opened', 'Findings that became open, by the day.', 'findings'] as const),
    ...(['application_days', 'sum:opened', null, byDay] as const),
  ],
  [
    ...(['fixed', 'Fixed', 'Findings that were closed because they are fixed, by the day.', 'findings'] as const),
    ...(['application_days', 'sum:fixed', null, byDay] as const),
  ],
  [
    ...(['overdue', 'Overdue', 'Open findings past their deadline, at the end of each day.', 'findings'] as const),
    ...(['application_days', 'sum:overdue', null, ['day:day', 'application_id']] as const),
  ],
  [
    'scans',
    'Scans and imports',
    'Runs of scanners and imports.',
    'runs',
    'scans',
    'count',
    null,
    ['kind', 'status', 'day:created_at', 'week:created_at', 'month:created_at', 'application_id'],
  ],
  [
    ...(['scan_seconds', 'Time of scans', 'Mean time of runs that ended.', 'seconds', 'scans', 'avg:seconds'] as const),
    null,
    ['kind', 'week:created_at', 'month:created_at'],
  ],
  [
    ...([
      'gate_failures',
      'Failed gates',
      'Verdicts of the gate that are fail.',
      'evaluations',
      'gates',
      'count',
    ] as const),
    { field: 'verdict', op: 'eq', value: 'fail' },
    ['branch', 'application_id', 'week:created_at', 'month:created_at'],
  ],
  [
    ...([
      'gate_verdicts',
      'Verdicts of the gate',
      'Evaluations of the gate.',
      'evaluations',
      'gates',
      'count',
    ] as const),
    null,
    ['verdict', 'branch', 'application_id', 'week:created_at', 'month:created_at'],
  ],
  [
    'applications',
    'Applications',
    'Applications that are active.',
    'applications',
    'applications',
    'count',
    { field: 'status', op: 'eq', value: 'active' },
    ['criticality', 'environment', 'exposure', 'project'],
  ],
];

export const metrics: readonly Metric[] = rows.map(([id, title, about, unit, dataset, measure, predicate, by]) => ({
  ...{ id, title, about, unit, dataset, measure, predicate, by },
}));
export const metricById: ReadonlyMap<string, Metric> = new Map(metrics.map((one) => [one.id, one]));
