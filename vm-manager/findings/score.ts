// What a finding's numbers are, given what is known of it and of its application: risk, priority, deadline. Imports,
// edits and changes of an application all come here, so that the same facts always give the same numbers.
import { holds, type Predicate } from '../kit/predicate.js';
import type { Queryable } from '../database.js';
import { findingFields, severityOf, type CvssValue, type FindingRow } from './fields.js';
import { factorsOf, isInternetFacing, priorityOf, riskOf, type RiskFactors } from './risk.js';
import { dueAt, extensionOf, patchedDaysDefault, termOf, type SlaTerm } from './sla.js';

export interface ApplicationFacts {
  readonly id: number;
  readonly environment: string;
  readonly business_criticality: string;
  readonly exposure: string;
}

export interface SlaPolicy {
  readonly name: string;
  readonly selector: Predicate;
  readonly matrix: Readonly<Record<string, number | null>>;
  readonly business_days: boolean;
  /** Days that a proven virtual patch adds. */
  readonly patched_days: number;
}

/** What the numbers are made of, beside the application. */
export type Scorable = Pick<
  FindingRow,
  | 'application_id'
  | 'project_id'
  | 'title'
  | 'status'
  | 'severity'
  | 'source'
  | 'tool'
  | 'rule_id'
  | 'cwes'
  | 'vuln_ids'
  | 'location'
  | 'risk_override'
  | 'risk_override_until'
  | 'reachable'
  | 'exploit_confirmed'
  | 'runtime_confirmed'
  | 'kev'
  | 'epss'
  | 'fix_state'
  | 'assignee_id'
  | 'tags'
  | 'sla_start'
  | 'sla_paused_ms'
  | 'first_seen'
  | 'last_seen'
> & {
  /** Absent: it is new, and nothing stands before it. */
  readonly virtually_patched?: boolean;
};

export interface Scored {
  readonly risk_score: number;
  readonly effective_risk: number;
  readonly priority_score: number;
  readonly sla_days: number | null;
  readonly sla_class: string;
  /** Part of due_at. */
  readonly sla_extended_days: number;
  readonly due_at: Date | null;
}

export function score(
  row: Scorable,
  more: { readonly cvss: CvssValue | null; readonly quality: number },
  application: ApplicationFacts,
  policies: readonly SlaPolicy[],
  now: Date,
): { readonly scored: Scored; readonly factors: RiskFactors } {
  const confirmed = row.exploit_confirmed || row.runtime_confirmed;
  const isExposed = isInternetFacing(application.environment) || application.exposure === 'internet';
  const factors = factorsOf({
    severity: severityOf(row),
    cvss: more.cvss?.score ?? null,
    epss: row.epss,
    kev: row.kev,
    confirmed,
    reachable: row.reachable,
    internetFacing: isExposed,
    criticality: application.business_criticality,
    quality: more.quality,
  });
  const isQuality = row.source === 'quality';
  const risk = isQuality ? 0 : riskOf(factors);
  const isOverridden =
    row.risk_override !== null && (row.risk_override_until === null || row.risk_override_until > now);
  const effective = isOverridden ? (row.risk_override ?? risk) : risk;
  const policy = policies.find(({ selector }) =>
    holds(selector, { ...row, effective_risk: effective }, findingFields, now),
  );
  const term: SlaTerm = isQuality
    ? { days: null, rule: 'none' }
    : policy === undefined
      ? termOf({
          severity: severityOf(row),
          hasCve: row.vuln_ids.some((id) => id.startsWith('CVE-')),
          kev: row.kev,
          confirmed,
          reachable: row.reachable,
          exposed: isExposed,
          vector: more.cvss?.vector ?? null,
        })
      : { days: policy.matrix[severityOf(row)] ?? null, rule: `policy ${policy.name}` };
  const patchedDays = policy?.patched_days ?? patchedDaysDefault;
  const extension = extensionOf(term.days, row.virtually_patched === true, patchedDays);
  return {
    factors,
    scored: {
      risk_score: risk,
      effective_risk: effective,
      priority_score: priorityOf(effective, row.kev, confirmed, row.reachable),
      sla_days: term.days,
      sla_class: term.rule,
      sla_extended_days: extension,
      due_at:
        term.days === null
          ? null
          : dueAt(row.sla_start, term.days + extension, Number(row.sla_paused_ms), policy?.business_days ?? false),
    },
  };
}

/** In the order in which they are asked. */
export async function readPolicies(sql: Queryable): Promise<SlaPolicy[]> {
  return sql<SlaPolicy[]>`
    select name, selector, matrix, business_days, patched_days from vm_sla_policies order by position, id`;
}

export async function readFacts(sql: Queryable, id: number): Promise<ApplicationFacts> {
  const [row] = await sql<ApplicationFacts[]>`
    select id, environment, business_criticality, exposure from vm_applications where id = ${id}`;
  if (row === undefined) throw new Error(`there is no application ${id}`);
  return row;
}
