// Numbers of findings that are worked out again: after something about them, their application, a policy or what is
// known of vulnerabilities has changed. In batches, so that an application may have any number of findings.
import { json, type Fragment, type Tx } from '../database.js';
import type { CvssValue, FindingRow } from './fields.js';
import { readPolicies, score, type ApplicationFacts } from './score.js';

const batch = 1000;
const qualityDefault = 0.7;

type Joined = FindingRow & {
  readonly cvss: CvssValue | null;
  readonly quality: number | null;
  readonly environment: string;
  readonly business_criticality: string;
  readonly exposure: string;
};

/** All findings for which `where` holds (columns of `f`); returns how many got other numbers. */
export async function refreshWhere(tx: Tx, where: Fragment, now: Date): Promise<number> {
  const policies = await readPolicies(tx);
  let changed = 0;
  for (let after = 0; ; ) {
    const rows = await tx<Joined[]>`
      select f.*, d.cvss, (d.risk_factors ->> 'quality')::float8 as quality,
        a.environment, a.business_criticality, a.exposure
      from vm_findings f join vm_applications a on a.id = f.application_id
        left join vm_finding_details d on d.finding_id = f.id
      where f.id > ${after} and ${where} order by f.id limit ${batch}`;
    const made = rows.flatMap((row) => {
      const facts: ApplicationFacts = { ...row, id: row.application_id };
      const { scored, factors } = score(
        row,
        { cvss: row.cvss, quality: row.quality ?? qualityDefault },
        facts,
        policies,
        now,
      );
      const isSame =
        scored.risk_score === row.risk_score &&
        scored.effective_risk === row.effective_risk &&
        scored.priority_score === row.priority_score &&
        scored.sla_days === row.sla_days &&
        scored.sla_class === row.sla_class &&
        scored.sla_extended_days === row.sla_extended_days &&
        scored.due_at?.getTime() === row.due_at?.getTime();
      if (isSame) return [];
      return [{ id: row.id, ...scored, factors }];
    });
    changed += made.length;
    if (made.length > 0) await store(tx, made, now);
    const last = rows.at(-1);
    if (last === undefined || rows.length < batch) break;
    after = last.id;
  }
  return changed;
}

async function store(tx: Tx, rows: readonly object[], now: Date): Promise<void> {
  const given = json(tx, JSON.parse(JSON.stringify(rows)));
  await tx`
    update vm_findings f set risk_score = n.risk_score, effective_risk = n.effective_risk,
      priority_score = n.priority_score, sla_days = n.sla_days, sla_class = n.sla_class, due_at = n.due_at,
      sla_extended_days = n.sla_extended_days,
      updated_at = ${now}, version = f.version + 1
    from jsonb_to_recordset(${given}) as n(id bigint, risk_score smallint, effective_risk smallint,
      priority_score integer, sla_days integer, sla_class text, sla_extended_days smallint, due_at timestamptz)
    where f.id = n.id`;
  await tx`
    update vm_finding_details d set risk_factors = n.factors
    from jsonb_to_recordset(${given}) as n(id bigint, factors jsonb) where d.finding_id = n.id`;
}

export const refreshApplication = (tx: Tx, id: number, now: Date): Promise<number> =>
  refreshWhere(tx, tx`f.application_id = ${id}`, now);

export const refreshFindings = (tx: Tx, ids: readonly number[], now: Date): Promise<number> =>
  ids.length === 0 ? Promise.resolve(0) : refreshWhere(tx, tx`f.id in ${tx(ids)}`, now);
