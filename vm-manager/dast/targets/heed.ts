// What a running scan heeds twice a second: the switch for all scans, and whether its target is still what it was.
import { isDeepStrictEqual } from 'node:util';
import type { Queryable } from '../../database.js';
import type { TargetRow } from './verify.js';

/** A scan goes on only under the addresses and bounds that it began with. */
const heeded = [
  ...['url', 'waf_url', 'callback_url', 'scope_paths', 'excluded_paths', 'scan_methods', 'scan_windows'],
  ...['requests_max', 'requests_per_second', 'seconds_max', 'exploit_writes'],
] as readonly (keyof TargetRow)[];

/** Why nothing more may be sent to the target; null: it may. */
export async function whyStopped(sql: Queryable, began: TargetRow): Promise<string | null> {
  const [row] = await sql<(TargetRow & { halted: boolean | null; halted_by: string; halt_reason: string })[]>`
    select t.*, s.halted, s.changed_by as halted_by, s.reason as halt_reason
    from vm_targets t left join vm_scan_switch s on true where t.id = ${began.id}`;
  if (row === undefined) return 'The target was deleted.';
  if (row.halted === true) return `Scans are stopped by ${row.halted_by}: ${row.halt_reason}.`;
  if (row.verified_at === null) return 'The target is not verified any more.';
  const changed = heeded.filter((name) => !isDeepStrictEqual(row[name], began[name]));
  return changed.length === 0 ? null : `The target was changed meanwhile (${changed.join(', ')}).`;
}
