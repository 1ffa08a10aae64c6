// A server's background loop as a process of its own, to be killed by tests: one job that works, one that throws, one
// that hangs. Arguments: the address of the database. The loop has the pause that every server has.
import { openPostgres } from '../../db/client.js';
import { createScheduler } from '../../jobs/scheduler.js';

const url = process.argv[2];
if (url === undefined) throw new Error('leader-process URL');
const database = openPostgres(url);
const scheduler = createScheduler({
  database,
  now: Date.now,
  jobs: [
    {
      name: 'works',
      everyMs: 1000,
      run: async () => {
        await database.sql`insert into worked (pid) values (${process.pid})`;
        return 'ok';
      },
    },
    {
      name: 'throws',
      everyMs: 1000,
      run: async () => {
        throw new Error('it broke');
      },
    },
    { name: 'hangs', everyMs: 1000, timeoutMs: 100, run: () => new Promise(() => undefined) },
  ],
  onError: () => undefined,
});
scheduler.start();
process.send?.('started');
setInterval(() => undefined, 60_000); // the loop's own timer lets a process end
