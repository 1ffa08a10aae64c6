// Datasets as data: their views, and what each column is. A test holds both to each other. A column that is taken away
// or changes its meaning is another version, beside this one; one more at the end is not.
export const columnTypes = ['text', 'integer', 'number', 'boolean', 'time', 'date'] as const;
export type ColumnType = (typeof columnTypes)[number];

export interface BiColumn {
  readonly name: string;
  readonly type: ColumnType;
  readonly about: string;
}

export interface Dataset {
  readonly id: string;
  readonly version: number;
  readonly view: string;
  readonly about: string;
  /** What one row is. */
  readonly grain: string;
  /** Rows of a day that has not ended change: they are given out when it has. */
  readonly isByDay: boolean;
  readonly columns: readonly BiColumn[];
}

type Told = readonly [name: string, type: ColumnType, about: string];

const keys: readonly Told[] = [
  ['id', 'integer', 'key of the row'],
  ['changed_at', 'time', 'when the row changed last; what is new is found by it and id'],
  ['application_id', 'integer', 'key into applications'],
  ['project_id', 'integer', 'of the application, as it is now'],
];
const severity: Told = ['severity', 'text', 'info, low, medium, high, critical'];

const dataset = (id: string, about: string, grain: string, columns: readonly Told[], isByDay = false): Dataset => ({
  ...{ id, version: 1, view: `bi_${id}_v1`, about, grain, isByDay },
  columns: [...keys, ...columns].map(([name, type, told]) => ({ name, type, about: told })),
});

export const datasets: readonly Dataset[] = [
  dataset('applications', 'applications with their project (dimension)', 'an application', [
    ['name', 'text', 'name'],
    ['project', 'text', 'name of the project'],
    ['environment', 'text', 'such as prod'],
    ['criticality', 'text', 'critical, high, medium, low, unknown'],
    ['exposure', 'text', 'internet, internal, unknown'],
    ['owner', 'text', 'who answers for it'],
    ['status', 'text', 'active, archived'],
    ['created_at', 'time', 'when it was made'],
  ]),
  dataset('findings', 'findings as they stand', 'a finding', [
    ['title', 'text', 'title'],
    severity,
    ['status', 'text', 'of its life cycle'],
    ['is_open', 'boolean', 'the status is an open one'],
    ['source', 'text', 'dast, sast, sca, secrets, iac, …'],
    ['tool', 'text', 'that reported it last'],
    ['rule_id', 'text', 'rule of the tool'],
    ['cwes', 'text', 'weaknesses, with blanks between them'],
    ['vuln_ids', 'text', 'CVE and others, with blanks between them'],
    ['location', 'text', 'where it is'],
    ['risk_score', 'integer', '0 to 100'],
    ['effective_risk', 'integer', 'the override where there is one, else the score'],
    ['priority_score', 'integer', 'order of lists'],
    ['reachable', 'boolean', 'null: unknown'],
    ['exploit_confirmed', 'boolean', 'shown by an exploit'],
    ['runtime_confirmed', 'boolean', 'seen at run time'],
    ['kev', 'boolean', 'known to be exploited'],
    ['epss', 'number', '0 to 1; null: unknown'],
    ['fix_state', 'text', 'fixed_available, wont_fix, no_fix, unknown'],
    ['reopen_count', 'integer', 'how often it was open again'],
    ['first_seen', 'time', 'first sighting'],
    ['last_seen', 'time', 'last sighting'],
    ['closed_at', 'time', 'null: open'],
  ]),
  dataset('sla', 'deadlines of findings', 'a finding with a deadline', [
    severity,
    ['sla_class', 'text', 'which line of the policy'],
    ['sla_days', 'integer', 'days to fix it'],
    ['started_at', 'time', 'start of the clock'],
    ['due_at', 'time', 'the deadline'],
    ['is_paused', 'boolean', 'the clock stands'],
    ['is_open', 'boolean', 'the finding is open'],
    ['closed_at', 'time', 'null: open'],
    ['was_met', 'boolean', 'closed by the deadline; null: open'],
  ]),
  dataset('scans', 'scans and imports', 'a run', [
    ['kind', 'text', 'import, secrets, sca, iac, k8s, dast'],
    ['status', 'text', 'queued, running, succeeded, failed, canceled, timed_out, rolled_back'],
    ['created_at', 'time', 'asked for'],
    ['started_at', 'time', 'begun'],
    ['finished_at', 'time', 'ended'],
    ['seconds', 'number', 'from begin to end'],
    ['findings_new', 'integer', 'findings that are new; null: the run counts none'],
    ['findings_closed', 'integer', 'findings that it closed; null: the run counts none'],
  ]),
  dataset('gates', 'verdicts of the gate', 'an evaluation', [
    ['commit', 'text', 'commit'],
    ['branch', 'text', 'branch'],
    ['verdict', 'text', 'pass, warn, fail'],
    ['created_at', 'time', 'when it was judged'],
  ]),
  dataset(
    'application_days',
    'applications at the end of each day (UTC)',
    'an application and a day that has ended',
    [
      ['day', 'date', 'the day'],
      ...(['critical', 'high', 'medium', 'low', 'info'] as const).map(
        (level): Told => [`open_${level}`, 'integer', `open findings of the severity ${level}`],
      ),
      ['overdue', 'integer', 'open past their deadline'],
      ['kev', 'integer', 'open and known to be exploited'],
      ['opened', 'integer', 'became open on the day'],
      ['closed', 'integer', 'became closed on the day'],
      ['fixed', 'integer', 'of these fixed'],
      ['reopened', 'integer', 'open again'],
    ],
    true,
  ),
  dataset(
    'gate_days',
    'verdicts of the gate by day (UTC)',
    'an application and a day that has ended',
    [
      ['day', 'date', 'the day'],
      ['evaluations', 'integer', 'all'],
      ['passed', 'integer', 'verdict pass'],
      ['warned', 'integer', 'verdict warn'],
      ['failed', 'integer', 'verdict fail'],
    ],
    true,
  ),
];

export const datasetIds = datasets.map(({ id }) => id);
