// Which virtual patch fits a finding of a scan that is exploitable behind the firewall, or why none does: what
// POST /vpatches would propose, tried as it would be. Nothing is stored by it.
import { ApiError } from '#http-kit';
import type { FindingRow, DetailsRow } from '../../findings/fields.js';
import type { Call } from '../../kit/endpoint.js';
import type { Firewall } from '../../vpatches/firewall.js';
import { propose, type Proposal } from '../../vpatches/propose.js';
import { tryAlone } from '../../vpatches/prove.js';
import type { ScanFindingRow } from './store.js';

export interface FittingPatch {
  readonly fits: boolean;
  readonly strategy: string | null;
  /** What the rule looks at; where none fits, why. */
  readonly why: string;
}

/** What the trial of a rule said, by the rule and its requests: a list is read again and again while a scan runs. */
const trials = new Map<string, FittingPatch>();
const trialsMax = 1000;

async function tried(firewall: Firewall, proposal: Proposal): Promise<FittingPatch> {
  const { strategy, explanation, attack, benign, text } = proposal;
  const name = JSON.stringify([text(firewall.ownIds[0]), attack, benign]);
  const known = trials.get(name);
  if (known !== undefined) return known;
  let made: FittingPatch = { fits: true, strategy, why: explanation.join(' ') };
  try {
    await tryAlone(firewall, proposal);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // that it could not be tried now is no answer that stays
    if (error.code !== 'unfit') return none(`It could not be tried: ${error.message}`);
    made = none(error.message);
  }
  if (trials.size >= trialsMax) trials.clear();
  trials.set(name, made);
  return made;
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
  const fitting = async (row: FindingRow): Promise<FittingPatch> => {
    try {
      const proposal = propose(row, byId.get(row.id) ?? null, firewall.catalogue(row.vuln_ids), {});
      return await tried(firewall, proposal);
    } catch (error) {
      if (error instanceof ApiError) return none(error.message);
      throw error;
    }
  };
  const fits = new Map<number, FittingPatch>();
  for (const row of findings) fits.set(row.id, await fitting(row));
  return fits;
}
