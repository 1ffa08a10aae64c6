// The write-ahead log of the embedded database. PostgreSQL has a process of its own that writes a checkpoint when
// enough log has come together; the embedded one is a single process without it, so that its log grew as long as it
// ran (1.2 GB in a soak) and a start after a crash had to read all of it.
import type postgres from 'postgres';

type Sql = postgres.Sql<{ bigint: number }>;

/** Log since the last checkpoint that brings the next one about. */
const logBytesMax = 64 * 1024 * 1024;
const lookEveryMs = 5000;

/** Writes a checkpoint where more log than that has come together; says whether it did. */
export async function checkpointIfDue(sql: Sql, bytesMax = logBytesMax): Promise<boolean> {
  const [row] = await sql<{ bytes: number }[]>`
    select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::bigint as bytes from pg_control_checkpoint()`;
  if ((row?.bytes ?? 0) <= bytesMax) return false;
  await sql`checkpoint`;
  return true;
}

/**
 * Looks again and again. The files in `pg_wal` then hold about twice `logBytesMax`, and what is written between two
 * looks; PostgreSQL uses old ones again. Keeps no process alive.
 */
export function keepLogShort(sql: Sql, everyMs = lookEveryMs): { stop(): Promise<void> } {
  let looking: Promise<unknown> | null = null;
  const timer = setInterval(() => {
    looking ??= checkpointIfDue(sql)
      .catch(() => undefined) // the disk is full, say: whoever writes hears of it, and the next look tries again
      .finally(() => {
        looking = null;
      });
  }, everyMs);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await looking;
    },
  };
}
