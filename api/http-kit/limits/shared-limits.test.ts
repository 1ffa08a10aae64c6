// The limits of several API processes: one contract on both stores, two apps on a real Redis, and Redis lost in
// between.
import { Redis } from 'ioredis';
import t, { type Test } from 'tap';
import { connectRedis } from '#proxy/redis';
import { redisAddressOf } from '#settings/environment';
import { openEmbedded } from '../../db/client.js';
import { loadModules, migrate } from '../../db/migrate.js';
import { copyEmbeddedTemplate } from '../../testing/databases.js';
import { startTestApp, testEnv, type TestApp } from '../../testing/app.js';
import {
  createLocalCounts,
  createRedisCounts,
  createSharedLimits,
  installationPrefix,
  type RequestCounts,
} from './shared-limits.js';
import { freePort } from '../../testing/free-port.js';
import { startRedis, withoutRedis } from '../../testing/servers/redis.js';
import { pause, testMsMax, until } from '../../testing/waiting.js';

/** These tests are about what Redis counted, not about how fast it was asked. */
const redisAnswerMsMax = testMsMax;

async function contract(t: Test, counts: RequestCounts): Promise<void> {
  const first = await counts.count('198.51.100.1', 60_000);
  t.equal(first.current, 1, 'the first request is counted');
  t.ok(first.ttl > 50_000 && first.ttl <= 60_000, `the window begins with it: ${first.ttl}`);
  const second = await counts.count('198.51.100.1', 60_000);
  t.equal(second.current, 2);
  t.ok(second.ttl <= first.ttl, 'a window is not prolonged by asking');
  t.equal((await counts.count('198.51.100.2', 60_000)).current, 1, 'others count for themselves');
  t.same(
    (await Promise.all(Array.from({ length: 50 }, () => counts.count('many', 60_000))))
      .map(({ current }) => current)
      .sort((a, b) => a - b),
    Array.from({ length: 50 }, (_, n) => n + 1),
    'none is lost among concurrent requests',
  );
  t.equal((await counts.count('short', 30)).current, 1);
  await pause(80);
  t.equal((await counts.count('short', 60_000)).current, 1, 'a window ends');
  t.equal((await counts.count('odd:key {x} \r\n', 60_000)).current, 1, 'keys are taken literally');
}

t.test('in the process', async (t) => {
  await contract(
    t,
    createLocalCounts(() => performance.now()),
  );
  let nowMs = 0;
  const counts = createLocalCounts(() => nowMs);
  await counts.count('a', 1000);
  t.same(
    counts.raise('a', { current: 9, ttl: 500 }),
    { current: 9, ttl: 500 },
    'what others counted is taken over, with their window',
  );
  t.same(counts.raise('a', { current: 1, ttl: 500 }), { current: 9, ttl: 500 }, 'and never lowered');
  nowMs = 500;
  t.same(await counts.count('a', 1000), { current: 1, ttl: 1000 });
  for (let n = 0; n < 10_000; n++) await counts.count(`k${n}`, 1000);
  t.equal((await counts.count('a', 1000)).current, 1, 'the least recently used key has made room');
  t.equal((await counts.count('k9999', 1000)).current, 2);
});

t.test('in Redis', { skip: withoutRedis }, async (t) => {
  const { url } = await startRedis(t, await freePort());
  const connection = connectRedis(redisAddressOf(url), { answerMsMax: redisAnswerMsMax, retryMsMax: 1000 });
  t.teardown(() => connection.close());
  await until('the connection', () => connection.isReady);
  await contract(t, createRedisCounts(connection, 'test'));
  const redis = new Redis(url);
  t.teardown(() => redis.disconnect());
  const limits = createSharedLimits({
    redis: redisAddressOf(url),
    prefix: 'test',
    clock: () => performance.now(),
    log: { warn: () => undefined, info: () => undefined },
    answerMsMax: redisAnswerMsMax,
    lookEveryMs: 10,
  });
  t.teardown(() => limits.close());
  await until('it counts', () => limits.state().status === 'ok');
  await redis.call('REPLICAOF', '127.0.0.1', '1');
  await until('Redis that takes no writes is noticed while nobody logs in', () => limits.state().status === 'degraded');
  await until('and why', () => limits.state().trouble === 'read_only');
  await redis.call('REPLICAOF', 'NO', 'ONE');
  await until('and when it does again', () => limits.state().status === 'ok');
  t.ok((await redis.pttl('test:many')) > 0, 'no key stays for ever');
});

t.test('a Redis that was never there: counted here, said once', async (t) => {
  const lines: string[] = [];
  const limits = createSharedLimits({
    prefix: 'x',
    redis: redisAddressOf('redis://127.0.0.1:1'),
    clock: () => performance.now(),
    log: { warn: (_, line) => lines.push(line), info: (line) => lines.push(line) },
  });
  t.teardown(() => limits.close());
  await contract(t, limits.scope('x'));
  await until('the refusal', () => lines.length > 0);
  await pause(500);
  t.equal(lines.length, 1, lines.join('; '));
  t.match(limits.state(), { kind: 'redis', status: 'degraded', fallbacks: 56, trouble: 'unreachable' });
});

