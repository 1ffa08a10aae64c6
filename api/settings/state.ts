// Which version is edited, which one serves, and which one is on its way to serve.
import type { Queryable } from '../db/client.js';

/** By the hashes of what is kept; `managedSha256` null: unknown. */
interface AppliedWith {
  readonly artifactSha256: string;
  readonly managedSha256: string | null;
}

export interface SettingsState {
  readonly headId: number;
  /** null until the first successful apply. */
  readonly activeId: number | null;
  /** A version whose activation was begun and not finished: to be healed at start. */
  readonly pendingId: number | null;
  /** What that activation is to put in force; of the version itself, only what served it last is kept. */
  readonly pendingArtifactSha256: string | null;
  readonly pendingManagedSha256: string | null;
  readonly generation: number;
}

export async function readState(sql: Queryable): Promise<SettingsState> {
  const [row] = await sql<
    {
      head_id: number;
      active_id: number | null;
      pending_id: number | null;
      pending_artifact_sha256: string | null;
      pending_managed_sha256: string | null;
      generation: number;
    }[]
  >`
    select head_id, active_id, pending_id, pending_artifact_sha256, pending_managed_sha256, generation
    from settings_state`;
  if (row === undefined) throw new Error('the settings were never seeded');
  return {
    headId: row.head_id,
    activeId: row.active_id,
    pendingId: row.pending_id,
    pendingArtifactSha256: row.pending_artifact_sha256,
    pendingManagedSha256: row.pending_managed_sha256,
    generation: row.generation,
  };
}

/** Remembers which version is about to be activated, and with what, so that a crash can be healed. */
export async function markPending(
  sql: Queryable,
  versionId: number,
  { artifactSha256, managedSha256 }: AppliedWith,
  generation: number,
): Promise<void> {
  await sql`
    update settings_state set pending_id = ${versionId}, pending_artifact_sha256 = ${artifactSha256},
      pending_managed_sha256 = ${managedSha256}, generation = ${generation}`;
}

/** One statement, so it needs no transaction. */
export async function markActive(
  sql: Queryable,
  versionId: number,
  { artifactSha256, managedSha256 }: AppliedWith,
  generation: number,
): Promise<void> {
  await sql`
    with version as (
      update settings_versions set artifact_sha256 = ${artifactSha256}, managed_sha256 = ${managedSha256},
        generation = ${generation} where id = ${versionId})
    update settings_state set active_id = ${versionId}, pending_id = null, pending_artifact_sha256 = null,
      pending_managed_sha256 = null, generation = ${generation}`;
}

export async function clearPending(sql: Queryable): Promise<void> {
  await sql`
    update settings_state set pending_id = null, pending_artifact_sha256 = null, pending_managed_sha256 = null`;
}
