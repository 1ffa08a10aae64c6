// A directory that is named in two ways (`trivy fs .` and `trivy fs /home/al/shop`) is two parts: nothing in the
// reports tells them from two services. That the same findings are in both is told, as none of them is closed by one
// alone.
import type { Tx } from '../../database.js';
import type { ImportReport } from '../import-report.js';
import type { ReportFacts } from '../record.js';
import type { ImportScope } from './scope.js';

const askedMax = 500;

/** Half of what a report has, in the scope of another directory: they may be one. Adds a problem to the report. */
export async function tellOfTwins(tx: Tx, scope: ImportScope, facts: ReportFacts, report: ImportReport): Promise<void> {
  if (scope.mode !== 'sync' || facts.isDirectory !== true) return;
  const { scopeKey, family, runId } = scope;
  const [twin] = await tx<{ scope_key: string; shared: number; asked: number }[]>`
    with own as (
      select distinct finding_id from vm_occurrences where scope_key = ${scopeKey} and last_run = ${runId}
        and gone_at is null limit ${askedMax}
    )
    select o.scope_key, count(distinct o.finding_id)::int as shared, (select count(*)::int from own) as asked
    from own join vm_occurrences o on o.finding_id = own.finding_id
    where o.gone_at is null and o.scope_key <> ${scopeKey} and starts_with(o.scope_key, ${family})
    group by 1 order by 2 desc, 1 limit 1`;
  if (twin === undefined || twin.shared * 2 < twin.asked) return;
  const [own, other] = [scopeKey, twin.scope_key].map((key) => key.slice(family.length) || '.');
  report.problems.unshift({
    at: 'the report',
    detail:
      `is of the directory "${own}", and ${twin.shared} of ${twin.asked} findings are known of "${other}", too: they ` +
      'are closed when both reports no longer have them. If it is the same directory, scan it by one name',
  });
}
