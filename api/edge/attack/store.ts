// The table of changes of attack mode.
import type { Queryable } from '../../db/client.js';
import type { NodeAttack } from '../node-gates.js';

export interface AttackChangeRow {
  readonly id: number;
  readonly node: string;
  readonly change: 'enter' | 'leave';
  readonly cause: string;
  readonly at: Date;
  readonly rpm: number;
  readonly baseline_rpm: number;
  readonly threshold_rpm: number;
}

/** How long changes are kept. */
const keptMs = 90 * 86_400_000;

/** null: it is known already. */
export async function addAttackChange(
  sql: Queryable,
  node: string,
  change: NodeAttack['transitions'][number],
): Promise<AttackChangeRow | null> {
  const [row] = await sql<AttackChangeRow[]>`
    insert into attack_changes (node, change, cause, at, rpm, baseline_rpm, threshold_rpm)
    values (${node}, ${change.kind}, ${change.cause}, ${new Date(change.atMs)}, ${change.rpm}, ${change.baselineRpm},
      ${change.thresholdRpm})
    on conflict (node, at, change) do nothing returning *`;
  return row ?? null;
}

/** The newest first. */
export async function listAttackChanges(sql: Queryable, limit: number): Promise<AttackChangeRow[]> {
  return sql<AttackChangeRow[]>`select * from attack_changes order by at desc, id desc limit ${limit}`;
}

export async function pruneAttackChanges(sql: Queryable, now: Date): Promise<void> {
  await sql`delete from attack_changes where at < ${new Date(now.getTime() - keptMs)}`;
}
