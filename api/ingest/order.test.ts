// U4: the inventory is made of the set of records: however they are cut into requests, in whatever order they come,
// and whether their templates are known by then, sums and templates are the same.
import fc from 'fast-check';
import { gzipSync } from 'node:zlib';
import t, { type Test } from 'tap';
import { foldCells } from '../inventory/fold.js';
import type { Cell } from '../inventory/cells.js';
import { foldedPlace } from '../inventory/templates/form.js';
import type { Database } from '../db/client.js';
import { startTestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { readGatewayRecord } from './connectors/gateways.js';
import { digestExchanges } from './digest.js';
import type { DigestJob } from './digest-messages.js';
import { createDigester } from './digester.js';

const nowMs = Date.parse('2026-03-01T12:00:00Z');
const key = new Uint8Array(32).fill(3);
const token = (sub: string): string =>
  `Bearer eyJhbGciOiJIUzI1NiJ9.${Buffer.from(JSON.stringify({ sub })).toString('base64url')}.c2ln`;

/** Numbered, so that the same number is the same record under another id. */
function recordAt(number: number, run: string) {
  const hex = (number * 2_654_435_761).toString(16).padStart(12, '0').slice(-12);
  const paths = [
    `/v1/orders/${number}`,
    `/v1/orders/${number % 90}?page=${number % 7}&expand=${number % 2 === 0 ? 'lines' : 'all'}`,
    `/v1/users/0190a1b2-7c3d-4e5f-8a9b-${hex}/posts`,
    `/blog/red-${['shoe', 'lamp', 'chair'][number % 3]}-of-${hex}`,
    '/health',
    `/v1/carts/${hex}0a1b2c3d4e5f`,
  ];
  const uri = paths[number % paths.length] as string;
  // The first of a template are refused, so that nobody knows it by then.
  const status = number < 12 || number % 17 === 0 ? 403 : number % 29 === 0 ? 500 : number % 31 === 0 ? 404 : 200;
  return {
    ...{ id: `${run}-${number}`, method: number % 5 === 0 ? 'POST' : 'GET', uri, status },
    ...{ ip: number % 3 === 0 ? '10.0.0.7' : `203.0.113.${number % 200}`, timestamp: nowMs - number * 1000 },
    headers: number % 2 === 0 ? { authorization: token(`user-${number % 20}`), accept: '*/*' } : { accept: '*/*' },
    response_headers: { 'content-type': number % 4 === 0 ? 'text/html' : 'application/json' },
    ...{ latency_ms: 0.1 + number / 3, request_bytes: number, response_bytes: number * 2 },
  };
}

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token: user } = await at.user('operator');
  const send = async (site: string, numbers: readonly number[]): Promise<void> => {
    const payload = gzipSync(JSON.stringify(numbers.map((number) => recordAt(number, site))));
    const headers = { authorization: `Bearer ${user}`, 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const reply = await at.app.inject({ method: 'POST', url: `/api/gateway/auto?site=${site}`, payload, headers });
    t.match(reply.json(), { accepted: numbers.length, duplicates: 0, rejected_total: 0 });
  };
  const inventory = async (site: string): Promise<unknown[]> => {
    const { items } = (await at.call('GET', `/api/inventory?limit=500&site=${site}`, { token: user })).body;
    // Why a place is a parameter says which values are told apart, and how often each came.
    return (items as Record<string, unknown>[]).map(({ site: _, segments: __, ...item }) => item);
  };
  const numbers = Array.from({ length: 700 }, (_, index) => index);
  await send('whole', numbers);
  const whole = await inventory('whole');
  t.match(whole, [{ template: '/blog/{slug}' }, {}, { template: '/health' }], 'it is about something');

  const [mixed = []] = fc.sample(fc.shuffledSubarray(numbers, { minLength: numbers.length }), {
    numRuns: 1,
    seed: Number(process.env['SEED'] ?? 11),
  });
  await send('shuffled', mixed);
  t.same(await inventory('shuffled'), whole, 'in another order');
  for (const [site, order] of [
    ['pieces', numbers],
    ['shuffled-pieces', mixed],
  ] as const) {
    for (let from = 0; from < order.length; from += 100) {
      await send(site, order.slice(from, from + 100));
      if (from % 200 === 0) await inventory(site); // its templates are learned
    }
    t.same(await inventory(site), whole, `${site}: cut into requests`);
  }
  await Promise.all(
    [0, 1, 2, 3].map((part) =>
      send(
        'beside',
        numbers.filter((number) => number % 4 === part),
      ),
    ),
  );
  t.same(await inventory('beside'), whole, 'sent beside each other');

  const [before] = await at.parts.database.sql<{ n: number }[]>`select sum(hits)::int as n from api_endpoints`;
  const again = gzipSync(JSON.stringify([0, 1, 2, 5000].map((number) => recordAt(number, 'whole'))));
  const reply = await at.app.inject({
    ...{ method: 'POST', url: '/api/gateway/auto?site=whole', payload: again },
    headers: { authorization: `Bearer ${user}`, 'content-type': 'application/json', 'content-encoding': 'gzip' },
  });
  t.match(reply.json(), { accepted: 4, duplicates: 3 }, 'some of a request came before');
  await inventory('whole');
  const [after] = await at.parts.database.sql<{ n: number }[]>`select sum(hits)::int as n from api_endpoints`;
  t.equal((after?.n ?? 0) - (before?.n ?? 0), 1, 'the others count once');
}

