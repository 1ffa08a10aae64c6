// "Prove again": the check of a finding once more, on the target, and behind the firewall where that is named.
import { ApiError } from '#http-kit';
import { json } from '../../database.js';
import type { Call } from '../../kit/endpoint.js';
import { checkTexts } from '../checks/index.js';
import { Budget } from '../http/pace.js';
import { ScanOver, type Found } from '../model.js';
import { wafEntryOf, type TargetRow } from '../targets/verify.js';
import { tryBehindWaf } from './behind-waf.js';
import { evidenceOf } from './evidence.js';
import { besideScans, budgetOfRunning, planFor } from './run-scan.js';
import { Prover } from './scanner.js';
import { markBehindWaf, type ScanFindingRow } from './store.js';

const requestsMax = 200;
const secondsMax = 60;

/** Throws ApiError where the target may not be asked now, or does not answer. `canceled` ends it within a request. */
export const proveFinding = async (
  call: Call,
  target: TargetRow,
  row: ScanFindingRow,
  canceled?: AbortSignal,
): Promise<ScanFindingRow> =>
  besideScans(call, target, async (signal) =>
    proveUntil(call, target, row, canceled === undefined ? signal : AbortSignal.any([signal, canceled])),
  );

async function proveUntil(
  call: Call,
  target: TargetRow,
  row: ScanFindingRow,
  stop: AbortSignal,
): Promise<ScanFindingRow> {
  const signal = AbortSignal.any([AbortSignal.timeout(secondsMax * 1000), stop]);
  const full = await planFor(call, target, 'full', `prove-${row.id}`, signal);
  const bounds = { ...full.bounds, requestsMax: Math.min(requestsMax, full.bounds.requestsMax), secondsMax };
  const plan = { ...full, bounds, budget: new Budget(bounds, await budgetOfRunning(call, target)) };
  const check = checkTexts.find(({ id }) => id === row.check_id);
  if (check === undefined) throw new ApiError('conflict', `There is no check ${row.check_id} any more.`);
  const prover = new Prover(plan);
  try {
    await prover.logIn();
    const seenPaths = row.form.page === null ? [] : [row.form.page];
    const looked = await prover.prove({ checkId: row.check_id, form: row.form, param: row.param, seenPaths });
    const { proof } = looked;
    if (proof === null && !looked.isCertain)
      throw new ApiError(
        'conflict',
        'It could not be tried: the target refused or left out answers, or the check does not apply to it as it is. ' +
          'See its login and bounds, then prove it again.',
      );
    const found: Found | null = proof === null ? null : { check, form: row.form, param: row.param, proof };
    const entry = wafEntryOf(target, call.now);
    const tried = found === null || entry?.url == null ? null : await tryBehindWaf(plan, entry.url, [found]);
    const behind = found === null ? row.behind_waf : (tried?.verdicts.get(found) ?? 'not_tried');
    const isThere = found !== null;
    const outcome = isThere ? 'it is there' : 'it does not show';
    const summary = `proved finding ${row.id} of the scan ${row.run_id} again: ${outcome}`;
    return await call.audited('vm.update', summary, async (tx) => {
      const [after] = await tx<ScanFindingRow[]>`
        update vm_scan_findings set still_there = ${isThere}, proved_at = ${new Date(call.host.now())},
          behind_waf = ${behind}
          ${found === null ? tx`` : tx`, proof = ${json(tx, evidenceOf(found))}`}
        where id = ${row.id} returning *`;
      await markBehindWaf(tx, row.run_id, new Date(call.host.now()));
      return after ?? row;
    });
  } catch (error) {
    if (error instanceof ScanOver) throw new ApiError('conflict', `It could not be tried: ${error.message}`);
    throw error;
  } finally {
    await prover.close();
  }
}
