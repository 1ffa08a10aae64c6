// Around the road of a change: the lock, the pending mark, and what follows the outcome. The road itself (compile, store,
// activate) is the injected `applySettings`.
import type { Actor } from '../audit/chain.js';
import type { House } from '../deps.js';
import { ApiError } from '../errors.js';
import type { ApplyOutcome, ApplyReply } from './contract.js';
import { revealSecrets } from './secrets.js';
import { clearPending, findVersion, markActive, markPending, readHead, readState } from './store.js';

/** Applies the head settings; throws `apply_refused` (422, nothing touched), `apply_failed` (502) or `not_ready` (503, no data plane). */
export async function applyHead(house: House, actor: Actor, dryRun: boolean): Promise<ApplyReply> {
  const { applySettings, database } = house;
  if (applySettings === null) throw new ApiError('not_ready', 'No data plane is connected to this server.');
  return database.withLock('apply', async () => {
    const { sql } = database;
    const [head, state] = [await readHead(sql), await readState(sql)];
    const active = state.activeId === null ? null : await findVersion(sql, state.activeId);
    const generation = state.generation + 1;
    const outcome = await applySettings({
      versionId: head.id,
      settings: revealSecrets(head.settings, house.sealing),
      activeSettings: active === null ? null : revealSecrets(active.settings, house.sealing),
      dryRun,
      actor,
      generation,
      markPending: (artifactSha256) => sql.begin((tx) => markPending(tx, head.id, artifactSha256, generation)),
    });
    await settle(house, actor, head.id, generation, outcome);
    if (outcome.kind === 'refused') throw new ApiError('apply_refused', `Nothing was activated: ${outcome.reason}`, { extensions: { diagnostics: outcome.diagnostics } });
    if (outcome.kind === 'failed') throw new ApiError('apply_failed', `Nothing was activated: ${outcome.reason}`, { extensions: { nodes: outcome.nodes } });
    return {
      applied: outcome.kind === 'active', dry_run: dryRun, version: head.id, generation: outcome.kind === 'active' ? generation : null, artifact_sha256: outcome.artifactSha256,
      diagnostics: [...outcome.diagnostics], impact: outcome.impact, not_enforced_yet: [...outcome.notEnforcedYet], nodes: outcome.kind === 'active' ? [...outcome.nodes] : [], took_ms: outcome.tookMs,
    };
  });
}

async function settle(house: House, actor: Actor, versionId: number, generation: number, outcome: ApplyOutcome): Promise<void> {
  if (outcome.kind === 'dry_run') return;
  await house.database.sql.begin(async (tx) => {
    if (outcome.kind === 'active') await markActive(tx, versionId, outcome.artifactSha256, generation);
    else await clearPending(tx);
    const summary = outcome.kind === 'active' ? `applied settings version ${versionId} as generation ${generation} on ${outcome.nodes.length} nodes` : `settings version ${versionId} was not applied: ${outcome.reason}`;
    await house.audit.record(tx, { actor, action: outcome.kind === 'active' ? 'config.apply' : 'config.apply.refused', summary, details: { version: versionId, generation } });
  });
}
