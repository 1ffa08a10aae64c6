// What an application says of its vulnerabilities, in words that every VEX format has: one statement for each
// vulnerability and product. A virtual patch is told only while its proof holds, and never as "not affected": the
// application is as vulnerable as before, only the way to it is barred.
import type { Queryable } from '../database.js';
import type { CvssValue } from '../findings/fields.js';
import { severityNames, type FixState, type Justification, type Status } from '../findings/words.js';

export type VexStatus = 'affected' | 'not_affected' | 'fixed' | 'under_investigation';

/** The patch in front of it, with the hash of the proof that it holds. */
export interface Workaround {
  readonly ruleId: number;
  readonly proofSha256: string;
  readonly provenAt: Date;
}

export interface Statement {
  /** CVE-…, GHSA-…; null where nobody has named it but us. */
  readonly vulnerability: string | null;
  readonly aliases: readonly string[];
  readonly findingId: string;
  readonly title: string;
  readonly severity: string;
  readonly product: Product;
  readonly status: VexStatus;
  readonly justification: Justification | null;
  readonly reason: string;
  readonly workaround: Workaround | null;
  readonly fix: { readonly state: FixState; readonly text: string };
  /** Somebody has decided that it stays. */
  readonly isAccepted: boolean;
  readonly cvss: CvssValue | null;
  readonly at: Date;
}

export interface Product {
  readonly id: string;
  readonly name: string;
  readonly purl: string | null;
}

interface Row {
  readonly id: number;
  readonly title: string;
  readonly status: Status;
  readonly severity: number;
  readonly vuln_ids: readonly string[];
  readonly fix_state: FixState;
  readonly updated_at: Date;
  readonly location: Readonly<Record<string, unknown>> | null;
  readonly fix: Readonly<Record<string, unknown>> | null;
  readonly cvss: CvssValue | null;
  readonly justification: Justification | null;
  readonly reason: string | null;
  readonly rule_id: number | null;
  readonly proof_sha256: string | null;
  readonly proven_at: Date | null;
}

export const findingsMax = 100_000;

const statuses: Readonly<Partial<Record<Status, VexStatus>>> = {
  new: 'under_investigation',
  triaged: 'affected',
  confirmed: 'affected',
  in_progress: 'affected',
  fix_pending: 'affected',
  reopened: 'affected',
  risk_accepted: 'affected',
  muted: 'affected',
  resolved: 'fixed',
  false_positive: 'not_affected',
};
const gravest: readonly VexStatus[] = ['affected', 'under_investigation', 'fixed', 'not_affected'];

const textIn = (fields: Readonly<Record<string, unknown>> | null, name: string): string =>
  typeof fields?.[name] === 'string' ? fields[name] : '';

function productOf(application: { readonly id: number; readonly name: string }, row: Row): Product {
  const purl = /^pkg:[a-z][a-z0-9.+-]*\/\S+$/.exec(textIn(row.location, 'purl'))?.[0] ?? null;
  const id = `gatehouse-application-${application.id}`;
  if (purl === null) return { id, name: application.name, purl: null };
  return { id: `${id}/${purl}`, name: `${textIn(row.location, 'name') || purl} in ${application.name}`, purl };
}

function fixText(row: Row): string {
  const version = textIn(row.fix, 'version');
  const text = textIn(row.fix, 'text');
  return [version === '' ? '' : `Update to ${version}.`, text]
    .filter((part) => part !== '')
    .join(' ')
    .slice(0, 2000);
}

function toStatement(
  application: { readonly id: number; readonly name: string },
  row: Row,
  status: VexStatus,
): Statement {
  const [vulnerability = null, ...aliases] = row.vuln_ids;
  // whoever has put a patch before it has found it to be there
  const isPatched = row.rule_id !== null && (status === 'affected' || status === 'under_investigation');
  return {
    vulnerability,
    aliases,
    findingId: String(row.id),
    title: row.title,
    severity: severityNames[row.severity] ?? 'info',
    product: productOf(application, row),
    status: isPatched ? 'affected' : status,
    justification: status === 'not_affected' ? row.justification : null,
    reason: row.reason ?? '',
    workaround: isPatched
      ? {
          ruleId: row.rule_id,
          proofSha256: row.proof_sha256 ?? '',
          provenAt: row.proven_at ?? row.updated_at,
        }
      : null,
    fix: { state: row.fix_state, text: fixText(row) },
    isAccepted: row.status === 'risk_accepted',
    cvss: row.cvss,
    at: row.updated_at,
  };
}

/**
 * Statements of an application, by vulnerability and product; several findings of one become the gravest. Duplicates
 * and what is out of scope are not told.
 */
export async function readStatements(
  sql: Queryable,
  application: { readonly id: number; readonly name: string },
): Promise<Statement[]> {
  const rows = await sql<Row[]>`
    select f.id, f.title, f.status, f.severity, f.vuln_ids, f.fix_state, f.updated_at, d.location, d.fix, d.cvss,
      last.justification, last.reason, patch.rule_id, patch.proof_sha256, patch.proven_at
    from vm_findings f left join vm_finding_details d on d.finding_id = f.id
      left join lateral (select justification, reason from vm_transitions
        where finding_id = f.id and to_status = f.status order by id desc limit 1) last on true
      left join lateral (select p.rule_id, proof.sha256 as proof_sha256, proof.at as proven_at
        from vm_vpatch_findings l join vm_vpatches p on p.id = l.vpatch_id and p.state = 'proven'
          join lateral (select sha256, at from vm_vpatch_proofs where vpatch_id = p.id and holds
            order by id desc limit 1) proof on true
        where f.virtually_patched and l.finding_id = f.id order by p.id limit 1) patch on true
    where f.application_id = ${application.id} and f.status not in ('duplicate', 'out_of_scope')
    order by f.id limit ${findingsMax}`;
  const kept = new Map<string, Statement>();
  for (const row of rows) {
    const status = statuses[row.status];
    if (status === undefined) continue;
    const made = toStatement(application, row, status);
    const key = `${made.vulnerability ?? `finding ${made.findingId}`} ${made.product.id}`;
    const before = kept.get(key);
    if (before === undefined || isGraver(made, before)) kept.set(key, made);
  }
  return [...kept.values()];
}

/** An unprotected place outweighs a protected one: the product is what its weakest place is. */
function isGraver(one: Statement, other: Statement): boolean {
  const [left, right] = [gravest.indexOf(one.status), gravest.indexOf(other.status)];
  return left < right || (left === right && one.workaround === null && other.workaround !== null);
}

/** What is to be done, in a sentence; never empty. */
export function actionOf({ workaround, fix, isAccepted, reason }: Statement): string {
  if (workaround !== null)
    return (
      `workaround_available: the virtual patch with rule ${workaround.ruleId} refuses the attack before it reaches ` +
      `the application, proven ${workaround.provenAt.toISOString()} (sha256 of the proof ${workaround.proofSha256}).` +
      `${fix.text === '' ? '' : ` ${fix.text}`}`
    );
  if (isAccepted) return `The risk is accepted${reason === '' ? '.' : `: ${reason}`}`;
  if (fix.text !== '') return fix.text;
  return fix.state === 'wont_fix' ? 'No fix is planned.' : 'No fix or workaround is known yet.';
}
