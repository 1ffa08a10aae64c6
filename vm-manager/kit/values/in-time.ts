// Questions whose cost nobody knows before they are asked: read only, and ended by the database after some seconds.
import type { ApiError } from '#http-kit';
import type { Sql, Tx } from '../../database.js';

/** Throws what `tooLong` makes where it takes longer; the embedded database does not end it (it has one connection). */
export async function readInTime<T>(
  sql: Sql,
  secondsMax: number,
  read: (tx: Tx) => Promise<T>,
  tooLong: () => ApiError,
): Promise<T> {
  try {
    return (await sql.begin('read only', async (tx) => {
      await tx.unsafe(`set local statement_timeout = ${secondsMax * 1000}`);
      return read(tx);
    })) as T;
  } catch (error) {
    if ((error as { code?: string }).code !== '57014') throw error; // query_canceled
    throw tooLong();
  }
}
