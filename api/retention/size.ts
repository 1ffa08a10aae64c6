// The embedded database stays below a size: it lies on the disk of the data plane, and a full disk harms both.
// Records go by whole days, the oldest first; the audit log, settings and people stay whatever happens.
import type { Database } from '../db/client.js';
import { dropOldestDay, emptyToday } from '../events/partitions.js';

const gigabyte = 1_000_000_000;

export interface Shrunk {
  readonly days: number;
  /** Tables whose records of today went, because nothing older was left. */
  readonly emptied: readonly string[];
  readonly bytes: number;
}

async function sizeOf({ sql }: Database): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`select pg_database_size(current_database()) as bytes`;
  return row?.bytes ?? 0;
}

/** Does nothing on PostgreSQL, which is somebody's to watch, nor where `gigabytesMax` is 0. */
export async function shrink(database: Database, gigabytesMax: number, now: Date): Promise<Shrunk | null> {
  if (database.kind !== 'embedded' || gigabytesMax === 0) return null;
  return shrinkTo(database, gigabytesMax * gigabyte, now);
}

/** Null: it is small enough. A table that is dropped gives its room back at once. */
export async function shrinkTo(database: Database, bytesMax: number, now: Date): Promise<Shrunk | null> {
  let bytes = await sizeOf(database);
  if (bytes <= bytesMax) return null;
  let days = 0;
  const emptied: string[] = [];
  while (bytes > bytesMax && (await dropOldestDay(database, now))) {
    days++;
    bytes = await sizeOf(database);
  }
  for (const table of ['request_records', 'security_events'] as const) {
    if (bytes <= bytesMax) break;
    await emptyToday(database, table, now);
    emptied.push(table);
    bytes = await sizeOf(database);
  }
  return { days, emptied, bytes };
}
