// Jobs of a whole control plane beside one that hangs for ever, a slow one and one that fails: over several rounds
// all others keep their pace, health names the one that hangs, and a shutdown does not wait for it.
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import type { Job } from '../http-kit/index.js';
import { startTestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { until } from '../testing/waiting.js';
import { createScheduler } from './scheduler.js';

const roundMs = 15_000;
/** What must not stall: detection, bans, attack mode, API abuse, alerts, what is sent to other systems. */
const watched = ['ai-engine', 'alerts', 'api-threats', 'attack-mode', 'bans', 'siem'];

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const { token } = await at.user('admin');
  let release = (): void => undefined;
  let slowRuns = 0;
  let slowBeside = 0;
  const hanging: Job = {
    name: 'hangs',
    everyMs: roundMs,
    timeoutMs: 50,
    run: () =>
      new Promise((resolve) => {
        release = () => resolve('after all');
      }),
  };
  let endSlow = (): void => undefined;
  const slow: Job = {
    name: 'slow',
    everyMs: roundMs,
    timeoutMs: 600_000,
    run: async () => {
      slowBeside += 1;
      slowRuns = Math.max(slowRuns, slowBeside);
      await new Promise<void>((resolve) => {
        endSlow = resolve;
      });
      slowBeside -= 1;
      return 'done';
    },
  };
  const errors: string[] = [];
  const scheduler = createScheduler({
    database,
    now: () => at.clock.nowMs,
    jobs: [hanging, slow, ...at.jobs],
    tickMs: 5,
    stopMsMax: 300,
    onError: (job, error) => errors.push(`${job}: ${(error as Error).message}`),
  });
  const jobs = async (): Promise<Record<string, any>[]> =>
    (await at.call('GET', '/api/jobs', { token })).body['items'] as Record<string, any>[];
  const names = at.jobs.map(({ name }) => name).filter((name) => watched.includes(name));
  t.ok(names.length === watched.length, `${names.join()} of ${at.jobs.map(({ name }) => name).join()}`);
  scheduler.start();
  for (let round = 1; round <= 5; round++) {
    await until(`round ${round}`, async () => {
      const all = await jobs();
      return names.every((name) => {
        const job = all.find((one) => one['name'] === name);
        return job?.['runs'] === round && job['running_since'] === null;
      });
    });
    at.clock.nowMs += roundMs;
  }
  const all = await jobs();
  const find = (name: string) => all.find((one) => one['name'] === name);
  t.match(find('hangs'), { runs: 1, is_hanging: true, last_error: /took longer than 50 ms/ });
  t.match(find('slow'), { runs: 1, is_hanging: false, running_since: '2026-03-01T12:00:00.000Z' });
  t.equal(slowRuns, 1, 'never beside itself');
  t.match(await at.call('GET', '/api/health'), {
    status: 200,
    body: { status: 'degraded', jobs: { hanging: [{ name: 'hangs', running_since: '2026-03-01T12:00:00.000Z' }] } },
  });
  release();
  endSlow();
  await until('both run again', async () =>
    (await jobs()).filter((one) => ['hangs', 'slow'].includes(one['name'])).every((one) => one['runs'] === 2),
  );
  const beganMs = performance.now();
  await scheduler.stop();
  t.ok(performance.now() - beganMs < 5000, 'the shutdown is bounded');
  t.match(
    errors.filter((line) => line.includes('left behind')).sort(),
    [/^hangs: it did not end within 300 ms/, /^slow: /],
    'and names what it leaves',
  );
  // the next leader starts with a clean slate
  const next = createScheduler({ database, now: () => at.clock.nowMs, jobs: [], onError: () => undefined });
  await next.tick();
  t.match(await at.call('GET', '/api/health'), { body: { status: 'ok', jobs: { hanging: [] } } });
  await next.stop();
  release();
  endSlow();
  await at.close();
}

t.test('a job that hangs delays no other', (t) => onBothDatabases(t, 'hanging jobs', suite));
