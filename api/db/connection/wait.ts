// A start while the database is away waits for it: ending and being started again would cost more, for both.
import { setTimeout as pause } from 'node:timers/promises';
import { findOutage } from '../outage.js';
import type { Database } from '../client.js';

const pauseMs = 500;
/** So often it says that it still waits. */
const repeatMs = 30_000;

/**
 * Resolves when the database answers; `say` hears why it waits, again every half minute, and when it goes on. Throws
 * what waiting cannot fix: a wrong password, a database that is not there, a disk that is full.
 */
export async function waitForDatabase({ sql }: Pick<Database, 'sql'>, say: (text: string) => void): Promise<void> {
  let saidMs = -Infinity;
  for (;;) {
    try {
      await sql`select 1`;
      if (saidMs > -Infinity) say('the database answers; going on');
      return;
    } catch (error) {
      if (findOutage(error) !== 'unreachable') throw error;
      if (performance.now() - saidMs >= repeatMs) {
        const { code, message } = error as NodeJS.ErrnoException;
        say(`waiting for the database: ${message || code} (looking again every ${pauseMs} ms)`);
        saidMs = performance.now();
      }
    }
    await pause(pauseMs);
  }
}
