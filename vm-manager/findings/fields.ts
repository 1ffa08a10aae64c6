// Findings in queries and answers: what may be filtered, sorted and written into predicates, and how a row is shown.
import { Nullable, OneOf, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import type { SortColumn } from '../kit/list.js';
import type { Fields } from '../kit/predicate.js';
import { residualRisk } from './risk.js';
import { stateOf } from './sla.js';
import { weaknessName } from './weaknesses/names.js';
import {
  severityBases,
  severityNames,
  severityNumbers,
  type FixState,
  type Severity,
  type SeverityBasis,
  type Status,
} from './words.js';

/** A row of vm_findings as the database gives it. */
export interface FindingRow {
  readonly id: number;
  readonly application_id: number;
  readonly project_id: number | null;
  readonly title: string;
  readonly status: Status;
  readonly is_open: boolean;
  readonly severity: number;
  readonly severity_basis: SeverityBasis;
  readonly source: string;
  readonly tool: string;
  readonly rule_id: string;
  readonly cwes: readonly number[];
  readonly vuln_ids: readonly string[];
  readonly location: string;
  readonly risk_score: number | null;
  readonly risk_override: number | null;
  readonly risk_override_until: Date | null;
  readonly effective_risk: number;
  readonly priority_score: number;
  readonly reachable: boolean | null;
  readonly exploit_confirmed: boolean;
  readonly runtime_confirmed: boolean;
  /** A virtual patch with a proof that holds stands before it. */
  readonly virtually_patched: boolean;
  readonly kev: boolean;
  readonly epss: number | null;
  readonly fix_state: FixState;
  readonly assignee_id: string | null;
  readonly tags: readonly string[];
  readonly fingerprint: string;
  readonly cluster_key: string | null;
  readonly canonical_id: number | null;
  readonly previous_status: Status | null;
  /** When a muted one is looked at again; null: in the next round. */
  readonly mute_check_at: Date | null;
  readonly resolved_by: string | null;
  readonly reopen_count: number;
  readonly sla_start: Date;
  readonly sla_days: number | null;
  readonly sla_class: string;
  readonly sla_extended_days: number;
  readonly sla_paused_at: Date | null;
  /** A person has stopped the clock. */
  readonly sla_held: boolean;
  readonly sla_paused_ms: number;
  readonly due_at: Date | null;
  readonly first_seen: Date;
  readonly last_seen: Date;
  readonly closed_at: Date | null;
  readonly version: number;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** A row of vm_finding_details. */
export interface DetailsRow {
  readonly finding_id: number;
  readonly description: string;
  readonly location: Readonly<Record<string, unknown>>;
  readonly cvss: CvssValue | null;
  readonly fix: Readonly<Record<string, unknown>>;
  readonly refs: readonly string[];
  readonly evidence: readonly unknown[];
  readonly extra: Readonly<Record<string, unknown>>;
  readonly risk_factors: Readonly<Record<string, unknown>>;
}

export interface CvssValue {
  readonly version: string;
  readonly vector: string | null;
  readonly score: number;
}

/** Fields of predicates: mutes, policies, saved filters, gates, selectors. */
export const findingFields: Fields = {
  application_id: { type: 'id', column: 'application_id' },
  project_id: { type: 'id', column: 'project_id' },
  title: { type: 'text', column: 'title' },
  status: { type: 'text', column: 'status' },
  severity: { type: 'number', column: 'severity', words: severityNumbers },
  severity_basis: { type: 'text', column: 'severity_basis' },
  source: { type: 'text', column: 'source' },
  tool: { type: 'text', column: 'tool' },
  rule_id: { type: 'text', column: 'rule_id' },
  cwe: { type: 'list', column: 'cwes' },
  vuln_id: { type: 'list', column: 'vuln_ids' },
  location: { type: 'text', column: 'location' },
  risk: { type: 'number', column: 'effective_risk', isWhole: true },
  priority: { type: 'number', column: 'priority_score', isWhole: true },
  reachable: { type: 'boolean', column: 'reachable' },
  exploit_confirmed: { type: 'boolean', column: 'exploit_confirmed' },
  runtime_confirmed: { type: 'boolean', column: 'runtime_confirmed' },
  virtually_patched: { type: 'boolean', column: 'virtually_patched' },
  kev: { type: 'boolean', column: 'kev' },
  epss: { type: 'number', column: 'epss' },
  fix_state: { type: 'text', column: 'fix_state' },
  assignee: { type: 'text', column: 'assignee_id' },
  tag: { type: 'list', column: 'tags' },
  first_seen: { type: 'time', column: 'first_seen' },
  last_seen: { type: 'time', column: 'last_seen' },
  due_at: { type: 'time', column: 'due_at' },
};

export const findingSorts: Readonly<Record<string, SortColumn>> = {
  priority: { column: 'priority_score', type: 'number' },
  risk: { column: 'effective_risk', type: 'number' },
  severity: { column: 'severity', type: 'number' },
  first_seen: { column: 'first_seen', type: 'time' },
  last_seen: { column: 'last_seen', type: 'time' },
  due_at: { column: 'due_at', type: 'time', ifNull: 'infinity' },
  id: { column: 'id', type: 'number' },
};

const nullableText = Nullable(Type.String());
export const FindingView = Type.Object({
  id: Type.String(),
  application_id: Type.String(),
  project_id: nullableText,
  title: Type.String(),
  severity: OneOf(severityNames),
  severity_basis: OneOf(severityBases),
  status: Type.String(),
  source: Type.String(),
  tool: Type.String(),
  rule_id: Type.String(),
  cwe: Type.Array(Type.String(), { description: 'CWE-79' }),
  vuln_ids: Type.Array(Type.String()),
  location: Type.String(),
  risk_score: Nullable(Type.Integer()),
  risk_override: Nullable(Type.Integer()),
  effective_risk: Type.Integer(),
  residual_risk: Type.Integer({
    description: 'what a virtual patch leaves of it; chains and gates use effective_risk',
  }),
  priority_score: Type.Integer(),
  reachable: Nullable(Type.Boolean()),
  exploit_confirmed: Type.Boolean(),
  runtime_confirmed: Type.Boolean(),
  virtually_patched: Type.Boolean({ description: 'a virtual patch with a proof that holds stands before it' }),
  kev: Type.Boolean(),
  epss: Nullable(Type.Number()),
  fix_state: Type.String(),
  assignee_id: nullableText,
  tags: Type.Array(Type.String()),
  canonical_id: nullableText,
  sla: Type.Object({
    due_at: Nullable(Time),
    state: Type.String(),
    class: Type.String(),
    extended_days: Type.Integer({ description: 'of due_at: days that a proven virtual patch adds' }),
  }),
  first_seen: Time,
  last_seen: Time,
  closed_at: Nullable(Time),
  reopen_count: Type.Integer(),
  version: Type.Integer(),
});

const iso = (at: Date | null): string | null => at?.toISOString() ?? null;
const idOf = (id: number | null): string | null => (id === null ? null : String(id));
export const severityOf = (row: Pick<FindingRow, 'severity'>): Severity => severityNames[row.severity] ?? 'info';

export function viewFinding(row: FindingRow, now: Date) {
  return {
    id: String(row.id),
    application_id: String(row.application_id),
    project_id: idOf(row.project_id),
    title: row.title,
    severity: severityOf(row),
    severity_basis: row.severity_basis,
    status: row.status,
    source: row.source,
    tool: row.tool,
    rule_id: row.rule_id,
    cwe: row.cwes.map((number) => `CWE-${number}`),
    vuln_ids: row.vuln_ids,
    location: row.location,
    risk_score: row.risk_score,
    risk_override: row.risk_override,
    effective_risk: row.effective_risk,
    residual_risk: residualRisk(row.effective_risk, row.virtually_patched),
    priority_score: row.priority_score,
    reachable: row.reachable,
    exploit_confirmed: row.exploit_confirmed,
    runtime_confirmed: row.runtime_confirmed,
    virtually_patched: row.virtually_patched,
    kev: row.kev,
    epss: row.epss,
    fix_state: row.fix_state,
    assignee_id: row.assignee_id,
    tags: row.tags,
    canonical_id: idOf(row.canonical_id),
    sla: {
      due_at: iso(row.due_at),
      state: stateOf(row, now),
      class: row.sla_class,
      extended_days: row.sla_extended_days,
    },
    first_seen: row.first_seen.toISOString(),
    last_seen: row.last_seen.toISOString(),
    closed_at: iso(row.closed_at),
    reopen_count: row.reopen_count,
    version: row.version,
  };
}

export const DetailView = Type.Intersect([
  FindingView,
  Type.Object({
    description: Type.String(),
    weaknesses: Type.Array(
      Type.Object({
        id: Type.String({ description: 'CWE-79' }),
        name: Nullable(Type.String({ description: 'null: this version knows the number only' })),
      }),
      { description: 'the same as cwe, with names' },
    ),
    location_detail: Type.Unknown(),
    source_url: Nullable(
      Type.String({ description: 'the line at the host of the repository; null: repository or host are not known' }),
    ),
    cvss: Type.Unknown(),
    fix: Type.Unknown(),
    references: Type.Array(Type.String()),
    evidence: Type.Array(Type.Unknown()),
    extra: Type.Unknown(),
  }),
]);

export const viewDetails = (row: FindingRow, details: DetailsRow | null, sourceUrl: string | null, now: Date) => ({
  ...viewFinding(row, now),
  description: details?.description ?? '',
  weaknesses: row.cwes.map((number) => ({ id: `CWE-${number}`, name: weaknessName(number) })),
  location_detail: details?.location ?? {},
  source_url: sourceUrl,
  cvss: details?.cvss ?? null,
  fix: details?.fix ?? {},
  references: details?.refs ?? [],
  evidence: details?.evidence ?? [],
  extra: details?.extra ?? {},
});
