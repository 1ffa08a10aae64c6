// Imports of some size: on the embedded database they are written in short transactions, and come out as those in one:
// the same numbers, all or nothing, and nothing left of one that ended in the middle.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { testMsMax } from '#api/testing/waiting';
import { Client, type Json } from '../../testing/import-client.js';

t.setTimeout(testMsMax);
type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const count = 1200;
/** Three hundred bytes a result: far beyond what is written at once. */
const report = (from: number, to: number, text = 'found'): Json => ({
  version: '2.1.0',
  runs: [
    {
      tool: { driver: { name: 'checker', rules: [{ id: 'r', shortDescription: { text: 'Rule' } }] } },
      results: Array.from({ length: to - from }, (_, index) => ({
        ruleId: 'r',
        message: { text: `${text} ${from + index}, by a way that takes ${'many '.repeat(20)}words` },
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
const sync = { mode: 'sync' };

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  const states = async (app: string): Promise<Json> => {
    const rows = await database.sql<{ status: string; n: number }[]>`
      select status, count(*)::int as n from vm_findings where application_id = ${app} group by status`;
    return Object.fromEntries(rows.map(({ status, n }) => [status, n]));
  };
  const send = async (app: string, given: unknown, fields: Record<string, string> = sync) => {
    at.clock.nowMs += 60_000;
    return client.send(app, given, fields);
  };
  const runs = async (app: string): Promise<Json[]> => {
    const { body } = await client.call('GET', `/imports?application_id=${app}`);
    return body['items'] as Json[];
  };

  await t.test('the numbers are those of one transaction', async (t) => {
    const app = await client.application();
    t.match(await send(app, report(0, count)), { status: 202, body: { report: { parsed: count, created: count } } });
    t.match((await send(app, report(0, count))).body, { report: { unchanged: count, created: 0, closed: 0 } });
    const fewer = report(400, count + 100, 'other');
    t.match(
      (await send(app, fewer)).body,
      { status: 'succeeded', report: { updated: 800, created: 100, closed: 400, unchanged: 0 } },
      'a third is closed without a question',
    );
    t.same(await states(app), { new: 900, resolved: 400 });
    t.match((await send(app, report(0, count))).body, { report: { reopened: 400, updated: 800, closed: 100 } });
  });

  await t.test('what is refused has changed nothing and leaves no run', async (t) => {
    const app = await client.application();
    await send(app, report(0, count));
    const none = { version: '2.1.0', runs: [{ tool: { driver: { name: 'checker' } }, results: [] }] };
    const most = report(0, 300);
    const cut = JSON.stringify(report(0, count, 'other')).slice(0, -40);
    for (const [what, given, status] of [
      ['a mass close', { ...most, padding: 'x'.repeat(200_000) }, 409],
      ['a mass close of everything', { ...none, padding: 'x'.repeat(200_000) }, 409],
      ['a report that ends in the middle', cut, 400],
      ['a result that is no JSON', JSON.stringify(report(0, count, 'other')).replace('"other 1199', '"other" "'), 400],
    ] as const) {
      const before = await runs(app);
      const { status: got, body } = await send(app, given);
      t.equal(got, status, `${what}: ${JSON.stringify(body).slice(0, 200)}`);
      t.same(await states(app), { new: count }, what);
      t.same(await runs(app), before, what);
    }
  });

  await t.test(
    'others are answered in between, and see the run',
    { skip: database.kind !== 'embedded' && 'PostgreSQL serves others meanwhile' },
    async (t) => {
      const app = await client.application();
      let isDone = false;
      const sent = send(app, report(0, count)).finally(() => (isDone = true));
      const seen = new Set<string>();
      let [asked, written] = [0, 0];
      while (!isDone) {
        const [run] = await runs(app);
        if (run !== undefined) seen.add(String(run['status']));
        const made = await client.call('POST', '/applications', { name: `b${Math.random()}`, environment: 'test' });
        if (made.status === 201) written++;
        asked++;
      }
      t.equal((await sent).status, 202);
      t.ok(seen.has('running'), 'the run is listed while it runs');
      t.ok(written === asked && asked > 5, `${written} of ${asked} writes of others were done meanwhile`);
    },
  );

  await t.test('an import that fails in the middle is taken back', async (t) => {
    const app = await client.application();
    await send(app, report(0, 600));
    const before = (await database.sql`select count(*)::int as n from vm_occurrences`)[0]?.['n'];
    await database.sql.unsafe(`alter table vm_occurrences add constraint no_1100
      check (location ->> 'path' <> 'src/1100.ts' or scope_key not like '${app}|%') not valid`);
    try {
      t.equal((await send(app, report(0, count))).status, 500);
    } finally {
      await database.sql.unsafe('alter table vm_occurrences drop constraint no_1100');
    }
    t.same(await states(app), { new: 600 });
    t.equal((await database.sql`select count(*)::int as n from vm_occurrences`)[0]?.['n'], before);
    for (const { status } of (await runs(app)).slice(0, -1)) t.equal(status, 'failed');
    t.match((await send(app, report(0, count))).body, { report: { created: 600, unchanged: 600 } }, 'then it works');
  });

  await t.test('one whose control plane ended is taken back by the job of lost runs', async (t) => {
    const app = await client.application();
    await send(app, report(0, 600));
    const { id } = (await send(app, report(0, count))).body;
    await database.sql`
      update vm_runs set status = 'running', finished_at = null, lease_until = ${new Date(at.clock.nowMs - 1)}
      where id = ${String(id)}`;
    const job = at.jobs.find(({ name }) => name === 'vm-lost-runs');
    if (job === undefined) throw new Error('no job vm-lost-runs');
    await job.run({ nowMs: at.clock.nowMs, signal: new AbortController().signal });
    t.same(await states(app), { new: 600 });
    t.match((await runs(app))[0], { id, status: 'failed', error: /ended before the import did/ });
  });
}

void onBothDatabases(t, 'imports in steps', suite);
