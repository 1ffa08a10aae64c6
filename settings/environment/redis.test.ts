// 26.3: what REDIS_URL and the variables beside it may say, and what is told of one that cannot be used.
import t from 'tap';
import { readRedis, redisAddressOf, type RedisAddress } from '../environment.js';

const nothing: RedisAddress = {
  ...{ mode: 'single', servers: [], socketPath: null, master: '', database: 0, tls: null },
  ...{ username: null, password: null, sentinelUsername: null, sentinelPassword: null },
};
const plainTls = { caFile: null, certFile: null, keyFile: null, serverName: null };
type Given = Readonly<Record<string, string>>;
const read = (given: Given) => readRedis((name) => given[name] ?? '');
const at = (host: string, port: number) => ({ host, port });

t.test('26.3: one server, sentinels, a cluster, a socket', async (t) => {
  const cases: readonly (readonly [string, Partial<RedisAddress>])[] = [
    ['redis://cache', { servers: [at('cache', 6379)] }],
    ['redis://cache/', { servers: [at('cache', 6379)] }],
    ['redis://127.0.0.1:7000/3', { servers: [at('127.0.0.1', 7000)], database: 3 }],
    ['redis://[fd00::1]:7000', { servers: [at('fd00::1', 7000)] }],
    ['redis://[::1]', { servers: [at('::1', 6379)] }],
    ['redis://:pass@cache', { servers: [at('cache', 6379)], password: 'pass' }],
    ['redis://app:pass@cache', { servers: [at('cache', 6379)], username: 'app', password: 'pass' }],
    ['redis://a%40b:p%3A%2F%25@c', { servers: [at('c', 6379)], username: 'a@b', password: 'p:/%' }],
    ['redis://app:pa:ss@cache', { servers: [at('cache', 6379)], username: 'app', password: 'pa:ss' }],
    ['redis://app:p@ss@cache', { servers: [at('cache', 6379)], username: 'app', password: 'p@ss' }],
    ['rediss://cache', { servers: [at('cache', 6379)], tls: plainTls }],
    ['redis+sentinel://a/gate', { mode: 'sentinel', servers: [at('a', 26_379)], master: 'gate' }],
    [
      'redis+sentinel://app:pass@a,b:7000,[::1]:7001/gate/2',
      {
        ...{ mode: 'sentinel', master: 'gate', database: 2, username: 'app', password: 'pass' },
        servers: [at('a', 26_379), at('b', 7000), at('::1', 7001)],
      },
    ],
    ['rediss+sentinel://a/gate', { mode: 'sentinel', servers: [at('a', 26_379)], master: 'gate', tls: plainTls }],
    ['redis+cluster://a,b:7000', { mode: 'cluster', servers: [at('a', 6379), at('b', 7000)] }],
    ['redis+cluster://a/0', { mode: 'cluster', servers: [at('a', 6379)] }],
    [
      'rediss+cluster://u:p@a',
      { mode: 'cluster', servers: [at('a', 6379)], tls: plainTls, username: 'u', password: 'p' },
    ],
    ['unix:///run/redis.sock', { socketPath: '/run/redis.sock' }],
    ['/run/redis.sock', { socketPath: '/run/redis.sock' }],
  ];
  for (const [url, wanted] of cases) t.strictSame(redisAddressOf(url), { ...nothing, ...wanted }, url);
  t.strictSame(read({}), { address: null, problems: [] }, 'nothing is named');
  t.strictSame(read({ REDIS_PASSWORD: 'x', REDIS_TLS_CA_FILE: '/ca' }).problems, [], 'without a URL nothing is asked');
});

