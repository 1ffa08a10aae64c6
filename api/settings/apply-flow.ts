// Around the road of a change: the lock, the pending mark, and what follows the outcome. The road itself (compile, store,
// activate) is the injected `applySettings`.
import type { Actor } from '../audit/chain.js';
import type { House } from '../deps.js';
import { ApiError } from '../errors.js';
import { checkIfMatch } from '../http/etag.js';
import type { ApplyOutcome, ApplyReply } from './contract.js';
import { revealSecrets } from './secrets.js';
import { clearPending, findVersion, markActive, markPending, readHead, readState } from './store.js';

/** Applies the head settings; throws `apply_refused` (422, nothing touched), `precondition_failed` (412), `apply_failed` (502) or `not_ready` (503, no data plane). */
export async function applyHead(house: House, actor: Actor, dryRun: boolean, ifMatch?: string): Promise<ApplyReply> {
  const { applySettings, database } = house;
  if (applySettings === null) throw new ApiError('not_ready', 'No data plane is connected to this server.');
  return database.withLock('apply', async () => {
    const { sql } = database;
    const [head, state] = await Promise.all([readHead(sql), readState(sql)]);
    checkIfMatch(ifMatch, head.etag);
    const active = state.activeId === null ? null : await findVersion(sql, state.activeId);
    const generation = state.generation + 1;
    const outcome = await applySettings({
      versionId: head.id,
      settings: revealSecrets(head.settings, house.sealing),
      activeSettings: active === null ? null : revealSecrets(active.settings, house.sealing),
      activeVersion: active,
      dryRun,
      actor,
      generation,
      markPending: (artifactSha256, larger) => markPending(sql, head.id, artifactSha256, larger ?? generation),
    });
    const served = outcome.kind === 'active' ? (outcome.generation ?? generation) : state.generation;
    if (!dryRun) await settle(house, actor, head.id, state.activeId, served, outcome);
    if (outcome.kind === 'refused') throw new ApiError('apply_refused', `Nothing was activated: ${outcome.reason}`, { extensions: { diagnostics: outcome.diagnostics } });
    if (outcome.kind === 'failed') throw new ApiError('apply_failed', `Nothing was activated: ${outcome.reason}`, { extensions: { nodes: outcome.nodes } });
    return {
      applied: outcome.kind !== 'dry_run', dry_run: dryRun, unchanged: outcome.kind === 'dry_run' ? outcome.unchanged : outcome.kind === 'unchanged', version: head.id, generation: outcome.kind === 'dry_run' ? null : served, artifact_sha256: outcome.artifactSha256,
      diagnostics: [...outcome.diagnostics], impact: outcome.impact, not_enforced_yet: [...outcome.notEnforcedYet], nodes: outcome.kind === 'dry_run' ? [] : [...outcome.nodes], took_ms: outcome.tookMs, steps: outcome.steps ?? {},
    };
  });
}

async function settle(house: House, actor: Actor, versionId: number, activeId: number | null, generation: number, outcome: ApplyOutcome): Promise<void> {
  if (outcome.kind === 'dry_run' || (outcome.kind === 'unchanged' && activeId === versionId)) return;
  await house.database.sql.begin(async (tx) => {
    const isInForce = outcome.kind === 'active' || outcome.kind === 'unchanged';
    if (isInForce) await markActive(tx, versionId, outcome.artifactSha256, generation);
    else await clearPending(tx);
    const summary = isInForce ? `applied settings version ${versionId} as generation ${generation}${outcome.kind === 'unchanged' ? ', which served the same already' : ` on ${outcome.nodes.filter((node) => node.state === 'active').length} nodes`}` : `settings version ${versionId} was not applied: ${outcome.reason}`;
    await house.audit.record(tx, { actor, action: isInForce ? 'config.apply' : 'config.apply.refused', summary, details: { version: versionId, generation } });
  });
}
