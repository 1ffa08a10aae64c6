// Which virtual patch fits a finding of a scan that is exploitable behind the firewall, or why none does: what
// POST /vpatches would propose. Nothing is stored by it.
import { ApiError } from '#http-kit';
import type { FindingRow, DetailsRow } from '../../findings/fields.js';
import type { Call } from '../../kit/endpoint.js';
import { propose } from '../../vpatches/propose.js';
import type { ScanFindingRow } from './store.js';

export interface FittingPatch {
  readonly fits: boolean;
  readonly strategy: string | null;
  /** What the rule looks at; where none fits, why. */
  readonly why: string;
}

const none = (why: string): FittingPatch => ({ fits: false, strategy: null, why });

/** By the id of the hub's finding. */
export async function fittingPatches(
  { host, sql }: Pick<Call, 'host' | 'sql'>,
  rows: readonly ScanFindingRow[],
): Promise<ReadonlyMap<number, FittingPatch>> {
  const ids = rows.flatMap(({ finding_id: id, behind_waf }) =>
    id !== null && behind_waf === 'exploitable' ? [id] : [],
  );
  if (ids.length === 0) return new Map();
  const { firewall } = host;
  if (firewall === undefined)
    return new Map(ids.map((id) => [id, none('This server has no firewall that a virtual patch could be put into.')]));
  const findings = await sql<FindingRow[]>`select * from vm_findings where id in ${sql(ids)}`;
  const details = await sql<DetailsRow[]>`select * from vm_finding_details where finding_id in ${sql(ids)}`;
  const byId = new Map(details.map((one) => [one.finding_id, one]));
  const fitting = (row: FindingRow): FittingPatch => {
    try {
      const { strategy, explanation } = propose(row, byId.get(row.id) ?? null, firewall.catalogue(row.vuln_ids), {});
      return { fits: true, strategy, why: explanation.join(' ') };
    } catch (error) {
      if (error instanceof ApiError) return none(error.message);
      throw error;
    }
  };
  return new Map(findings.map((row) => [row.id, fitting(row)]));
}
