// `gatehouse demo-data` against a server: everything comes in through the imports, and goes away without a trace.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { runDemoData } from '#cli/commands/vm/demo-data';
import { createOrganisation } from './organisation.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

async function demo(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token: session } = await at.user('admin');
  const made = await at.call('POST', '/api/v1/tokens', { token: session, body: { name: 'demo', scopes: ['write'] } });
  const token = String(made.body['token']);
  const url = await at.app.listen({ host: '127.0.0.1', port: 0 });
  const said: unknown[] = [];
  t.capture(console, 'log', (line: unknown) => said.push(line));
  t.equal(await runDemoData(['--token', token, '--url', url]), 0);
  t.match(said[0], /^3 projects, 30 applications, \d{4} findings$/);
  const stats = (await at.call('GET', '/api/v1/findings/stats', { token })).body;
  t.ok(stats['open_total'] > 4000 && stats['open_total'] < 6500, `14.5: ${stats['open_total']} findings`);
  const chains = (await at.call('GET', '/api/v1/graph/attack-chains', { token })).body;
  t.ok(chains['stats'].danger_chains >= 3, `14.D1: ${chains['stats'].danger_chains} danger chains`);
  t.ok(chains['stats'].danger_chains < chains['stats'].chains, '14.D1: and some that are only possible');
  t.ok(chains['stats'].runtime_proven_chains > 0, '14.D1: some are proven at run time');
  const events = (await at.call('GET', '/api/v1/runtime/events?confirmed=true', { token })).body;
  const proven = (
    await at.call('GET', '/api/v1/vulnerabilities?source=sast&exploit_confirmed=true&limit=500', { token })
  ).body['items'] as { runtime_confirmed: boolean }[];
  t.ok(events['total'] > 10, `14.D2: ${events['total']} confirmed events`);
  t.ok(
    proven.some((one) => one.runtime_confirmed),
    '14.D2: sensors prove what the code scanner had found',
  );
  await t.rejects(runDemoData(['--token', token, '--url', url]), /already/);
  t.equal(await runDemoData(['--token', token, '--url', url, '--remove']), 0);
  for (const table of [
    'projects',
    'applications',
    'findings',
    'occurrences',
    'transitions',
    'runs',
    'chain_history',
    'runtime_events',
  ]) {
    const [row] = await database.sql<{ n: number }[]>`select count(*) as n from ${database.sql(`vm_${table}`)}`;
    t.equal(row?.n, 0, `14.5: nothing is left in vm_${table}`);
  }
}

t.test('14.5: demo data', (t) => onBothDatabases(t, 'demo data', demo));

t.test('14.5: two installations show the same', async (t) => {
  t.same(createOrganisation(), createOrganisation());
});
