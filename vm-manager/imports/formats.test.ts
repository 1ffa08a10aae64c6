// Every format beside SARIF: found out, mapped, and the same report twice. All reports are written here.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { adds, Client } from '../testing/import-client.js';
import { others } from '../testing/reports-of-tools.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

async function formatSuite(t: Test, client: Client): Promise<void> {
  for (const [format, [report, wanted]] of Object.entries(others))
    await t.test(`14.4: ${format}: detected, mapped, twice the same`, async (t) => {
      const app = await client.application();
      const done = await client.send(app, report);
      t.match(done, { status: 202, body: { input: { format } } }, JSON.stringify(done.body));
      adds(t, done.body['report']);
      const all = await client.findings(app);
      t.equal(all.length, wanted.length);
      for (const [index, one] of wanted.entries()) t.match(all[index], one);
      const again = await client.send(app, report, { mode: 'sync' });
      t.match(again.body['report'], { created: 0, updated: 0, unchanged: wanted.length });
      t.notMatch(JSON.stringify(all), /SECRETVALUE/, 'no secret is kept');
    });
  await t.test(
    '14.4: lynis closes what a test that ran no longer says, and nothing after a part of a run',
    async (t) => {
      const app = await client.application();
      const report = (...lines: string[]): string => ['# Lynis Report', 'hostname=h', ...lines, ''].join('\n');
      const said = ['A-1', 'B-2'].map((id) => `suggestion[]=${id}|Fix ${id}|-|-|`);
      const ended = 'report_datetime_end=2026-11-23 06:45:00';
      await client.send(app, report(...said, 'tests_executed=A-1|B-2|', ended));
      const closed = async (...lines: string[]): Promise<unknown> =>
        (await client.send(app, report(...lines), { mode: 'sync' })).body['report'].closed;
      t.equal(await closed('tests_executed=A-1|B-2|'), 0, 'it was stopped: it does not say when it ended');
      t.equal(await closed('test_category=security', 'tests_executed=A-1|B-2|', ended), 0, 'one category only');
      t.equal(await closed('test_category=all', 'tests_executed=B-2|', ended), 1, 'the other test did not run');
      t.match(await client.findings(app), [{ status: 'new' }, { status: 'resolved' }]);
      t.equal((await client.send(app, 'hostname=h\n', { format: 'lynis' })).status, 422);
    },
  );
  await t.test('14.4: a mapping profile takes any other JSON', async (t) => {
    const app = await client.application();
    const mapping = {
      name: 'house',
      format: 'json',
      rows_path: 'data.rows',
      fields: { title: 'what', severity: 'how.bad', path: 'where' },
      severity_map: { awful: 'critical' },
    };
    t.equal((await client.call('POST', '/imports/mappings', mapping)).status, 201);
    const report = { data: { rows: [{ what: 'Odd', how: { bad: 'awful' }, where: 'a/b' }] } };
    t.equal((await client.send(app, report, { format: 'mapping:house' })).status, 202);
    t.match(await client.findings(app), [{ title: 'Odd', severity: 'critical', location: 'a/b', tool: 'house' }]);
    t.equal((await client.send(app, report, { format: 'mapping:none' })).status, 422);
  });
}

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  await formatSuite(t, new Client(at, (await at.user('admin')).token));
}

t.test('formats', (t) => onBothDatabases(t, 'formats of reports', suite));
