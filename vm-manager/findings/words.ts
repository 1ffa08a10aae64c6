// The words of findings: severities, states, sources. A word is never given another meaning; programs filter by them.

/** By their number in the table. */
export const severityNames = ['info', 'low', 'medium', 'high', 'critical'] as const;
export type Severity = (typeof severityNames)[number];
export const severityNumbers: Readonly<Record<string, number>> = Object.fromEntries(
  severityNames.map((name, index) => [name, index]),
);

/** Where a severity comes from; `assumed`: nobody knows what the report says, and nobody has rated the finding. */
export const severityBases = ['report', 'assumed', 'person'] as const;
export type SeverityBasis = (typeof severityBases)[number];

export const openStatuses = ['new', 'triaged', 'confirmed', 'in_progress', 'fix_pending', 'reopened'] as const;
export const closedStatuses = [
  'resolved',
  'false_positive',
  'risk_accepted',
  'muted',
  'duplicate',
  'out_of_scope',
] as const;
export const statuses = [...openStatuses, ...closedStatuses] as const;
export type Status = (typeof statuses)[number];
export const isOpen = (status: Status): boolean => (openStatuses as readonly string[]).includes(status);

export const sources = [
  'sast',
  'sca',
  'secret',
  'iac',
  'container',
  'k8s',
  'dast',
  'api',
  'iast',
  'manual',
  'cspm',
  // of linters: no part of lists without a filter, gates, chains, terms and risk
  'quality',
] as const;
export type Source = (typeof sources)[number];

export const fixStates = ['fixed_available', 'wont_fix', 'no_fix', 'unknown'] as const;
export type FixState = (typeof fixStates)[number];

/** Why something does not affect a product: the words of OpenVEX, which `false_positive` has to be given one of. */
export const justifications = [
  'component_not_present',
  'vulnerable_code_not_present',
  'vulnerable_code_not_in_execute_path',
  'vulnerable_code_cannot_be_controlled_by_adversary',
  'inline_mitigations_already_exist',
] as const;
export type Justification = (typeof justifications)[number];