t.test('26.3: a URL that cannot be used says how to write it, and shows no password', async (t) => {
  const secret = 'Hidden-1';
  const cases: readonly (readonly [string, RegExp])[] = [
    ['http://cache', /must be redis:\/\/user:password@host:6379\/0, redis\+sentinel:/],
    ['cache:6379', /must be redis:/],
    ['redis+sentinels://a/gate', /must be redis:/],
    ['redis://', /host or host:port/],
    ['redis://cache:0', /host or host:port/],
    ['redis://cache:70000', /host or host:port/],
    ['redis://fd00::1', /host or host:port/],
    ['redis://a b', /host or host:port/],
    ['redis://a,b', /must name one server; several are redis\+sentinel/],
    ['redis://cache/x', /number of a database/],
    ['redis://cache/0/1', /number of a database/],
    ['redis://cache?tls=1', /must have no \?/],
    ['redis://cache/0#x', /must have no \?/],
    ['redis+sentinel://a,b', /name under which the sentinels know the primary/],
    ['redis+sentinel://a/', /name under which the sentinels know the primary/],
    ['redis+sentinel://a/gate/x', /number of a database/],
    ['redis+cluster://a,b/1', /has only number 0/],
    [`redis://app:${secret}%@cache`, /percent-encoded/],
    [`redis://app:${secret}#@cache`, /host or host:port|no \?/],
    [`redis://app:${secret}/x@cache`, /host or host:port|number of a database/],
  ];
  for (const [url, wanted] of cases) {
    const { address, problems } = read({ REDIS_URL: url });
    t.equal(address, null, url);
    t.equal(problems.length, 1, url);
    t.match(problems[0], wanted, url);
    t.match(problems[0], /^REDIS_URL must /, `${url}: which variable`);
    t.notMatch(problems.join(), new RegExp(secret), `${url}: no password`);
  }
});

t.test('26.3: variables beside the URL', async (t) => {
  const files = { REDIS_TLS_CA_FILE: '/ca', REDIS_TLS_CERT_FILE: '/cert', REDIS_TLS_KEY_FILE: '/key' };
  const all = read({
    ...{ REDIS_URL: 'rediss+sentinel://app@a/gate', REDIS_PASSWORD: 'p', ...files, REDIS_TLS_SERVER_NAME: 'cache' },
    ...{ REDIS_SENTINEL_USERNAME: 'watch', REDIS_SENTINEL_PASSWORD: 's' },
  });
  t.strictSame(all.problems, []);
  t.match(all.address, {
    ...{ username: 'app', password: 'p', sentinelUsername: 'watch', sentinelPassword: 's' },
    tls: { caFile: '/ca', certFile: '/cert', keyFile: '/key', serverName: 'cache' },
  });
  t.equal(read({ REDIS_URL: 'redis://a', REDIS_PASSWORD: 'p' }).address?.password, 'p');
  const wrong: readonly (readonly [Given, RegExp])[] = [
    [{ REDIS_URL: 'redis://app:one1@a', REDIS_PASSWORD: 'two2' }, /REDIS_PASSWORD and REDIS_URL have different/],
    [{ REDIS_URL: 'redis://app@a' }, /names a user and no password; set REDIS_PASSWORD/],
    [
      { REDIS_URL: 'redis://a', REDIS_SENTINEL_PASSWORD: 'one1' },
      /REDIS_SENTINEL_PASSWORD is set, and .* no sentinels/,
    ],
    [{ REDIS_URL: 'redis+sentinel://a/g', REDIS_SENTINEL_USERNAME: 'x' }, /REDIS_SENTINEL_PASSWORD is not; set both/],
    [{ REDIS_URL: 'redis://a', REDIS_TLS_CA_FILE: '/ca' }, /REDIS_TLS_CA_FILE is set.* write rediss/],
    [{ REDIS_URL: 'redis+cluster://a', REDIS_TLS_SERVER_NAME: 'x' }, /REDIS_TLS_SERVER_NAME is set.* write rediss/],
    [{ REDIS_URL: 'rediss://a', REDIS_TLS_CERT_FILE: '/c' }, /belong together/],
    [{ REDIS_URL: 'rediss://a', REDIS_TLS_KEY_FILE: '/k' }, /belong together/],
  ];
  for (const [given, wanted] of wrong) {
    const { problems } = read(given);
    t.equal(problems.length, 1, JSON.stringify(given));
    t.match(problems[0], wanted);
    t.notMatch(problems.join(), /one1|two2/, 'no secret is shown');
  }
});
