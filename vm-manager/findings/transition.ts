// A finding's change of state: the row, the transition, the event, the clock, the chains that have to be looked at
// again, all in one transaction. Nothing else writes `status`.
import { ApiError, type Actor } from '#http-kit';
import type { Tx } from '../database.js';
import { emit } from '../kit/events.js';
import { findMove, type Cause } from '../kit/machine.js';
import { unfit } from '../kit/endpoint.js';
import type { FindingRow } from './fields.js';
import { lifecycle } from './lifecycle.js';
import { isOpen, justifications, type Status } from './words.js';

export interface Wanted {
  readonly to: Status;
  readonly by: Cause;
  readonly reason?: string;
  readonly justification?: string;
  readonly canonicalId?: number;
  readonly runId?: number;
}

/** Moves one locked row; returns it as it is now. Throws 409 for a move that is not allowed, 422 for what lacks. */
export async function transition(
  tx: Tx,
  row: FindingRow,
  wanted: Wanted,
  actor: Actor,
  now: Date,
): Promise<FindingRow> {
  const move = findMove(lifecycle, row.status, wanted.to, wanted.by);
  const reason = wanted.reason?.trim() ?? '';
  for (const needed of move.needs ?? []) {
    if (needed === 'reason' && reason === '') throw unfit('/reason', `is needed to make it ${wanted.to}`);
    if (needed === 'assignee' && row.assignee_id === null)
      throw new ApiError('conflict', 'The finding belongs to nobody: assign it first.');
    if (needed === 'justification' && !justifications.some((word) => word === wanted.justification))
      throw unfit('/justification', `must be one of ${justifications.join(', ')}`);
    if (needed === 'canonical_id' && wanted.canonicalId === undefined)
      throw unfit('/canonical_id', 'is needed: the finding that this one is a duplicate of');
  }
  return store(tx, row, { ...wanted, reason }, actor, now);
}

async function store(tx: Tx, row: FindingRow, wanted: Wanted, actor: Actor, now: Date): Promise<FindingRow> {
  const { to } = wanted;
  const opens = isOpen(to);
  const wasOpen = isOpen(row.status);
  const pauses = to === 'risk_accepted' || to === 'muted';
  // a clock that a person stopped stands on while the finding is open, or is accepted or muted
  const stands = row.sla_held && opens;
  const goesOn = stands || pauses;
  const pausedMs = row.sla_paused_at !== null && !goesOn ? now.getTime() - row.sla_paused_at.getTime() : 0;
  const restarts = to === 'reopened' && row.status === 'resolved';
  const due = dueAfter(row, restarts, pausedMs, now);
  const [made] = await tx<FindingRow[]>`
    update vm_findings set status = ${to}, updated_at = ${now}, version = version + 1,
      previous_status = ${pauses ? row.status : null},
      closed_at = ${opens ? null : wasOpen || row.closed_at === null ? now : row.closed_at},
      resolved_by = ${to === 'resolved' ? (wanted.by === 'person' ? 'human' : 'proof') : null},
      canonical_id = ${to === 'duplicate' ? (wanted.canonicalId ?? null) : null},
      reopen_count = reopen_count + ${to === 'reopened' ? 1 : 0},
      sla_paused_at = ${goesOn ? (row.sla_paused_at ?? now) : null}, sla_held = ${row.sla_held && goesOn},
      sla_paused_ms = ${restarts ? 0 : Number(row.sla_paused_ms) + pausedMs},
      sla_start = ${restarts ? now : row.sla_start}, due_at = ${due}
    where id = ${row.id} returning *`;
  if (made === undefined) throw new ApiError('not_found', `There is no finding ${row.id}.`);
  if (row.sla_held && !goesOn)
    await tx`
      update vm_sla_pauses set resumed_at = ${now}, resumed_by = ${actor.name}, resume_reason = ${`it is ${to}`}
      where finding_id = ${row.id} and resumed_at is null`;
  await tx`
    insert into vm_transitions ${tx({
      finding_id: row.id,
      from_status: row.status,
      to_status: to,
      actor_id: actor.id,
      actor: actor.name,
      by: wanted.by,
      reason: wanted.reason ?? '',
      justification: to === 'false_positive' ? (wanted.justification ?? null) : null,
      run_id: wanted.runId ?? null,
      at: now,
    })}`;
  await emit(
    tx,
    [
      {
        type: 'finding.transition',
        entity: 'finding',
        entityId: row.id,
        applicationId: row.application_id,
        payload: { from: row.status, to, by: wanted.by },
      },
    ],
    now,
  );
  return made;
}

function dueAfter(row: FindingRow, restarts: boolean, pausedMs: number, now: Date): Date | null {
  if (row.due_at === null || row.sla_days === null) return row.due_at;
  if (restarts) return new Date(now.getTime() + (row.sla_days + row.sla_extended_days) * 86_400_000);
  return new Date(row.due_at.getTime() + pausedMs);
}
