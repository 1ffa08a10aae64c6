// Whether the clock can be believed when it says what is old. A clock that jumps ahead would make all of history look
// old, and what is pruned is gone: then nothing is pruned until the clock is back or somebody says that it is right.
import type { Queryable } from '../db/client.js';

const dayMs = 86_400_000;
/** Longer than a weekend; a server that was off for longer asks, too. */
export const jumpDaysMax = 3;

export interface ClockState {
  /** The last time that was believed; null: never yet. */
  readonly believedAt: Date | null;
  /** Since when pruning is refused; null: it is not. */
  readonly refusedAt: Date | null;
}

export async function readClock(sql: Queryable): Promise<ClockState> {
  const [row] = await sql<{ believed_at: Date; refused_at: Date | null }[]>`
    select believed_at, refused_at from retention_clock`;
  return { believedAt: row?.believed_at ?? null, refusedAt: row?.refused_at ?? null };
}

/** The newest thing that is stored with a time; null: nothing is. For installations from before the clock was noted. */
export async function newestStored(sql: Queryable): Promise<Date | null> {
  const [row] = await sql<{ at: Date | null }[]>`
    select greatest((select max(at) from request_records), (select max(at) from security_events),
      (select max(at) from audit_entries)) as at`;
  return row?.at ?? null;
}

/** `before`: what was believed last. A clock that was set back is no danger: nothing gets older by it. */
export function isJump(before: Date | null, nowMs: number): boolean {
  return before !== null && nowMs - before.getTime() > jumpDaysMax * dayMs;
}

export async function believe(sql: Queryable, now: Date): Promise<void> {
  await sql`
    insert into retention_clock (believed_at) values (${now})
    on conflict (one) do update set believed_at = excluded.believed_at, refused_at = null`;
}

/** Whether this is the first refusal since the clock was believed. `before` stays what is believed. */
export async function refuse(sql: Queryable, before: Date, now: Date): Promise<boolean> {
  const rows = await sql`
    insert into retention_clock (believed_at, refused_at) values (${before}, ${now})
    on conflict (one) do update set refused_at = excluded.refused_at where retention_clock.refused_at is null
    returning refused_at`;
  return rows.length > 0;
}
