// What another tool knows of a weakness of a package beside what its finding says: further ids, such as the CVE of an
// advisory, and a weakness class where there is none. Without the CVE nothing of KEV, EPSS, VEX or an acceptance meets
// the finding, and which tool was first would decide it.
import { json, type Tx } from '../../database.js';
import { refreshFindings } from '../../findings/refresh.js';
import type { Prepared } from '../import-store.js';
import type { Location } from '../record.js';

/** As many as a record may have. */
const idsMax = 50;

/**
 * The ids of the report, then those that the finding had by others. Of a package they are names of one weakness, but
 * some tools (Retire.js) put several of a package into one record: with a second CVE they name more than one, and
 * nothing is known of which is meant.
 */
export function allIds(told: readonly string[], before: readonly string[], kind: Location['kind']): readonly string[] {
  if (kind !== 'package' || before.every((id) => told.includes(id))) return told;
  const all = [...new Set([...told, ...before])];
  return all.filter((id) => id.startsWith('CVE-')).length > 1 ? told : all.slice(0, idsMax);
}

interface Stored {
  readonly id: number;
  readonly vuln_ids: readonly string[];
  readonly cwes: readonly number[];
}

/** Adds to findings what sightings by other tools say beyond them, and ranks anew those that became known by it. */
export async function learn(
  tx: Tx,
  sightings: readonly { readonly prepared: Prepared; readonly id: number }[],
  now: Date,
): Promise<void> {
  const told = sightings.filter(({ prepared }) => prepared.kind === 'package' && prepared.record.vulnIds.length > 0);
  if (told.length === 0) return;
  const rows = await tx<Stored[]>`
    select id, vuln_ids, cwes from vm_findings where id in ${tx(told.map(({ id }) => id))} order by id for update`;
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const { prepared, id } of told) {
    const row = byId.get(id);
    if (row === undefined) continue;
    const { vulnIds, cwes } = prepared.record;
    const more = { ...row, vuln_ids: allIds(row.vuln_ids, vulnIds, 'package') };
    byId.set(id, { ...more, cwes: row.cwes.length === 0 ? cwes : row.cwes });
  }
  const changed = rows.flatMap((row) => {
    const { vuln_ids, cwes } = byId.get(row.id) ?? row;
    const isMore = vuln_ids.length > row.vuln_ids.length || cwes.length > row.cwes.length;
    return isMore ? [{ id: row.id, vuln_ids, cwes }] : [];
  });
  if (changed.length === 0) return;
  const ofIds = tx`from vm_cves c where c.cve in (select jsonb_array_elements_text(n.vuln_ids))`;
  await tx`
    update vm_findings f set vuln_ids = n.vuln_ids, cwes = n.cwes, updated_at = ${now}, version = f.version + 1,
      kev = coalesce((select bool_or(c.kev) ${ofIds}), false), epss = (select max(c.epss) ${ofIds})
    from jsonb_to_recordset(${json(tx, changed)}) as n(id bigint, vuln_ids jsonb, cwes jsonb) where f.id = n.id`;
  await refreshFindings(
    tx,
    changed.map(({ id }) => id),
    now,
  );
}
