import t, { type Test } from 'tap';
import { openPostgres, type Database } from '../db/client.js';
import { onBothDatabases, startCluster, withoutPostgres } from '../testing/databases.js';
import { loadModules, migrate } from '../db/migrate.js';
import { until } from '../testing/waiting.js';
import type { Job } from '../http-kit/index.js';
import { createScheduler } from './scheduler.js';

async function suite(t: Test, database: Database): Promise<void> {
  let nowMs = Date.parse('2026-01-01T00:00:00Z');
  const ran: string[] = [];
  const errors: string[] = [];
  let release = (): void => undefined;
  const jobs: Job[] = [
    {
      name: 'quick',
      everyMs: 15_000,
      run: async () => {
        ran.push('quick');
        return 'fine';
      },
    },
    {
      name: 'hourly',
      everyMs: 3600_000,
      run: async ({ nowMs: at }) => {
        ran.push(`hourly@${at}`);
        return 'pruned';
      },
    },
    {
      name: 'broken',
      everyMs: 15_000,
      run: async () => {
        throw new Error('it broke');
      },
    },
    {
      name: 'throws at once',
      everyMs: 15_000,
      run: () => {
        throw new Error('synchronously');
      },
    },
    {
      name: 'hanging',
      everyMs: 15_000,
      timeoutMs: 30,
      run: () =>
        new Promise((resolve) => {
          release = () => resolve('late');
          ran.push('hanging');
        }),
    },
    {
      name: 'polite',
      everyMs: 15_000,
      timeoutMs: 30,
      run: ({ signal }) =>
        new Promise((_, reject) =>
          signal.addEventListener('abort', () => {
            ran.push('aborted');
            reject(new Error('aborted'));
          }),
        ),
    },
  ];
  const make = () =>
    createScheduler({
      database,
      now: () => nowMs,
      jobs,
      onError: (job, error) => errors.push(`${job}: ${(error as Error).message}`),
    });
  const one = make();
  const two = make();
  const round = async (of: typeof one): Promise<readonly string[]> => {
    const started = await of.tick();
    await of.settled();
    return started;
  };
  t.same(
    await round(one),
    jobs.map((job) => job.name),
  );
  t.same(await two.tick(), [], 'one leader');
  t.same([one.isLeader, two.isLeader], [true, false]);
  t.ok(
    ran.includes('quick') && ran.includes('aborted') && ran.some((name) => name.startsWith('hourly')),
    'the broken and the hanging harm no other',
  );
  t.ok(
    errors.some((e) => e === 'broken: it broke') &&
      errors.some((e) => e === 'throws at once: synchronously') &&
      errors.some((e) => /hanging: it took longer/.test(e)),
    errors.join(),
  );
  t.same(await one.tick(), [], 'nothing is due at the same moment');
  nowMs += 15_000;
  t.same(
    await round(one),
    ['quick', 'broken', 'throws at once', 'polite'],
    'the hourly waits, the hanging is not started beside itself',
  );
  t.equal(ran.filter((name) => name === 'hanging').length, 1);
  release();
  await new Promise((resolve) => setImmediate(resolve));
  const rows = await database.sql`select name, runs, failures, last_error, last_result from job_state order by name`;
  t.match(
    rows.find((row) => row['name'] === 'quick'),
    { runs: 2, failures: 0, last_error: null, last_result: 'fine' },
  );
  t.match(
    rows.find((row) => row['name'] === 'broken'),
    { runs: 2, failures: 2, last_error: 'it broke' },
  );
  await one.stop();
  t.same(await one.tick(), [], 'a stopped one does nothing');
  nowMs += 3600_000;
  t.ok((await round(two)).includes('hourly'), 'the next leader goes on');
  nowMs -= 24 * 3600_000;
  t.ok((await round(two)).includes('hourly'), 'a clock that was set back by a day does not stop the jobs for a day');
  release();
  await two.stop();
  t.throws(
    () => createScheduler({ database, now: () => 0, jobs: [jobs[0] as Job, jobs[0] as Job], onError: () => undefined }),
    /one name/,
  );
}

t.test('scheduler', (t) => onBothDatabases(t, 'the scheduler', suite));

t.test('a leader whose connection is gone is replaced', { skip: withoutPostgres }, async (t) => {
  const cluster = await startCluster(t);
  const url = await cluster.create();
  const [a, b] = [openPostgres(url), openPostgres(url)];
  await migrate(a, await loadModules());
  const job: Job = { name: 'x', everyMs: 0, run: async () => 'ok' };
  const make = (database: Database) =>
    createScheduler({ database, now: () => Date.now(), jobs: [job], onError: () => undefined });
  const [one, two] = [make(a), make(b)];
  t.same(await one.tick(), ['x']);
  t.same(await two.tick(), []);
  const holders = () =>
    b.sql<{ pid: number }[]>`select pid from pg_locks where locktype = 'advisory' and pid <> pg_backend_pid()`;
  for (const { pid } of await holders()) await b.sql`select pg_terminate_backend(${pid})`;
  await until('the connection has ended', async () => (await holders()).length === 0);
  t.same(await two.tick(), ['x'], 'the lock went with the connection');
  t.same(await one.tick(), [], 'and the old leader notices');
  await one.stop();
  await two.stop();
  await a.close();
  await b.close();
});
