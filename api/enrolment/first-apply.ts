// Where every node enrols, nothing serves before the first apply: a new installation would wait for a person, and a
// rollout that waits for nodes to be ready would be taken back.
import { applyHead } from '../change/flow.js';
import { systemActor } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { readState } from '../settings/state.js';

/** Applies the saved settings if none were in force yet. Rejects where a node refuses; the next one tries again. */
export async function applyFirst(parts: Pick<Parts, 'database' | 'audit' | 'applySettings'>): Promise<void> {
  const { activeId, pendingId } = await readState(parts.database.sql);
  if (activeId === null && pendingId === null) await applyHead(parts, systemActor, false);
}
