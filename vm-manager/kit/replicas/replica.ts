// Who may read from a replica of the database. A user who wrote reads from the primary until the replica has that
// write, whichever server took it: the moment of the last write of each user is kept in the primary, by its
// own clock. What
// runs in the background writes for nobody in particular: after the end of a run all read from the primary for as long
// as the replica may be behind.
import type { Sql } from '../../database.js';
import type { Host } from '../../host.js';

/** Rows of runs that are looked at: those that are likely to have ended last. */
const runsSeen = 100;
/** The clocks of servers may differ by so much. */
const skewMs = 2000;

/** Before the answer to a write goes out. */
export async function noteWrite(host: Pick<Host, 'sql' | 'replica'>, userId: string): Promise<void> {
  if (host.replica === undefined) return;
  await host.sql`
    insert into vm_last_writes (user_id, at) values (${userId}, clock_timestamp())
    on conflict (user_id) do update set at = greatest(vm_last_writes.at, excluded.at)`;
}

/** The replica, where all that this user has to see is there; null: ask the primary. */
export async function replicaFor(host: Pick<Host, 'sql' | 'replica'>, userId: string): Promise<Sql | null> {
  const fresh = host.replica?.freshAt() ?? null;
  if (host.replica === undefined || fresh === null) return null;
  const [row] = await host.sql<{ is_there: boolean }[]>`
    select coalesce((select at from vm_last_writes where user_id = ${userId}) < ${fresh}, true)
      and not exists (
        select 1 from (select status, finished_at from vm_runs order by id desc limit ${runsSeen}) as r
        where r.finished_at > ${new Date(fresh.getTime() - skewMs)}) as is_there`;
  return row?.is_there === true ? host.replica.sql : null;
}
