// A database that is away is told to the caller as such, on every kind of route, and everything works when it is back.
import t from 'tap';
import { startTestApp } from '../testing/app.js';
import { startCluster, withoutPostgres } from '../testing/databases.js';
import { until } from '../testing/waiting.js';
import { openPostgres } from './client.js';
import { loadModules, migrate } from './migrate.js';
import { findOutage } from './outage.js';

const failed = (members: object, cause?: unknown): Error => Object.assign(new Error('x', { cause }), members);
const met = { query: 'select 1' };

t.test('which errors are an outage', async (t) => {
  for (const [error, expected] of [
    [failed({ code: 'CONNECTION_CLOSED' }), 'unreachable'],
    [failed({ code: 'CONNECT_TIMEOUT' }), 'unreachable'],
    [failed({ code: '57P01' }), 'unreachable'],
    [failed({ code: '57P03' }), 'unreachable'],
    [failed({ code: '08006' }), 'unreachable'],
    [failed({ code: '53300' }), 'unreachable'],
    [failed({ code: 'ECONNREFUSED', syscall: 'connect', ...met }), 'unreachable'],
    // some other server refused: no word about the database
    [failed({ code: 'ECONNREFUSED', syscall: 'connect' }), null],
    [failed({ code: '53100' }), 'disk'],
    [failed({ code: '25006', ...met }), 'read-only'],
    [failed({ code: 'ENOSPC', syscall: 'write' }), 'disk'],
    [failed({}, failed({}, failed({ code: 'EROFS' }))), 'disk'],
    [failed({ code: '23505', ...met }), null], // unique_violation
    [failed({ code: '57014', ...met }), null], // query_canceled
    [failed({ code: 53100 }), null],
    [failed({}), null],
    ['ENOSPC', null],
    [null, null],
  ] as const)
    t.equal(findOutage(error), expected, `${error instanceof Error ? JSON.stringify(error) : String(error)}`);
  const circle: { cause?: unknown } & Error = new Error('x');
  circle.cause = circle;
  t.equal(findOutage(circle), null, 'a cause that is its own ends, too');
});

t.test('the database goes away and comes back', { skip: withoutPostgres }, async (t) => {
  const cluster = await startCluster(t);
  const database = openPostgres(await cluster.create());
  await migrate(database, await loadModules());
  const at = await startTestApp(database);
  t.teardown(async () => {
    await at.close();
    await database.close();
  });
  const { email, token } = await at.user('admin');
  t.equal((await at.call('GET', '/api/settings', { token })).status, 200);
  await cluster.crash();
  for (const ask of [
    () => at.call('GET', '/api/settings', { token }),
    () => at.call('PATCH', '/api/settings', { token, body: { paranoia_level: 2 } }),
    () => at.call('POST', '/api/apply', { token }),
    () => at.call('GET', '/api/audit', { token }),
    () => at.logIn(email),
    () => at.call('GET', '/api/ready'),
    () => at.call('GET', '/api/health'),
  ])
    t.match(await ask(), {
      status: 503,
      headers: { 'retry-after': '5', 'content-type': /^application\/problem\+json/ },
      body: { code: 'not_ready', detail: /^The database does not answer/ },
    });
  t.match(await at.call('GET', '/api/live'), { status: 200, body: { status: 'live' } }, 'a restart would fix nothing');
  await cluster.start();
  await until('the database answers', async () => (await at.call('GET', '/api/ready')).status === 200);
  t.match(await at.call('GET', '/api/health'), { status: 200, body: { status: 'ok', database: 'postgres' } });
  t.match(await at.call('PATCH', '/api/settings', { token, body: { paranoia_level: 2 } }), {
    status: 200,
    body: { paranoia_level: 2 },
  });
  t.equal((await at.logIn(email)).status, 200);
});
