// A replica of the primary that answers long reads, as far as it is known to have enough of what was committed. How far
// it is: every half second the primary is asked for its clock and the end of its log, and the replica how far it has
// replayed. Everything that was committed before the newest moment whose end of the log the replica has passed is there
// (`freshAt`, by the primary's clock alone). That says how far behind it is, also where nothing is written, and who may
// read from it after a write of their own.
import type { Sql } from './client.js';

export type ReplicaState = 'ok' | 'lagging' | 'away';

export interface ReadReplica {
  readonly sql: Sql;
  /** By the primary's clock: what was committed before is there. null: nothing may be read from it now. */
  freshAt(): Date | null;
  /** `lagMs`: how far behind it is; null: not known. `trouble`: why it is away. */
  state(): { readonly state: ReplicaState; readonly lagMs: number | null; readonly trouble: string | null };
  close(): Promise<void>;
}

export interface ReplicaTimes {
  /** Further behind it answers nobody. */
  readonly lagMsMax: number;
  readonly everyMs: number;
  /** So long it may take to say how far it is. */
  readonly answerMsMax: number;
}

export const replicaTimes: ReplicaTimes = { lagMsMax: 5000, everyMs: 500, answerMsMax: 2000 };

interface Mark {
  readonly at: Date;
  readonly end: number;
}

/** More than the lag that is allowed, in looks. */
const marksMax = 600;

async function within<T>(rows: PromiseLike<T>, msMax: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${msMax} ms`)), msMax).unref();
  });
  try {
    return await Promise.race([rows, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The clock is read before the end of the log: what was committed until then lies before that end. */
const askPrimary = (sql: Sql): Promise<readonly { at: Date; end: number; system: string }[]> => sql`
  select clock_timestamp() as at, (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint as end,
    (select system_identifier::text from pg_control_system()) as system`;

const askReplica = (sql: Sql): Promise<readonly { follows: boolean; end: number | null; system: string }[]> => sql`
  select pg_is_in_recovery() as follows, (pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::bigint as end,
    (select system_identifier::text from pg_control_system()) as system`;

/** `sql`: a pool of the replica, `primary` one of the primary; `close` closes the first. Looks until then. */
export function watchReplica(sql: Sql, primary: Sql, times: ReplicaTimes = replicaTimes): ReadReplica {
  let marks: Mark[] = [];
  let reached: Mark | null = null;
  let newest: Date | null = null;
  let lookedMs = Number.NEGATIVE_INFINITY;
  let trouble: string | null = 'not asked yet';
  let isOver = false;
  let isLooking = false;
  const look = async (): Promise<void> => {
    const [now] = await within(askPrimary(primary), times.answerMsMax);
    if (now === undefined) return;
    newest = now.at;
    marks = [...marks, { at: now.at, end: now.end }].slice(-marksMax);
    const [there] = await within(askReplica(sql), times.answerMsMax);
    const passed = there?.end ?? -1;
    if (there?.follows !== true) throw new Error('it follows no primary');
    if (there.system !== now.system) throw new Error('it is of another installation of PostgreSQL');
    // After a crash a standby answers from where it last wrote its pages, which may be before what it had replayed.
    if (reached !== null && passed < reached.end) reached = null;
    const mark = marks.findLast(({ end }) => end <= passed);
    if (mark !== undefined) {
      reached = mark;
      marks = marks.filter(({ at }) => at > mark.at);
    }
    trouble = null;
    lookedMs = performance.now();
  };
  const timer = setInterval(() => {
    if (isLooking || isOver) return;
    isLooking = true;
    look()
      .catch((error: unknown) => void (trouble = error instanceof Error ? error.message : String(error)))
      .finally(() => (isLooking = false));
  }, times.everyMs);
  timer.unref();
  const lagMs = (): number | null =>
    reached === null || newest === null
      ? null
      : newest.getTime() - reached.at.getTime() + Math.max(0, performance.now() - lookedMs - times.everyMs);
  const stateNow = (): ReplicaState => {
    const lag = lagMs();
    if (trouble !== null || lag === null) return 'away';
    return lag > times.lagMsMax ? 'lagging' : 'ok';
  };
  return {
    sql,
    freshAt: () => (stateNow() === 'ok' ? (reached?.at ?? null) : null),
    state: () => ({ state: stateNow(), lagMs: trouble === null ? lagMs() : null, trouble }),
    async close() {
      isOver = true;
      clearInterval(timer);
      await sql.end({ timeout: 2 });
    },
  };
}
