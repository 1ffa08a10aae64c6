// Who may read from a replica of the database. A user who wrote reads from the primary until the replica has that
// write, whichever server took it (each has to know of a replica): the moment of the last write of each user is kept in
// the primary, by its own clock. What runs in the background writes for nobody in particular: after the end of a run
// all read from the primary for as long as the replica may be behind.
import type { Sql } from '../../database.js';
import type { Host } from '../../host.js';

/** The clocks of servers may differ by so much. */
const skewMs = 2000;

/**
 * Before the answer to a write goes out. Never rejects, as the write is done: where the primary cannot be asked, no
 * replica is (api/db/replica.ts).
 */
export async function noteWrite(host: Pick<Host, 'sql' | 'replica'>, userId: string): Promise<void> {
  if (host.replica === undefined) return;
  await host.sql`
    insert into vm_last_writes (user_id, at) values (${userId}, clock_timestamp())
    on conflict (user_id) do update set at = greatest(vm_last_writes.at, excluded.at)`.catch(() => undefined);
}

/** The replica, where all that this user has to see is there; null: ask the primary. */
export async function replicaFor(host: Pick<Host, 'sql' | 'replica'>, userId: string): Promise<Sql | null> {
  const fresh = host.replica?.freshAt() ?? null;
  if (host.replica === undefined || fresh === null) return null;
  const since = new Date(fresh.getTime() - skewMs);
  // the first condition is that of the index vm_runs_by_change
  const [row] = await host.sql<{ is_there: boolean }[]>`
    select coalesce((select at from vm_last_writes where user_id = ${userId}) < ${fresh}, true)
      and not exists (
        select 1 from vm_runs
        where coalesce(finished_at, started_at, created_at) > ${since} and finished_at > ${since}) as is_there`;
  return row?.is_there === true ? host.replica.sql : null;
}
