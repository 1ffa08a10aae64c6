// What an import says of itself in its event: one notice for a report, however much it found, with the severity of the
// gravest thing in it, so that routes of notifications can ask for that.
import type { Queryable } from '../../database.js';
import { severityNames } from '../../findings/words.js';
import type { ImportScope } from './scope.js';

/** Findings by severity, 0 info to 4 critical. */
export type BySeverity = ReadonlyMap<number, number>;

/** Findings that an import has made or opened again, and that are open after it (mutes may have closed some). */
export async function countOpened(
  sql: Queryable,
  { runId, now }: Pick<ImportScope, 'runId' | 'now'>,
): Promise<BySeverity> {
  const rows = await sql<{ severity: number; count: number }[]>`
    select f.severity, count(*)::integer as count from vm_findings f
    where f.is_open and f.id in (
      select finding_id from vm_transitions
      where at = ${now} and run_id = ${runId} and (from_status is null or to_status = 'reopened'))
    group by f.severity`;
  return new Map(rows.map(({ severity, count }) => [severity, count]));
}

/** `severity` null: nothing is new. Counts are named from critical down to low; info is in the total alone. */
export function summaryOf(
  tool: string,
  counts: BySeverity,
): { readonly summary: string; readonly severity: number | null } {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const grave = severityNames
    .map((name, severity) => ({ name, count: counts.get(severity) ?? 0 }))
    .slice(1)
    .reverse()
    .flatMap(({ name, count }) => (count === 0 ? [] : [`${count} ${name}`]));
  const what = total === 0 ? 'no new finding' : `${total} new ${total === 1 ? 'finding' : 'findings'}`;
  return {
    summary: `${tool}: ${what}${grave.length === 0 ? '' : ` (${grave.join(', ')})`}`,
    severity: total === 0 ? null : Math.max(...counts.keys()),
  };
}
