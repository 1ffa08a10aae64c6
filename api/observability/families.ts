// Every metric of the control plane, one row each: how it is called, what it says, and its labels. Labels are names of
// the configuration and words of tables: never addresses, paths or people, so that nobody can make the table grow.

export interface Family {
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  readonly labels: readonly string[];
}

const family = (type: Family['type'], name: string, help: string, ...labels: string[]): Family => ({
  name: `gatehouse_control_${name}`,
  type,
  help,
  labels,
});

export const families = {
  siemWaiting: family('gauge', 'siem_waiting', 'Events that wait for a connector.', 'connector'),
  siemLag: family('gauge', 'siem_lag_seconds', 'Age of the oldest event that waits for a connector.', 'connector'),
  siemDeadLetters: family('gauge', 'siem_dead_letters', 'Events that a connector refused.', 'connector'),
  siemDelivered: family('counter', 'siem_delivered_total', 'Events that a connector took.', 'connector'),
  siemExpired: family(
    'counter',
    'siem_expired_total',
    'Events that were removed before a connector took them.',
    'connector',
  ),
  siemFailing: family('gauge', 'siem_failing', '1 while a connector cannot deliver, else 0.', 'connector'),
  alertRules: family('gauge', 'alert_rules', 'Alert rules that are on, by state.', 'state'),
  jobRuns: family('counter', 'job_runs_total', 'Runs of a background job.', 'job'),
  jobFailures: family('counter', 'job_failures_total', 'Runs of a background job that failed.', 'job'),
  jobEnded: family('gauge', 'job_last_end_timestamp_seconds', 'When a background job ended last.', 'job'),
  nodes: family('gauge', 'nodes', 'Data-plane nodes, by whether they serve the active version.', 'state'),
  recordsLost: family(
    'counter',
    'records_lost_total',
    'Records of nodes that are not stored, by the reason.',
    'reason',
  ),
  aiClients: family('gauge', 'ai_clients', 'Clients of the last round of the detection engine, by verdict.', 'verdict'),
  aiPrincipals: family(
    'gauge',
    'ai_principals',
    'Principals of the last round of the detection engine, by verdict.',
    'verdict',
  ),
  aiVerdicts: family(
    'gauge',
    'ai_verdicts',
    'Verdicts that are stored, by verdict and by whether they are about a client or a principal.',
    'verdict',
    'subject',
  ),
  aiMarked: family('gauge', 'ai_verdicts_marked', 'Stored verdicts that people judged, by what they said.', 'mark'),
  aiEnforced: family('gauge', 'ai_enforced', 'Verdicts that are in force now, by what they do.', 'enforced'),
  aiRoundAge: family('gauge', 'ai_round_age_seconds', 'Time since the last round of the detection engine.'),
  aiEvaluatorTime: family(
    'gauge',
    'ai_evaluator_seconds',
    'Time that an evaluator took in the last round.',
    'evaluator',
  ),
  aiEvaluatorFailures: family(
    'gauge',
    'ai_evaluator_failures',
    'Failures of an evaluator since its leader began.',
    'evaluator',
  ),
  aiLag: family('gauge', 'ai_batches_lag_seconds', 'Age of the newest window that nodes told of.'),
  otelSent: family('counter', 'otel_sent_total', 'Spans and values that the collector took.', 'signal'),
  otelRejected: family('counter', 'otel_rejected_total', 'Spans and values that the collector refused.', 'signal'),
  otelDropped: family('counter', 'otel_dropped_total', 'Requests that were too old to be sent as traces.', 'signal'),
  otelFailing: family('gauge', 'otel_failing', '1 while the collector cannot be reached, else 0.', 'signal'),
  certificateEnds: family(
    'gauge',
    'certificate_not_after_timestamp_seconds',
    'When a certificate in service ends, by the first of its names.',
    'name',
  ),
  settingsVersion: family('gauge', 'settings_version', 'Versions of the settings: saved last, and in force.', 'which'),
} as const satisfies Record<string, Family>;

export type FamilyKey = keyof typeof families;
