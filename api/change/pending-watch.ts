// An apply whose control plane died: every control plane looks for one, not only the leader. A version that is pending
// while no process holds the `apply` lock is finished, or taken back, by the first that sees it (recovery.ts). The lock
// ends with the connection of the process that died, so an apply that is under way is never touched. Rollouts are
// looked at in the same rhythm, for the same reason.
import type { AuditLog } from '../audit/chain.js';
import type { Queryable } from '../db/client.js';
import { readState } from '../settings/state.js';
import type { Healed } from './recovery.js';

export interface PendingWatch {
  begin(audit: AuditLog): void;
  /** Resolves when a recovery that is under way has ended. */
  close(): Promise<void>;
}

export interface PendingWatchOptions {
  readonly sql: Queryable;
  /** Waits for the `apply` lock. */
  readonly heal: (audit: AuditLog) => Promise<Healed>;
  /** What else every control plane looks at, such as rollouts. */
  readonly also?: (audit: AuditLog) => Promise<void>;
  readonly onProblem?: (error: unknown) => void;
  readonly everyMs?: number;
}

const everyMsDefault = 2_000;

export function createPendingWatch(options: PendingWatchOptions): PendingWatch {
  const { sql, heal, also = async () => {}, onProblem = () => {}, everyMs = everyMsDefault } = options;
  let timer: NodeJS.Timeout | null = null;
  let looking: Promise<unknown> | null = null;
  const look = async (audit: AuditLog): Promise<void> => {
    if ((await readState(sql)).pendingId !== null) await heal(audit);
    await also(audit);
  };
  return {
    begin(audit) {
      timer = setInterval(() => {
        // one look at a time: `heal` waits as long as an apply of another control plane takes
        looking ??= look(audit)
          .catch(onProblem) // the database is away, say: the next look tries again
          .finally(() => (looking = null));
      }, everyMs);
      timer.unref();
    },
    async close() {
      if (timer !== null) clearInterval(timer);
      await looking;
    },
  };
}
