// Mutes that hold for what a run brought in.
import type { Actor } from '#http-kit';
import type { Tx } from '../database.js';
import { applyMutes } from './mutes.js';

/** Nothing is asked where there are no mutes. */
export async function applyNewMutes(tx: Tx, actor: Actor, runId: number, now: Date): Promise<void> {
  const [active] = await tx`select 1 from vm_mutes where expires_at > ${now} limit 1`;
  if (active === undefined) return;
  const rows = await tx<{ finding_id: number }[]>`select finding_id from vm_occurrences where last_run = ${runId}`;
  const ids = [...new Set(rows.map(({ finding_id }) => finding_id))];
  for (let from = 0; from < ids.length; from += 5000)
    await applyMutes(tx, actor, now, { muted: 'all', only: ids.slice(from, from + 5000) });
}
