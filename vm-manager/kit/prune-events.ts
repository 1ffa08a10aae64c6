// Events are kept for so many days, and so many of them. What is removed was handed over long before (the outbox is
// another table), and the audit log is a chain of its own, which this does not touch. Readers with a cursor are told up
// to which id events are gone.
import type { Queryable, Sql } from '../database.js';

export interface EventBounds {
  readonly days: number;
  readonly rowsMax: number;
}
export const eventBoundsDefault: EventBounds = { days: 90, rowsMax: 500_000 };

export interface Pruning {
  readonly through: number;
  readonly removed: number;
  readonly last_at: Date;
}

/** Rows of one statement. */
const batch = 5000;
const dayMs = 86_400_000;

/** null: nothing was ever removed. */
export async function readPruning(sql: Queryable): Promise<Pruning | null> {
  const [row] = await sql<Pruning[]>`select through, removed, last_at from vm_event_pruning`;
  return row ?? null;
}

/**
 * Removes what is too old or too much, the oldest first; returns how many. Ids grow with time (but for transactions
 * that overlap), so that looking stops at the first batch of which nothing is too old.
 */
export async function pruneEvents(sql: Sql, bounds: EventBounds, now: Date, signal?: AbortSignal): Promise<number> {
  const before = new Date(now.getTime() - bounds.days * dayMs);
  const [over] = await sql<{ id: number }[]>`
    select id from vm_events order by id desc offset ${bounds.rowsMax} limit 1`;
  for (let total = 0; ; ) {
    const count = await sql.begin(async (tx) => {
      const rows = await tx<{ id: number }[]>`
        delete from vm_events where id in (
          select id from (select id, at from vm_events order by id limit ${batch}) oldest
          where at < ${before} or id <= ${over?.id ?? 0})
        returning id`;
      if (rows.length === 0) return 0;
      const through = rows.reduce((most, { id }) => Math.max(most, id), 0);
      await tx`
        insert into vm_event_pruning as p (through, removed, last_at) values (${through}, ${rows.length}, ${now})
        on conflict (is_only) do update set through = greatest(p.through, excluded.through),
          removed = p.removed + excluded.removed, last_at = excluded.last_at`;
      return rows.length;
    });
    total += count;
    if (count === 0 || signal?.aborted === true) return total;
  }
}
