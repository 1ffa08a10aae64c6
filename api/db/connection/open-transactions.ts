// Which transactions are running, so that a dead connection is not handed on while one of them still holds it.
import type { Sql } from '../client.js';

/** From here on `sql.begin` counts transactions whose work has begun. Returns a wait for those that are open then. */
export function countTransactions(sql: Sql): () => Promise<void> {
  const open = new Set<Promise<unknown>>();
  const begin = sql.begin.bind(sql) as (...given: unknown[]) => Promise<unknown>;
  const counted = async (...given: unknown[]): Promise<unknown> => {
    const work = given.pop() as (tx: unknown) => unknown;
    let mark: () => void = () => undefined;
    const over = new Promise<void>((resolve) => (mark = resolve));
    try {
      return await begin(...given, (tx: unknown) => {
        open.add(over);
        return work(tx);
      });
    } finally {
      open.delete(over);
      mark();
    }
  };
  Object.assign(sql, { begin: counted });
  return async () => {
    await Promise.all(open);
  };
}
