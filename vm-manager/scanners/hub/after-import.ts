// What follows the import of a scan: the components of a bill are matched with the advisories at once, and what the
// installation has no advisories for is reported: packages compared with nothing are not clean.
import { requireApplication } from '../../assets/resources.js';
import { termsFor } from '../../imports/run/run-import.js';
import type { Call } from '../../kit/endpoint.js';
import type { Run } from '../../kit/runs.js';
import { advisoryNameOf, parsePurl } from '../../components/purl.js';
import { matchApplication } from '../../osv/run.js';
import type { Scanner } from '../contract.js';
import type { ScanResult } from '../run/result.js';

/** Ecosystems of the packages, `npm`, `pypi`, … as the advisories' names begin. */
function ecosystemsOf({ results }: ScanResult): string[] {
  const found = results.flatMap(({ packages }) =>
    packages.map(({ purl }) => {
      const parsed = parsePurl(purl);
      const named = parsed === null ? null : advisoryNameOf(parsed);
      return named === null ? (parsed?.type ?? '') : (named.package.split('|')[0] ?? '');
    }),
  );
  return [...new Set(found)].filter((name) => name !== '').sort();
}

async function withoutAdvisories({ sql }: Call, ecosystems: readonly string[]): Promise<string[]> {
  const missing: string[] = [];
  for (const name of ecosystems) {
    const [row] =
      await sql`select 1 from vm_osv_affected where package >= ${`${name}|`} and package < ${`${name}}`} limit 1`;
    if (row === undefined) missing.push(name);
  }
  return missing;
}

/** What it adds to the result of the run. */
export async function afterImport(
  call: Call,
  scanner: Scanner,
  applicationId: string,
  scanned: ScanResult,
): Promise<Readonly<Record<string, unknown>>> {
  if (scanner.toReport === undefined) return {};
  const { keyed } = await termsFor(call, { application_id: applicationId });
  const { id } = await requireApplication(call.sql, call.reach, applicationId);
  const matching = { host: call.host, applicationId: id, actor: call.caller.actor, now: call.now, keyed };
  const run = await matchApplication({
    ...matching,
    finish: async (work) =>
      call.audited(
        'vm.import',
        (made: Run) => `matched application ${made.application_id} with the advisories (run ${made.id})`,
        work,
      ),
  });
  const missing = await withoutAdvisories(call, ecosystemsOf(scanned));
  return {
    match_id: String(run.id),
    matched: run.result,
    without_advisories: missing,
    ...(missing.length === 0 ? {} : { complete: false }),
  };
}
