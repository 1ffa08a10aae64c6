// Where the road of a change begins and ends: the lock, the pending mark, and what follows the outcome. The road itself
// (road.ts) is the injected `applySettings`.
import { ApiError, checkIfMatch, type Actor } from '../http-kit/index.js';
import type { Queryable } from '../db/client.js';
import type { Parts } from '../parts.js';
import { findRunning } from '../rollout/store.js';
import { clearPending, markActive, markPending, readState } from '../settings/state.js';
import { findVersion, readHead } from '../settings/store.js';
import type { ApplyOutcome, ApplyReply, VersionToServe } from './contract.js';
import { pruneManagedRules } from './steps/managed-rules.js';

export type FlowParts = Pick<Parts, 'database' | 'audit' | 'applySettings'>;

/** Throws `conflict` (409): while nodes get one version in rings, none gets another. */
export async function refuseDuringRollout(sql: Queryable): Promise<void> {
  if ((await findRunning(sql)) === null) return;
  throw new ApiError(
    'conflict',
    'A rollout is under way. Wait for its end, or stop it (console: Nodes, or POST /api/rollouts/stop).',
  );
}

/**
 * Applies the head settings; throws `apply_refused` (422, nothing touched), `precondition_failed` (412), `conflict`
 * (409, a rollout is under way), `apply_failed` (502) or `not_ready` (503, no data plane).
 */
export async function applyHead(
  parts: FlowParts,
  actor: Actor,
  dryRun: boolean,
  ifMatch?: string,
): Promise<ApplyReply> {
  const { applySettings, database } = parts;
  if (applySettings === null) throw new ApiError('not_ready', 'No data plane is connected to this server.');
  return database.withLock('apply', async () => {
    const { sql } = database;
    if (!dryRun) await refuseDuringRollout(sql);
    const [head, state] = await Promise.all([readHead(sql), readState(sql)]);
    checkIfMatch(ifMatch, head.etag);
    const active = state.activeId === null ? null : await findVersion(sql, state.activeId);
    const generation = state.generation + 1;
    const outcome = await applySettings({
      version: head,
      active,
      dryRun,
      generation,
      markPending: (what, larger) => markPending(sql, head.id, what, larger ?? generation),
    });
    const served = outcome.kind === 'active' ? (outcome.generation ?? generation) : state.generation;
    if (!dryRun) await settle(parts, { actor, versionId: head.id, active, generation: served, outcome });
    if (outcome.kind === 'refused')
      throw new ApiError('apply_refused', `Nothing was activated: ${outcome.reason}`, {
        extensions: { diagnostics: outcome.diagnostics },
      });
    if (outcome.kind === 'failed')
      throw new ApiError('apply_failed', `Nothing was activated: ${outcome.reason}`, {
        extensions: { nodes: outcome.nodes },
      });
    return {
      applied: outcome.kind !== 'dry_run',
      dry_run: dryRun,
      unchanged: outcome.kind === 'dry_run' ? outcome.unchanged : outcome.kind === 'unchanged',
      version: head.id,
      generation: outcome.kind === 'dry_run' ? null : served,
      artifact_sha256: outcome.artifactSha256,
      diagnostics: [...outcome.diagnostics],
      impact: outcome.impact,
      impact_missing: outcome.impactMissing,
      not_enforced_yet: [...outcome.notEnforcedYet],
      nodes: outcome.kind === 'dry_run' ? [] : [...outcome.nodes],
      took_ms: outcome.tookMs,
      steps: outcome.steps ?? {},
    };
  });
}

interface Settling {
  readonly actor: Actor;
  readonly versionId: number;
  readonly active: VersionToServe | null;
  readonly generation: number;
  readonly outcome: ApplyOutcome;
}

async function settle(
  { database, audit }: FlowParts,
  { actor, versionId, active, generation, outcome }: Settling,
): Promise<void> {
  if (outcome.kind === 'dry_run') return;
  const isKnown =
    outcome.kind === 'unchanged' && active?.id === versionId && active.managedSha256 === outcome.managedSha256;
  if (isKnown) return;
  await database.sql.begin(async (tx) => {
    const isInForce = outcome.kind === 'active' || outcome.kind === 'unchanged';
    if (isInForce) await markActive(tx, versionId, outcome, generation);
    else await clearPending(tx);
    await pruneManagedRules(tx);
    await audit.record(tx, {
      actor,
      action: isInForce ? 'config.apply' : 'config.apply.refused',
      summary: summaryOf(outcome, versionId, generation),
      details: { version: versionId, generation },
    });
  });
}

const countedNodes = (count: number): string => `${count} ${count === 1 ? 'node' : 'nodes'}`;

function summaryOf(outcome: Exclude<ApplyOutcome, { kind: 'dry_run' }>, versionId: number, generation: number): string {
  if (outcome.kind === 'refused' || outcome.kind === 'failed')
    return `settings version ${versionId} was not applied: ${outcome.reason}`;
  const where =
    outcome.kind === 'unchanged'
      ? ', which served the same already'
      : ` on ${countedNodes(outcome.nodes.filter((node) => node.state === 'active').length)}`;
  return `applied settings version ${versionId} as generation ${generation}${where}`;
}
