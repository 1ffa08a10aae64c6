// What the chain engine reads of the database: the best open findings of applications, by the index that is made for
// it.
import type { ChainApplication, ChainFinding } from '../chains/finding.js';
import { candidatesMax } from '../chains/candidate.js';
import type { Fragment, Queryable } from '../database.js';
import { severityNames } from '../findings/words.js';
import { readOwnCapabilities, type OwnCapabilities } from './own/store.js';

/** Kept beside the forty that count, so that leaving out some findings lets the next ones in. */
export const spareFindings = 8;
export const applicationsPerRead = 500;

/** A finding as the database writes it: an array in JSON, which is read several times faster than columns. */
type FindingRow = readonly [
  id: number,
  title: string,
  status: string,
  severity: number,
  source: string,
  cwes: readonly number[],
  vulnIds: readonly string[],
  location: string,
  effectiveRisk: number,
  priority: number,
  reachable: boolean | null,
  exploitConfirmed: boolean,
  runtimeConfirmed: boolean,
  mitigated: boolean,
];

interface ApplicationRow {
  readonly id: number;
  readonly name: string;
  readonly environment: string;
  readonly business_criticality: string;
  readonly project_id: number | null;
  readonly findings: readonly FindingRow[];
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

/** effectiveRisk is the override while it holds, else the score: findings/score.ts decides which. */
const toFinding = (
  applicationId: string,
  [
    id,
    title,
    status,
    severity,
    source,
    cwes,
    vulnIds,
    location,
    effectiveRisk,
    priority,
    reachable,
    exploited,
    seen,
    mitigated,
  ]: FindingRow,
  own: OwnCapabilities,
): ChainFinding => ({
  id: String(id),
  applicationId,
  title,
  cwe: cwes,
  cves: vulnIds.length === 0 ? none : vulnIds.filter((name) => name.startsWith('CVE-')),
  severity: severityNames[severity] ?? 'info',
  status,
  source,
  riskScore: effectiveRisk,
  riskOverride: null,
  priorityScore: priority,
  reachable: reachable === true,
  exploitConfirmed: exploited,
  runtimeConfirmed: seen,
  mitigated,
  location: location === '' ? null : location,
  ...ownOf(own, id, cwes),
});
const none: readonly string[] = [];

/** What is said of the finding itself, else of the first of its weaknesses of which something is said. */
function ownOf({ findings, weaknesses }: OwnCapabilities, id: number, cwes: readonly number[]) {
  const stated = findings.get(id);
  if (stated !== undefined) return { own: stated };
  const weakness = weaknesses.size === 0 ? undefined : cwes.find((cwe) => weaknesses.has(cwe));
  return weakness === undefined ? {} : { own: weaknesses.get(weakness) ?? null };
}

/**
 * Active applications for which `where` holds (columns of `a`), at most `applicationsPerRead`, with their findings;
 * `counts` holds for the findings that are read (columns of vm_findings), absent: for all that are open.
 */
export async function loadApplications(sql: Queryable, where: Fragment, counts?: Fragment): Promise<Loaded[]> {
  const own = await readOwnCapabilities(sql);
  const rows = await sql<ApplicationRow[]>`
    select a.id, a.name, a.environment, a.business_criticality, a.project_id, (
      select coalesce(json_agg(json_build_array(id, title, status, severity, source, cwes, vuln_ids, location,
        effective_risk, priority_score, reachable, exploit_confirmed, runtime_confirmed,
         virtually_patched)), '[]') from (
        select * from vm_findings
        where application_id = a.id and is_open and source <> 'quality' and ${counts ?? sql`true`}
        order by priority_score desc, effective_risk desc, id limit ${candidatesMax + spareFindings}) f) as findings
    from vm_applications a
    where a.status = 'active' and ${where} order by a.id limit ${applicationsPerRead}`;
  return rows.map((row) => {
    const application = toApplication(row);
    return { application, findings: row.findings.map((finding) => toFinding(application.id, finding, own)) };
  });
}
