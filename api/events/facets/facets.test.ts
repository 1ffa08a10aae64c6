// Facets and histogram: counted one by one and from hours and days, with the same result.
import t, { type Test } from 'tap';
import type { Database } from '../../db/client.js';
import { startTestApp } from '../../testing/app.js';
import { event, start } from '../../testing/builders/records.js';
import { onBothDatabases } from '../../testing/databases.js';
import { pathTemplate } from '../path-template.js';
import { countEvents } from './rollup.js';
import { facetNames } from './filters.js';
import { readStats, stepSeconds, type Bounds, type EventStats } from './stats.js';

const rules = [942_100, 941_100, 1_006_000, 920_350];
const records = Array.from({ length: 120 }, (_, n) =>
  event(n, {
    at_ms: start - n * 600_000, // 20 hours
    site: n % 3 === 0 ? 'shop' : 'pay',
    client_ip: `203.0.113.${n % 7}`,
    rule_id: rules[n % 4] ?? null,
    verdict: n % 2 === 0 ? 'block' : 'flag',
    status: n % 2 === 0 ? 403 : 200,
    uri: `/orders/${n}?q=x`,
    details: {},
  }),
);

const plain = ({ total, histogram, facets }: EventStats) => ({
  total,
  histogram: histogram.map(({ at, ...counts }) => [at.toISOString(), counts]),
  facets: Object.fromEntries(facetNames.map((name) => [name, facets[name].values])),
});

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('viewer');
  const send = (events: readonly object[], batch_id: string) =>
    at.call('POST', '/api/dataplane/records', {
      token: 'c'.repeat(40),
      body: { node: 'n1', batch_id, requests: [], events },
    });
  t.match(await send(records.slice(0, 100), 'b1'), { status: 200 });
  const stats = (query = '') =>
    at.call('GET', `/api/events/stats?from=2026-02-28T12:00:00Z&to=2026-03-02T12:00:00Z${query}`, { token });

  await t.test('27.3: facets count the whole range, and each filter narrows all of them', async (t) => {
    const all = await stats();
    t.match(all, { status: 200, body: { total: 100, step_seconds: 1800 } }, all.text);
    const facets = JSON.parse(
      JSON.stringify(all.body['facets'], (name, value) => (name === 'name' ? undefined : value)),
    );
    t.match(all.body, { facets: { category: { values: [{ name: 'Deny list' }] } } });
    t.same(facets.category.values, [
      { value: 'deny-list', n: 25 },
      { value: 'protocol', n: 25 },
      { value: 'sqli', n: 25 },
      { value: 'xss', n: 25 },
    ]);
    t.same(facets.site.values, [
      { value: 'pay', n: 66 },
      { value: 'shop', n: 34 },
    ]);
    t.same(facets.path.values, [{ value: '/orders/{number}', n: 100 }]);
    t.same(facets.country.values, []);
    t.match((await stats('&category=sqli,xss&site=shop')).body, {
      total: 17,
      facets: {
        category: {
          values: [
            { value: 'sqli', n: 9 },
            { value: 'xss', n: 8 },
          ],
        },
      },
    });
    t.match((await stats('&client_ip=203.0.113.3')).body, { total: 14 });
    t.match((await at.call('GET', '/api/events?category=sqli&limit=1', { token })).body, {
      items: [{ summary: { category: 'sqli' } }],
    });
    for (const [query, path] of [
      ['&category=nonsense', '/category'],
      ['&client_ip=x', '/client_ip'],
      ['&to=2020-01-01', '/to'],
      ['&country=de', '/country'],
    ] as const)
      t.match(await stats(query), { status: 400 }, path);
  });

  const whole = { from: new Date('2026-02-28T00:00:00Z'), to: new Date('2026-03-03T00:00:00Z') };
  const asked = [{}, { site: 'shop' }, { category: ['sqli', 'xss'] }, { verdict: ['block'], status: 403 }];
  const others = [{ client_ip: '203.0.113.3' }, { path: '/orders/{number}' }, { method: 'GET' }];
  const byHours: Bounds = { scanned: 10, matching: 10, found: 0, uncounted: 100 };
  const byIndex: Bounds = { scanned: 10, matching: 10, found: 10_000, uncounted: 100 };
  const oneByOne = (filters: object) => readStats(database, { ...whole, ...filters });

  await t.test('27.3: hours say the same as the events themselves, counted or not yet', async (t) => {
    t.equal((await countEvents(database)) > 0, true);
    t.match(await send(records.slice(100), 'b2'), { status: 200 }); // not counted yet
    for (const filters of asked) {
      const [one, rolled] = [await oneByOne(filters), await readStats(database, { ...whole, ...filters }, byHours)];
      for (const name of ['site', 'category', 'rule_id', 'verdict', 'status'] as const)
        t.same(rolled.facets[name], one.facets[name], `${JSON.stringify(filters)} ${name}`);
      t.match(rolled, { total: one.total, is_estimate: false, one_in: 29, facets: { path: { is_estimate: true } } });
      t.same(plain(rolled).histogram, plain(one).histogram);
    }
    t.equal((await countEvents(database)) > 0, true);
    t.equal(await countEvents(database), 0, 'each is counted once');
    t.equal((await oneByOne({})).total, (await readStats(database, whole, byHours)).total);
  });

  await t.test('27.3: few among many are found by an index, and counted one by one', async (t) => {
    for (const filters of [...asked, ...others.slice(0, 2), { rule_id: 1 }]) {
      const found = await readStats(database, { ...whole, ...filters }, byIndex);
      t.same(plain(found), plain(await oneByOne(filters)), JSON.stringify(filters));
      t.match(found, { is_estimate: false, one_in: 1 });
    }
  });

  await t.test('27.3: a sample is one event in so many, and says so', async (t) => {
    const { sql } = database;
    for (const filters of others) {
      const { total, one_in, is_estimate, facets } = await readStats(database, { ...whole, ...filters }, byHours);
      t.match({ one_in, is_estimate, facets }, { one_in: 29, is_estimate: true, facets: { site: { is_estimate } } });
      const column = { client_ip: 'client_ip', path: 'path_template', method: 'method' }[Object.keys(filters)[0] ?? ''];
      const [row] = await sql<{ n: number }[]>`
        select count(*) * 29 as n from security_events
        where id % 29 = 0 and ${sql(column ?? '')} = ${Object.values(filters)[0] ?? ''}`;
      t.equal(total, row?.n, JSON.stringify(filters));
    }
  });

  await t.test('27.3: while counts are far behind nothing is read one by one without a bound', async (t) => {
    const { sql } = database;
    const notYet = { ...byHours, uncounted: 19 };
    await sql`update event_counting set counted_to = (select max(id) - 20 from security_events)`;
    t.match((await oneByOne({})).notices, [], 'few are read');
    const few = await readStats(database, whole, notYet);
    t.match(few, { total: 120, is_estimate: false, notices: [/^More than 19 stored events are not counted/] });
    await sql`update security_events set id = id * 449`;
    const many = await readStats(database, whole, notYet);
    t.match(many, { total: 120 * 449, is_estimate: true, one_in: 449, facets: { site: { is_estimate: true } } });
    await sql`update event_counting set counted_to = (select max(id) from security_events)`;
    t.match((await readStats(database, whole, notYet)).notices, []);
  });

  await t.test(
    '27.3: events without a category count as other, are found as other, and the answer says so',
    async (t) => {
      await database.sql`update security_events set category = null, path_template = null where rule_id = 941100`;
      t.match((await oneByOne({})).notices, [/count as Other/]);
      const found = await stats('&category=other');
      t.match(found.body, { total: 30, notices: [/count as Other/], facets: { category: { values: [{ n: 30 }] } } });
      t.equal((await at.call('GET', '/api/events?category=other&limit=100', { token })).body['items'].length, 30);
      t.match((await stats('&category=sqli')).body, { total: 30 });
    },
  );
}

t.test('27.3: facets', (t) => onBothDatabases(t, 'facets', suite));

t.test('steps and paths', async (t) => {
  const from = new Date(0);
  for (const [hours, step] of [
    [0.25, 10],
    [1, 60],
    [24, 900],
    [168, 7200],
    [720, 21_600],
    [87_600, 604_800],
  ] as const)
    t.equal(stepSeconds(from, new Date(hours * 3_600_000)), step, `${hours} h`);
  for (const [uri, template] of [
    ['/orders/17/items/2?x=1', '/orders/{number}/items/{number}'],
    ['/u/123e4567-e89b-12d3-a456-426614174000', '/u/{uuid}'],
    ['/f/0123456789abcdef0123', '/f/{hex}'],
    ['/a/<script>', '/a/{text}'],
    ['/', '/'],
    ['', ''],
    ['http://evil/', '{text}'],
    [`/${'a/'.repeat(50)}`, `${'/a'.repeat(11)}/…`],
  ] as const)
    t.equal(pathTemplate(uri), template, uri);
});
