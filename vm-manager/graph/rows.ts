// What the chain engine reads of the database: the best open findings of applications, by the index that is made for
// it.
import type { ChainApplication, ChainFinding } from '../chains/finding.js';
import { candidatesMax } from '../chains/candidate.js';
import type { Fragment, Queryable } from '../database.js';
import { severityNames } from '../findings/words.js';

/** Kept beside the forty that count, so that leaving out some findings lets the next ones in. */
export const spareFindings = 8;
export const applicationsPerRead = 500;

interface ApplicationRow {
  readonly id: number;
  readonly name: string;
  readonly environment: string;
  readonly business_criticality: string;
  readonly project_id: number | null;
}

interface FindingRow {
  readonly id: number;
  readonly application_id: number;
  readonly title: string;
  readonly status: string;
  readonly severity: number;
  readonly source: string;
  readonly cwes: readonly number[];
  readonly vuln_ids: readonly string[];
  readonly location: string;
  readonly effective_risk: number;
  readonly priority_score: number;
  readonly reachable: boolean | null;
  readonly exploit_confirmed: boolean;
  readonly runtime_confirmed: boolean;
  readonly virtually_patched: boolean;
}

export interface Loaded {
  readonly application: ChainApplication;
  readonly findings: readonly ChainFinding[];
}

const toApplication = (row: ApplicationRow): ChainApplication => ({
  id: String(row.id),
  name: row.name,
  environment: row.environment,
  criticality: row.business_criticality,
  projectId: row.project_id === null ? null : String(row.project_id),
});

/** effective_risk is the override while it holds, else the score: findings/score.ts decides which. */
const toFinding = (row: FindingRow): ChainFinding => ({
  id: String(row.id),
  applicationId: String(row.application_id),
  title: row.title,
  cwe: row.cwes,
  cves: row.vuln_ids.filter((id) => id.startsWith('CVE-')),
  severity: severityNames[row.severity] ?? 'info',
  status: row.status,
  source: row.source,
  riskScore: row.effective_risk,
  riskOverride: null,
  priorityScore: row.priority_score,
  reachable: row.reachable === true,
  exploitConfirmed: row.exploit_confirmed,
  runtimeConfirmed: row.runtime_confirmed,
  mitigated: row.virtually_patched,
  location: row.location === '' ? null : row.location,
});

/** Active applications for which `where` holds (columns of `a`), at most `applicationsPerRead`, with their findings. */
export async function loadApplications(sql: Queryable, where: Fragment): Promise<Loaded[]> {
  const applications = await sql<ApplicationRow[]>`
    select a.id, a.name, a.environment, a.business_criticality, a.project_id from vm_applications a
    where a.status = 'active' and ${where} order by a.id limit ${applicationsPerRead}`;
  if (applications.length === 0) return [];
  const rows = await sql<FindingRow[]>`
    select f.* from vm_applications a cross join lateral (
      select id, application_id, title, status, severity, source, cwes, vuln_ids, location, effective_risk,
        priority_score, reachable, exploit_confirmed, runtime_confirmed,
        virtually_patched
      from vm_findings where application_id = a.id and is_open
      order by priority_score desc, effective_risk desc, id limit ${candidatesMax + spareFindings}) f
    where a.id in ${sql(applications.map(({ id }) => id))}`;
  const byApplication = new Map<string, ChainFinding[]>();
  for (const row of rows) {
    const finding = toFinding(row);
    const list = byApplication.get(finding.applicationId);
    if (list === undefined) byApplication.set(finding.applicationId, [finding]);
    else list.push(finding);
  }
  return applications.map((row) => {
    const application = toApplication(row);
    return { application, findings: byApplication.get(application.id) ?? [] };
  });
}