t.test('U4: one inventory, however records are cut and in whatever order', (t) =>
  onBothDatabases(t, 'the set of records decides', suite),
);

t.test('U4: a path that is folded at once leaves what the next look at the site would have left', async (t) => {
  const settings = {
    ...({ key, level: 'secrets', detectsPii: false, sites: [], site: 'shop', source: 'gateway', skip: null } as const),
  };
  const cellsOf = (numbers: readonly number[], formOf: Parameters<typeof digestExchanges>[2]): Cell[] => {
    const exchanges = numbers.map((number) => readGatewayRecord('generic', recordAt(number, 'x'), nowMs));
    const { kept } = digestExchanges(exchanges, settings, formOf);
    return kept.observations.map((one) => ({
      ...{ site: 'shop', method: one.method, path: one.path, firstMs: one.first_ms, lastMs: one.last_ms },
      stats: { ...one, sources: { gateway: one.count } },
    }));
  };
  const options = { declared: [], apart: new Set<string>() };
  const left = (cells: readonly Cell[]): Cell[] => {
    const { gone, changed } = foldCells(cells, options);
    const places = new Set(changed.map(({ method, path }) => `${method} ${path}`));
    return [...cells.filter((cell) => !gone.includes(cell) && !places.has(`${cell.method} ${cell.path}`)), ...changed];
  };
  const add = (one: readonly Cell[], other: readonly Cell[]): Cell[] => {
    const sums = new Map<string, Cell>();
    for (const cell of [...one, ...other]) {
      const place = `${cell.method} ${cell.path}`;
      const before = sums.get(place);
      const count = cell.stats.count + (before?.stats.count ?? 0);
      sums.set(place, { ...cell, stats: { ...cell.stats, count } });
    }
    return [...sums.values()];
  };
  const show = (cells: readonly Cell[]): string[] =>
    cells.map(({ method, path, stats }) => `${method} ${path} ${stats.count}`).sort();
  const good = (from: number, to: number): number[] =>
    Array.from({ length: to - from }, (_, index) => from + index).filter(
      (number) => recordAt(number, '').status === 200,
    );
  const first = left(cellsOf(good(12, 1500), () => null));
  const form = foldCells(first, options);
  t.ok(foldedPlace(form, 'GET', '/v1/orders/99999999') !== null || form.limits.size > 0, 'there is no room any more');
  const late = good(1500, 3000);
  const slow = left(
    add(
      first,
      cellsOf(late, () => null),
    ),
  );
  const early = cellsOf(late, () => form);
  t.ok(early.length < late.length / 2, `${early.length} sums of ${late.length} records`);
  t.same(show(left(add(first, early))), show(slow));
});

t.test('U4: the process says of a body what is said of it at once, and outlives what it cannot read', async (t) => {
  const forms = new Map<string, ReturnType<typeof foldCells>>();
  const digester = createDigester((site) => forms.get(site) ?? null, 96);
  t.teardown(() => digester.close());
  const settings = { key, level: 'secrets', detectsPii: true, sites: [], site: 'shop', skip: null } as const;
  const jobOf = (bytes: Uint8Array, coding: string): DigestJob => ({
    ...{ body: { bytes, coding, isLines: false }, kind: { kind: 'events' }, nowMs, settings },
  });
  const records = Buffer.from(JSON.stringify(Array.from({ length: 60 }, (_, number) => recordAt(number, 'x'))));
  const atOnce = await digester.digest(jobOf(records, ''));
  t.same(await digester.digest(jobOf(gzipSync(records), 'gzip')), atOnce);
  const last = Array.from({ length: 2 }, () =>
    digester.digest(jobOf(gzipSync(Buffer.alloc(49 * 1024 * 1024), { level: 1 }), 'gzip')),
  );
  for (const one of last) await t.rejects(one, { code: 'body_too_large' });
  await t.rejects(digester.digest(jobOf(Buffer.from('no gzip'), 'gzip')), { code: 'malformed_request' });
  const bomb = gzipSync(`{"a":[${'{"a":{"b":{}}},'.repeat(2_400_000)}1]}`, { level: 1 });
  await t.rejects(digester.digest(jobOf(bomb, 'gzip')), { code: 'body_too_large', message: /more memory/ });
  t.same(await digester.digest(jobOf(gzipSync(records), 'gzip')), atOnce, 'the next one is read');
  const tree = foldCells([], { declared: [], apart: new Set() });
  forms.set('shop', tree);
  const job = jobOf(gzipSync(records), 'gzip');
  const inPrivate = { ...job, settings: { ...settings, level: 'personal' as const } };
  t.ok((await digester.digest(inPrivate)).fresh === atOnce.fresh, 'private: once more with the form of the site');
  await t.rejects(
    Promise.all(Array.from({ length: 5 }, () => digester.digest(jobOf(new Uint8Array(32 * 1024 * 1024), '')))),
    { code: 'too_many_requests' },
    'what waits is bounded',
  );
});
