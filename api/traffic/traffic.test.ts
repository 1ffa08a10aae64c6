import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { request, start } from '../testing/builders/records.js';
import { writeRuleSet } from '../testing/rule-set.js';
import { onBothDatabases } from '../testing/databases.js';

interface Named {
  readonly path: string;
  readonly requests: number;
}

interface Rule {
  readonly rule_id: number;
  readonly name: string;
}

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database, { crsDirectory: await writeRuleSet(t) });
  t.teardown(() => at.close());
  const { token } = await at.user('viewer');
  const requests = Array.from({ length: 300 }, (_, n) => request(n, { at_ms: start + n * 1000 }));
  await at.call('POST', '/api/dataplane/records', {
    token: 'c'.repeat(40),
    body: { node: 'n1', batch_id: 'b1', requests, events: [], dropped: 0 },
  });
  const window = `from=${new Date(start).toISOString()}&to=${new Date(start + 200_000).toISOString()}`;
  const read = async (query: string) => at.call('GET', `/api/traffic?${query}`, { token });
  const listed = async (query: string): Promise<number> => {
    const reply = await at.call('GET', `/api/requests?limit=500&${window}&${query}`, { token });
    return (reply.body['items'] as unknown[]).length;
  };

  await t.test('each number is that of the list behind it', async (t) => {
    const { body } = await read(`${window}&top=50&buckets=10`);
    t.equal(body['requests'], await listed(''));
    t.equal(body['blocked'], await listed('verdict=block'));
    t.equal(body['flagged'], await listed('verdict=flag'));
    for (const { verdict, requests } of body['verdicts'])
      t.equal(requests, await listed(`verdict=${verdict}`), verdict);
    for (const { rule_id, requests } of body['rules']) t.equal(requests, await listed(`rule_id=${rule_id}`), rule_id);
    const names = new Map((body['rules'] as Rule[]).map(({ rule_id, name }) => [rule_id, name]));
    t.match(
      Object.fromEntries(names),
      { 942100: 'injection', 942101: '' },
      'X4: a rule has its name, where one is known',
    );
    for (const { site, requests } of body['sites']) t.equal(requests, await listed(`site=${site}`), site);
    for (const { site, requests, blocked } of body['sites'] as { site: string; requests: number; blocked: number }[]) {
      const one = (await read(`${window}&site=${encodeURIComponent(site)}&buckets=10`)).body;
      t.match(one, { requests, blocked, sites: [{ site, requests }] }, `C5: ${site} alone`);
      const summed = (one['series'] as { requests: number }[]).reduce((sum, bucket) => sum + bucket.requests, 0);
      t.equal(summed, requests, `C5: the series of ${site}`);
    }
    t.match((await read(`${window}&site=nobody`)).body, { requests: 0, rules: [], clients: [] });
    for (const { client_ip, requests, blocked } of body['clients']) {
      t.equal(requests, await listed(`client_ip=${client_ip}`), client_ip);
      t.equal(blocked, await listed(`client_ip=${client_ip}&verdict=block`), client_ip);
    }
    const paths = body['paths'] as { path: string; requests: number }[];
    t.equal(
      paths.every(({ path }) => !path.includes('?')),
      true,
    );
    const series = body['series'] as { at: string; requests: number; blocked: number }[];
    t.equal(series.length, 10);
    t.equal(
      series.reduce((sum, one) => sum + one.requests, 0),
      body['requests'],
    );
    t.equal(series[0]?.requests, 20);
  });

  await t.test(
    'C8: records that come late change neither a count that was answered nor the list behind it',
    async (t) => {
      const { body } = await read(`${window}&top=50`);
      const { as_of: asOf, requests, paths } = body as { as_of: number; requests: number; paths: Named[] };
      const late = Array.from({ length: 40 }, (_, n) =>
        request(900 + n, { at_ms: start + n * 1000, uri: '/late?x=1' }),
      );
      const more = { node: 'n2', batch_id: 'late', requests: late, events: [], dropped: 0 };
      await at.call('POST', '/api/dataplane/records', { token: 'c'.repeat(40), body: more });
      t.equal((await read(window)).body['requests'], requests + late.length, 'a new count has them');
      t.equal(await listed(''), requests + late.length);
      t.equal(await listed(`as_of=${asOf}`), requests, 'the list of the older count does not');
      t.equal((await read(`${window}&as_of=${asOf}`)).body['requests'], requests, 'nor the same count again');
      for (const { path, requests: counted } of paths)
        t.equal(await listed(`as_of=${asOf}&path=${encodeURIComponent(path)}`), counted, `${path}, whole`);
    },
  );

  await t.test('a quiet window is zeros, a wrong one is refused', async (t) => {
    const quiet = `from=${new Date(start - 7_200_000).toISOString()}&to=${new Date(start - 3_600_000).toISOString()}`;
    t.match((await read(quiet)).body, { requests: 0, blocked: 0, rules: [], clients: [] });
    t.match(await read(`from=2026-02-02&to=2026-02-01`), { status: 400, body: { detail: /before/ } });
    t.match(await read(`from=2026-01-01&to=2026-03-01`), { status: 400, body: { detail: /31 days/ } });
    t.match(await at.call('GET', '/api/traffic', {}), { status: 401 });
  });
}

t.test('traffic at a glance', (t) => onBothDatabases(t, 'traffic', suite));
