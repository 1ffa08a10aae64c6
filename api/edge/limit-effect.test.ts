import t, { type Test } from 'tap';
import fc from 'fast-check';
import type { Database } from '../db/client.js';
import { startTestApp, testEnv } from '../testing/app.js';
import { request as recordOf } from '../testing/builders/records.js';
import { onBothDatabases } from '../testing/databases.js';
import { effectOf, isMeant, type EffectLimit, type RecordedRequest } from './limit-effect.js';

const limit = (more: Partial<EffectLimit>): EffectLimit => ({
  kind: 'zone',
  path: '/',
  method: null,
  key: 'ip',
  events: 2,
  window: '10s',
  ...more,
});
const request = (at_ms: number, more: Partial<RecordedRequest> = {}): RecordedRequest => ({
  at_ms,
  node: 'n',
  client_ip: '192.0.2.1',
  method: 'GET',
  path: '/',
  ...more,
});

t.test('which requests a limit counts', async (t) => {
  const cases: readonly (readonly [limit: Partial<EffectLimit>, method: string, path: string, isMeant: boolean])[] = [
    [{ path: '/api' }, 'GET', '/api/x', true],
    [{ path: '/api' }, 'GET', '/API', true],
    [{ path: '/api' }, 'GET', '/%61pi/x', true],
    [{ path: '/api' }, 'GET', '//api', true],
    [{ path: '/api' }, 'GET', '/apiary', false],
    [{ path: null, kind: 'default' }, 'GET', '/anything', true],
    [{ path: '/login', kind: 'endpoint', method: 'POST' }, 'POST', '/login/', true],
    [{ path: '/login', kind: 'endpoint', method: 'POST' }, 'GET', '/login', false],
    [{ path: '/login', kind: 'endpoint', method: 'GET' }, 'HEAD', '/login', true],
    [{ path: '/login', kind: 'endpoint' }, 'GET', '/login/more', false],
    [{ path: '/login', kind: 'endpoint' }, 'GET', '/login.json', true],
    [{ path: '/o/{id}/pay', kind: 'endpoint' }, 'GET', '/o/7/pay', true],
    [{ path: '/o/{id}/pay', kind: 'endpoint' }, 'GET', '/o//pay', false],
    [{ path: '/o/*', kind: 'endpoint' }, 'GET', '/o/7/pay', true],
    [{ path: '/o', kind: 'endpoint' }, 'GET', '/%zz', false],
  ];
  for (const [of, method, path, expected] of cases)
    t.equal(isMeant(limit(of))({ method, path }), expected, `${JSON.stringify(of)} ${method} ${path}`);
});

t.test('two places of ten seconds come back one by one', async (t) => {
  const at = [0, 0, 0, 4999, 5000, 5001, 30_000, 30_000, 30_000].map((ms) => request(ms));
  t.same(effectOf(limit({}), at, false), { matched: 9, limited: 4, clients: 1 });
  const two = [request(0), request(0, { client_ip: '192.0.2.2' }), request(0), request(0)];
  t.same(effectOf(limit({}), two, false), { matched: 4, limited: 1, clients: 1 }, 'each client has its own');
  t.same(effectOf(limit({ key: 'global' }), two, false), { matched: 4, limited: 2, clients: 1 });
  const nodes = ['a', 'b', 'c'].map((node) => request(0, { node }));
  t.same(effectOf(limit({}), nodes, false), { matched: 3, limited: 0, clients: 0 }, 'each node counts for itself');
  t.same(effectOf(limit({}), nodes, true), { matched: 3, limited: 1, clients: 1 }, 'unless limits are shared');
  const v6 = ['2001:db8::1', '2001:db8:0:0:5::2', '2001:db8:0:1::1'].map((client_ip) => request(0, { client_ip }));
  t.same(effectOf(limit({ events: 1 }), v6, false), { matched: 3, limited: 1, clients: 1 }, 'a /64 is one client');
  t.equal(effectOf(limit({ key: 'header:X-Key' }), at, false), null, 'records have no header fields');
});

t.test('no window lets more than twice its events through, and a first burst passes whole', async (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 2000 }), { maxLength: 60 }),
      fc.integer({ min: 1, max: 8 }),
      (gaps, events) => {
        let now = 0;
        const requests = gaps.map((gap) => request((now += gap)));
        const found = effectOf(limit({ events }), requests, false);
        const passed = requests.length - (found?.limited ?? 0);
        t.ok(passed >= Math.min(events, requests.length));
        t.ok(passed <= events + (now / 10_000) * events + 1);
      },
    ),
    { numRuns: 100, seed: Number(process.env['SEED'] ?? 27) },
  );
});

async function overHttp(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('operator');
  const viewer = await at.user('viewer');
  const record = (number: number, uri: string, site = 'customer') =>
    recordOf(number, { at_ms: at.clock.nowMs - 1000 + number, site, client_ip: '192.0.2.7', method: 'POST', uri });
  const requests = [
    ...[1, 2, 3, 4].map((number) => record(number, '/login?x=1')),
    record(5, '/LOGIN'),
    record(6, '/other'),
    record(7, '/login', 'not-a-site'),
    { ...record(8, '/login'), at_ms: at.clock.nowMs - 3_700_000 },
  ];
  const body = { node: 'n', batch_id: 'b1', requests, events: [], dropped: 0 };
  t.equal((await at.call('POST', '/api/dataplane/records', { token: testEnv.dataAdminToken, body })).status, 200);
  const draft = { kind: 'endpoint', path: '/login', method: 'POST', events: 3, window: '1m' };
  const asked = await at.call('POST', '/api/rate-limits/effect', { token, body: draft });
  t.match(asked.body, { records: 5, is_cut: false, left_out: 0, limits: [{ matched: 5, limited: 2, clients: 1 }] });
  t.equal((await at.call('POST', '/api/rate-limits/effect', { token: viewer.token, body: draft })).status, 403);
  for (const [name, wrong] of Object.entries({ window: 'soon', events: 0, path: 'login', kind: 'other' }))
    t.equal(
      (await at.call('POST', '/api/rate-limits/effect', { token, body: { ...draft, [name]: wrong } })).status,
      400,
    );
  const zones = [{ name: 'by-key', match_path: '/', key: 'header:X-Key', events: 1 }];
  t.equal((await at.call('PATCH', '/api/settings', { token, body: { rl_events: 4, rl_zones: zones } })).status, 200);
  const saved = await at.call('GET', '/api/rate-limits/effect', { token: viewer.token });
  t.match(saved.body['limits'], [
    { name: 'default', matched: 6, limited: 2 },
    { name: 'by-key', matched: null, limited: null },
  ]);
}

t.test('the effect of limits over the API', (t) => onBothDatabases(t, 'effects', overHttp));
