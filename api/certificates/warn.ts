// Certificates that come to their end although they should have been renewed: told at 21, 7 and 1 days and when it is
// over, each once, as entries of the audit log, which connectors and alert rules see.
import { systemActor } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { warningOf, type WarningDays } from './schedule.js';
import { listCertificates, listIssues, noteTold, type CertificateRow, type IssueRow } from './store.js';

export type WarnParts = Pick<Parts, 'database' | 'audit'>;

/** What serves for each certificate: of several issues the one that ends last. */
export function servedOf(issues: readonly IssueRow[]): ReadonlyMap<string, IssueRow> {
  const served = new Map<string, IssueRow>();
  for (const issue of issues) {
    const known = served.get(issue.certificate_id);
    if (known === undefined || known.not_after < issue.not_after) served.set(issue.certificate_id, issue);
  }
  return served;
}

const sentenceOf = ({ names, last_error }: CertificateRow, { not_after }: IssueRow, days: WarningDays): string => {
  const list = names.split(' ').join(', ');
  const when = not_after.toISOString();
  const why = last_error === null ? '' : `; renewing it failed: ${last_error}`;
  if (days === 0) return `the certificate for ${list} ended on ${when}${why}`;
  return `the certificate for ${list} ends on ${when}, within ${days === 1 ? 'a day' : `${days} days`}${why}`;
};

/** Returns how many warnings were given. */
export async function warn({ database, audit }: WarnParts, nowMs: number): Promise<number> {
  const served = servedOf(await listIssues(database.sql));
  let told = 0;
  for (const row of await listCertificates(database.sql)) {
    const issue = served.get(row.id);
    if (issue === undefined || row.revoked_at !== null) continue;
    const times = { notBeforeMs: issue.not_before.getTime(), notAfterMs: issue.not_after.getTime() };
    const days = warningOf({ ...times, isRenewed: row.next_attempt_at !== null }, nowMs);
    if (days === null || (row.told_days !== null && row.told_days <= days)) continue;
    await database.sql.begin(async (tx) => {
      await noteTold(tx, row.id, days);
      await audit.record(tx, {
        actor: systemActor,
        action: 'certificate.ending',
        summary: sentenceOf(row, issue, days).slice(0, 1000),
        details: { certificate: row.id, days, not_after: issue.not_after.toISOString() },
      });
    });
    told += 1;
  }
  return told;
}
