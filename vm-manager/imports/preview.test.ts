// A preview says what the import does, holds nobody up meanwhile, and has its bounds.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { Client, type Json } from '../testing/import-client.js';

type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const report = (from: number, to: number, text = 'found'): Json => ({
  version: '2.1.0',
  runs: [
    {
      tool: { driver: { name: 'checker', rules: [{ id: 'r', shortDescription: { text: 'Rule' } }] } },
      results: Array.from({ length: to - from }, (_, index) => ({
        ruleId: 'r',
        message: { text: `${text} ${from + index}` },
        locations: [
          {
            physicalLocation: {
              artifactLocation: { uri: `src/${from + index}.ts` },
              region: { startLine: 3, snippet: { text: `call(${from + index});` } },
            },
          },
        ],
      })),
    },
  ],
});

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);

  await t.test('D: a preview says what the import then does', async (t) => {
    const app = await client.application();
    const steps = [
      [report(0, 40), 'add'],
      [report(0, 40), 'sync'],
      [report(10, 50, 'other'), 'sync'],
      [report(0, 20), 'sync'],
      [{ version: '2.1.0', runs: [{ tool: { driver: { name: 'checker' } }, results: [] }] }, 'sync'],
    ] as const;
    for (const [given, mode] of steps) {
      const fields = { mode, confirm_close: 'true' };
      const preview = await client.send(app, given, fields, '/imports/preview');
      t.equal(preview.status, 200);
      const { report: told } = preview.body as { report: Json };
      const { report: done } = (await client.send(app, given, fields)).body as { report: Json };
      const numbers = [
        'parsed',
        'created',
        'updated',
        'reopened',
        'unchanged',
        'closed',
        'unverified_absence',
        'dropped',
      ];
      for (const name of numbers) t.equal(told[name], done[name], `${mode}: ${name}`);
    }
  });

  await t.test('D: other requests are answered during a preview, and it keeps nothing', async (t) => {
    const app = await client.application();
    const before = await database.sql`select count(*)::int as n from vm_runs`;
    let isDone = false;
    const cpu = process.cpuUsage();
    const preview = client.send(app, report(0, 10_000), {}, '/imports/preview').finally(() => (isDone = true));
    const times: number[] = [];
    while (!isDone) {
      const start = performance.now();
      t.equal((await client.call('GET', '/applications?limit=1')).status, 200);
      times.push(performance.now() - start);
    }
    const { status, body } = await preview;
    const { user, system } = process.cpuUsage(cpu);
    t.match({ status, body }, { status: 200, body: { report: { parsed: 10_000, created: 10_000 } } });
    t.same(await database.sql`select count(*)::int as n from vm_runs`, before);
    t.ok(times.length > 1, 'requests were answered in between, each in the midst of it');
    times.sort((left, right) => left - right);
    const p99 = times[Math.ceil(times.length * 0.99) - 1] ?? 0;
    t.comment(`${times.length} requests, p99 ${Math.round(p99)} ms, CPU ${Math.round((user + system) / 1000)} ms`);
  });

  await t.test('D: more results than a preview takes are refused with 413', async (t) => {
    const app = await client.application();
    const head = '{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"c"}},"results":[';
    const text = `${head}${'{"ruleId":"r","kind":"pass"},'.repeat(100_001).slice(0, -1)}]}]}`;
    const { status, body } = await client.send(app, text, {}, '/imports/preview');
    t.equal(status, 413);
    t.match(body['detail'], /at most 100000 results/);
  });
}

t.test('previews', (t) => onBothDatabases(t, 'previews', suite));
