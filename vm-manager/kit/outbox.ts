// The sender of events: what `emit` has written goes to the server that the room is mounted in, in its order. Rows go
// with the transaction that hands them over: one that fails or is cut off leaves them, and they come again.
import type { Sql, Tx } from '../database.js';
import { eventTypes, type EventType, type NewEvent } from './events.js';

/** An event with what was known of it when it happened; names are for people and may have changed since. */
export interface OutboxEvent {
  /** Of the event for good (`GET /api/v1/events` has the same). */
  readonly id: string;
  readonly type: EventType;
  /** What the type means, for people. */
  readonly told: string;
  readonly at: Date;
  readonly entity: NewEvent['entity'];
  readonly entity_id: string;
  readonly application_id: string | null;
  readonly application: string | null;
  /** Of the finding, the acceptance or the chain; the commit of an evaluation; what an import found; else null. */
  readonly title: string | null;
  /** Of a finding, of an import the gravest that is new and open: 0 info to 4 critical. */
  readonly severity: number | null;
  /** Whether the finding still is to be fixed; null for the others. */
  readonly is_open: boolean | null;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Keeps events with the transaction, in the order given; throws where it cannot, and gets them again. */
export type TakeEvents = (tx: Tx, events: readonly OutboxEvent[]) => Promise<void>;

const batch = 500;

/**
 * Hands over everything that is committed; returns how many. Without a taker nobody listens, and the rows are removed.
 * Events about one finding, run, acceptance or chain keep their order: whoever writes about it holds its row.
 */
export async function handOver(sql: Sql, take: TakeEvents | undefined, signal?: AbortSignal): Promise<number> {
  for (let total = 0; ; ) {
    const count = await sql.begin(async (tx) => {
      // It shuts out a second sender, and nobody who writes events.
      await tx`lock table vm_outbox in share update exclusive mode`;
      const rows = await tx<{ id: number; at: Date; body: Omit<OutboxEvent, 'at' | 'told'> }[]>`
        select id, at, body from vm_outbox order by id limit ${batch}`;
      if (rows.length === 0) return 0;
      await take?.(
        tx,
        rows.map(({ at, body }) => ({ ...body, at, told: eventTypes[body.type] })),
      );
      // By id: a number below the last one may be of a transaction that commits later.
      await tx`delete from vm_outbox where id in ${tx(rows.map(({ id }) => id))}`;
      return rows.length;
    });
    total += count;
    if (count < batch || signal?.aborted === true) return total;
  }
}
