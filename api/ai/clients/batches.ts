// Batches of nodes, stored until they are older than the window: whoever leads reads them in the order in which they
// were stored.
import type { ClientBatch, ClientWindow } from '#proxy/contract';
import { lockUntilCommit } from '../../db/lock-keys.js';
import type { Database, Queryable } from '../../db/client.js';

/** Batches that are read at once. */
const chunk = 50;

/** Ids are handed out in the order of commits, so that no reader passes one by. False: it was taken before. */
export async function storeBatch(database: Database, node: string, batch: ClientBatch, now: Date): Promise<boolean> {
  return database.sql.begin(async (tx) => {
    await lockUntilCommit(tx, 'clients');
    const { count } = await tx`
      insert into ai_batches (batch_id, node, at, body)
      values (${`${node} ${batch.batch_id}`}, ${node}, ${now}, ${JSON.stringify(batch.clients)})
      on conflict (batch_id) do nothing`;
    return count > 0;
  });
}

/** What came after `cursor` and since a time, to `use`; returns the new cursor. */
export async function readBatches(
  sql: Queryable,
  cursor: number,
  since: Date,
  use: (windows: readonly ClientWindow[]) => void,
  signal?: AbortSignal,
): Promise<number> {
  for (let at = cursor; ; ) {
    const rows = await sql<{ id: number; body: string }[]>`
      select id, body from ai_batches where id > ${at} and at >= ${since} order by id limit ${chunk}`;
    for (const { id, body } of rows) {
      use(JSON.parse(body) as ClientWindow[]);
      at = id;
    }
    if (rows.length < chunk || signal?.aborted === true) return at;
  }
}

export async function pruneBatches(sql: Queryable, before: Date): Promise<void> {
  await sql`delete from ai_batches where at < ${before}`;
}
