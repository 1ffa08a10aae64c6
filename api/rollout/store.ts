// Rollouts ring by ring, as they are kept: whichever control plane looks next goes on from here.
import type { Queryable } from '../db/client.js';
import type { Figures, Shares } from './figures.js';
import type { Limits } from './judge.js';

export interface Seen {
  readonly ring: Shares;
  readonly reference: Shares;
  readonly against: 'others' | 'before' | null;
  /** What it waits for; '': nothing. */
  readonly note: string;
}

export interface RolloutRow {
  readonly id: number;
  readonly status: 'running' | 'finished' | 'stopped';
  readonly version_id: number;
  readonly artifact_sha256: string;
  readonly managed_sha256: string;
  readonly generation: number;
  readonly rings: readonly string[];
  readonly limits: Limits;
  readonly stage: number;
  readonly reached: readonly string[];
  readonly baseline: Readonly<Record<string, Figures>>;
  readonly seen: Seen | null;
  readonly started_at: Date;
  readonly started_by: string;
  readonly stage_at: Date;
  readonly ended_at: Date | null;
  readonly reason: string;
}

type Stage = Pick<RolloutRow, 'stage' | 'reached' | 'baseline' | 'generation' | 'stage_at'>;
export type NewRollout = Stage &
  Pick<RolloutRow, 'version_id' | 'artifact_sha256' | 'managed_sha256' | 'rings' | 'limits' | 'started_by'>;

export async function findRunning(sql: Queryable): Promise<RolloutRow | null> {
  const [row] = await sql<RolloutRow[]>`select * from rollouts where status = 'running'`;
  return row ?? null;
}

/** Newest first. */
export const listRollouts = async (sql: Queryable): Promise<RolloutRow[]> =>
  sql<RolloutRow[]>`select * from rollouts order by id desc limit 20`;

export async function insertRollout(sql: Queryable, of: NewRollout): Promise<RolloutRow> {
  const [row] = await sql<RolloutRow[]>`
    insert into rollouts (status, version_id, artifact_sha256, managed_sha256, generation, rings, limits, stage,
      reached, baseline, started_at, started_by, stage_at)
    values ('running', ${of.version_id}, ${of.artifact_sha256}, ${of.managed_sha256}, ${of.generation},
      ${sql.json([...of.rings])}, ${sql.json({ ...of.limits })}, ${of.stage}, ${sql.json([...of.reached])},
      ${sql.json(of.baseline as never)}, ${of.stage_at}, ${of.started_by}, ${of.stage_at})
    returning *`;
  return row as RolloutRow;
}

export async function recordStage(sql: Queryable, id: number, of: Stage): Promise<void> {
  await sql`
    update rollouts set stage = ${of.stage}, reached = ${sql.json([...of.reached])}, seen = null,
      baseline = ${sql.json(of.baseline as never)}, generation = ${of.generation}, stage_at = ${of.stage_at}
    where id = ${id}`;
}

export async function recordSeen(sql: Queryable, id: number, seen: Seen): Promise<void> {
  await sql`update rollouts set seen = ${sql.json(seen as never)} where id = ${id}`;
}

export async function endRollout(
  sql: Queryable,
  id: number,
  status: 'finished' | 'stopped',
  reason: string,
  at: Date,
): Promise<void> {
  await sql`update rollouts set status = ${status}, reason = ${reason}, ended_at = ${at} where id = ${id}`;
}

/** Address of each node that enrolled → its ring; nodes without that label are left out. */
export async function ringsOfNodes(sql: Queryable): Promise<ReadonlyMap<string, string>> {
  const rows = await sql<{ name: string; ring: string }[]>`
    select name, labels->>'ring' as ring from enrolled_nodes
    where revoked_at is null and forgotten_at is null and labels->>'ring' is not null`;
  return new Map(rows.map(({ name, ring }) => [`node:${name}`, ring]));
}