t.test('two servers, one limit; Redis lost and found', { skip: withoutRedis }, async (t) => {
  const database = await openEmbedded(await copyEmbeddedTemplate(t));
  t.teardown(() => database.close());
  await migrate(database, await loadModules());
  const port = await freePort();
  const redis = await startRedis(t, port);
  // below the lock-out of an account, which answers 429 too, from the fifth failure on
  const over = { redis: redisAddressOf(redis.url), redisAnswerMsMax, loginsPerMinute: 4, notFoundPerMinute: 4 };
  const [a, b] = [await startTestApp(database, over), await startTestApp(database, over)];
  t.teardown(async () => {
    await a.close();
    await b.close();
  });
  const shared = async (at: TestApp) =>
    (await at.call('GET', '/api/ready')).body['shared_limits'] as { kind: string; status: string; fallbacks: number };
  const login = async (at: TestApp, ip: string): Promise<number> =>
    (await at.call('POST', '/api/login', { body: { email: 'nobody@example.org', password: 'x' }, ip })).status;
  for (const at of [a, b]) await until('the connection', async () => (await shared(at)).status === 'ok');
  const logins: number[] = [];
  for (const at of [a, b, a, b, a, b, a, b]) logins.push(await login(at, '198.51.100.9'));
  t.same(logins, [401, 401, 401, 401, 429, 429, 429, 429], 'logins');
  const probes: number[] = [];
  for (const at of [a, a, a, b, b, a]) probes.push((await at.call('GET', '/api/probe', { ip: '198.51.100.9' })).status);
  t.same(probes, [404, 404, 404, 404, 429, 429], 'probes, counted apart from logins');
  t.equal(await login(b, '198.51.100.10'), 401, 'others are not affected');
  t.same(await shared(a), { kind: 'redis', status: 'ok', fallbacks: 0, mode: 'single', tls: false, trouble: null });

  await redis.stop();
  await until(
    'the loss',
    async () => (await shared(a)).status === 'degraded' && (await shared(b)).status === 'degraded',
  );
  t.equal((await a.call('GET', '/api/ready')).status, 200, 'degraded is ready');
  t.same(
    [await login(a, '198.51.100.9'), await login(b, '198.51.100.9')],
    [429, 429],
    'who was over the limit stays there',
  );
  const alone: number[] = [];
  for (let n = 0; n < 8; n++) alone.push(await login(a, '198.51.100.11'));
  t.same(alone, [401, 401, 401, 401, 429, 429, 429, 429], 'nobody is locked out, and the login is not open');
  t.equal((await shared(a)).fallbacks, 9);

  await startRedis(t, port);
  for (const at of [a, b]) await until('the return', async () => (await shared(at)).status === 'ok');
  const again: number[] = [];
  for (const at of [a, b, a, b, a, b, a]) again.push(await login(at, '198.51.100.12'));
  t.same(again, [401, 401, 401, 401, 429, 429, 429], 'shared again');
});

t.test(
  'two installations on one Redis count apart, processes of one count together',
  { skip: withoutRedis },
  async (t) => {
    const { url } = await startRedis(t, await freePort());
    const start = async (secret: string, redisPrefix: string | null = null): Promise<TestApp> => {
      const database = await openEmbedded(await copyEmbeddedTemplate(t));
      await migrate(database, await loadModules());
      const env = { ...testEnv, authSessionSecret: secret };
      const at = await startTestApp(database, {
        redis: redisAddressOf(url),
        redisAnswerMsMax,
        redisPrefix,
        notFoundPerMinute: 4,
        env,
      });
      t.teardown(async () => {
        await at.close();
        await database.close();
      });
      await until(
        'the connection',
        async () => (await at.call('GET', '/api/ready')).body['shared_limits'].status === 'ok',
      );
      return at;
    };
    const probe = async (at: TestApp): Promise<number> =>
      (await at.call('GET', '/api/probe', { ip: '198.51.100.9' })).status;
    const mine = await start('a'.repeat(40));
    const mineToo = await start('a'.repeat(40));
    const theirs = await start('z'.repeat(40));
    const named = await start('a'.repeat(40), 'staging');
    for (let n = 0; n < 4; n++) t.equal(await probe(n % 2 === 0 ? mine : mineToo), 404);
    t.same([await probe(mine), await probe(mineToo)], [429, 429], 'one installation, whichever process is asked');
    t.same(
      [await probe(theirs), await probe(named)],
      [404, 404],
      'another secret, or a prefix of its own: another installation',
    );
    const redis = new Redis(url);
    t.teardown(() => redis.disconnect());
    const keys = await redis.keys('*');
    const prefixes = [installationPrefix('a'.repeat(40)), installationPrefix('z'.repeat(40)), 'staging'];
    t.equal(keys.length, 3);
    for (const prefix of prefixes) t.equal(keys.filter((key) => key.startsWith(`${prefix}:limit:`)).length, 1, prefix);
    t.notMatch(keys.join(), /aaaa/, 'the secret stays where it is');
  },
);
