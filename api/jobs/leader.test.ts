// Three processes on one database: one leads, and when it is killed, another takes over. What throws or hangs in the
// leader is reported and harms no other job.
import t from 'tap';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { openPostgres } from '../db/client.js';
import { loadModules, migrate } from '../db/migrate.js';
import { startCluster, withoutPostgres } from '../testing/databases.js';
import { until } from '../testing/waiting.js';

const program = fileURLToPath(new URL('../testing/processes/leader-process.js', import.meta.url));
/** What an installation is promised. */
const takeoverMsMax = 10_000;

t.test('EVALUATORS 5: a killed leader is replaced within 10 s', { skip: withoutPostgres }, async (t) => {
  const cluster = await startCluster(t);
  const url = await cluster.create();
  const database = openPostgres(url);
  t.teardown(() => database.close());
  await migrate(database, await loadModules());
  const { sql } = database;
  await sql`create table worked (id bigint generated always as identity, pid integer, at timestamptz default now())`;
  const processes: ChildProcess[] = [];
  t.teardown(() => {
    for (const one of processes) one.kill('SIGKILL');
  });
  for (let count = 0; count < 3; count++) {
    const one = fork(program, [url], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    processes.push(one);
    await once(one, 'message');
  }
  const workers = async (): Promise<{ pid: number; first: Date; last: Date }[]> =>
    sql`select pid, min(at) as first, max(at) as last from worked group by pid order by min(id)`;
  await until('one of them leads', async () => (await workers()).length === 1);
  const [leader] = await workers();
  const reports = async () =>
    Object.fromEntries(
      (
        await sql<{ name: string; last_error: string | null; last_result: string | null }[]>`select * from job_state`
      ).map(({ name, last_error: error, last_result: result }) => [name, error ?? result]),
    );
  await until('each job is reported', async () => Object.values(await reports()).every((told) => told !== null));
  t.match(await reports(), { works: 'ok', throws: 'it broke', hangs: /took longer than 100 ms/ });

  const killed = processes.find(({ pid }) => pid === leader?.pid);
  t.ok(killed, 'the leader is one of the three');
  const killedAtMs = Date.now();
  killed?.kill('SIGKILL');
  await until('another leads', async () => (await workers()).length === 2);
  const next = (await workers())[1];
  const tookMs = (next?.first.getTime() ?? Infinity) - killedAtMs;
  t.comment(`another process led ${tookMs} ms later`);
  t.ok(tookMs <= takeoverMsMax, `${tookMs} ms`);
  t.ok(processes.some(({ pid }) => pid === next?.pid && pid !== leader?.pid));
  await until('it goes on', async () => {
    const [, now] = await workers();
    return now !== undefined && now.last.getTime() > (next?.first.getTime() ?? 0);
  });
  t.equal((await workers()).length, 2, 'and leads alone');
});
