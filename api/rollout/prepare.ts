// The head settings made ready for a rollout: everything that can be refused is refused before a node is asked.
import { buildTarget, configOf, resolveVersion, type ChangeRoadParts, type Restored } from '../change/node-target.js';
import type { ApplyDiagnostic, VersionToServe } from '../change/contract.js';
import { keepManagedRules } from '../change/steps/managed-rules.js';
import { ApiError } from '../http-kit/index.js';
import { readState } from '../settings/state.js';
import { findVersion, readHead } from '../settings/store.js';

const refused = (reason: string, diagnostics: readonly ApplyDiagnostic[]): ApiError =>
  new ApiError('apply_refused', `Nothing was activated: ${reason}`, { extensions: { diagnostics } });

/** Throws ApiError: `conflict` where there is nothing to roll out, `apply_refused` with diagnostics. */
export async function prepare(
  parts: ChangeRoadParts,
): Promise<{ readonly version: VersionToServe; readonly target: Restored }> {
  const { sql } = parts.database;
  const [head, state] = await Promise.all([readHead(sql), readState(sql)]);
  const active = state.activeId === null ? null : await findVersion(sql, state.activeId);
  if (active === null)
    throw new ApiError('conflict', 'No version is active yet, so nothing could be taken back: apply to all nodes.');
  const resolved = await resolveVersion(parts, head, 'today');
  if (resolved.kind === 'refused') throw refused('the settings do not fit together', resolved.diagnostics);
  const failing = await parts.ruleTests.prove(resolved.settings);
  if (failing.length > 0) throw refused(`${failing.length} tests of custom rules fail`, failing);
  const built = await buildTarget(parts, resolved);
  if (built.kind === 'refused') throw refused('the settings do not compile', built.diagnostics);
  const serves = JSON.stringify(await configOf(parts, active));
  if (active.artifactSha256 === built.sha256 && serves === JSON.stringify(built.config))
    throw new ApiError('conflict', 'The nodes serve the saved settings already.');
  await built.compiled.stored;
  await keepManagedRules(sql, built.managed);
  return { version: head, target: { ...built, managedSha256: built.managed.sha256 } };
}
