// 26.3: connections to a real Redis: an ACL user, TLS with an own authority and a client certificate, a socket; and
// what is told of each thing that can be wrong. Nobody waits longer than said, whatever it is.
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { generate } from 'selfsigned';
import t, { type Test } from 'tap';
import { freePort } from '#api/testing/free-port';
import { aclOfDocs } from '#api/testing/servers/redis-fleet';
import { startRedisProcess, withoutRedis } from '#api/testing/servers/redis-process';
import { testMsMax, until } from '#api/testing/waiting';
import { readRedis } from '#settings/environment';
import { connectRedis, findFileProblems, type RedisConnection, type RedisTrouble } from './door.js';

t.setTimeout(testMsMax);

const patient = { answerMsMax: 20_000, retryMsMax: 200 };
const one = `return redis.call('INCR', KEYS[1])`;

function open(
  t: Test,
  given: Readonly<Record<string, string>>,
  times = patient,
): RedisConnection & { errors: string[] } {
  const { address, problems } = readRedis((name) => given[name] ?? '');
  if (address === null || problems.length > 0) throw new Error(problems.join());
  const connection = connectRedis(address, times);
  const errors: string[] = [];
  connection.onError = ({ message }) => void errors.push(message);
  t.teardown(() => connection.close());
  return Object.assign(connection, { errors });
}

async function works(t: Test, connection: RedisConnection, name: string): Promise<void> {
  await until(name, () => connection.isReady);
  await connection.look('gatehouse:t');
  const [first, second] = [await connection.run(one, ['gatehouse:t:a']), await connection.run(one, ['gatehouse:t:a'])];
  t.equal(Number(second), Number(first) + 1, name);
  t.equal(connection.state().trouble, null);
}

/** It never works, and says why. */
async function fails(
  t: Test,
  given: Readonly<Record<string, string>>,
  [trouble, words]: readonly [RedisTrouble, RegExp],
): Promise<void> {
  const connection = open(t, given);
  const name = `${given['REDIS_URL'] ?? ''}: ${trouble}`;
  const found: string[] = [];
  await until(name, async () => {
    await connection.look('gatehouse:t').catch(({ message }: Error) => void found.push(message));
    return connection.state().trouble === trouble;
  });
  t.match([...connection.errors, ...found].join('\n'), words, name);
  t.notMatch([...connection.errors, ...found].join('\n'), /correct-1|wrong-1/, `${name}: shows no password`);
  connection.close();
}

t.test('26.3: an ACL user, a password, a socket, a database', { skip: withoutRedis }, async (t) => {
  const [port, old] = [await freePort(), await freePort()];
  const acl = [`port ${port}`, 'user default off', aclOfDocs.server];
  const { directory } = await startRedisProcess(t, [...acl, 'unixsocket ./redis.sock']);
  await startRedisProcess(t, [`port ${old}`, 'requirepass correct-1']);
  const url = `redis://gatehouse@127.0.0.1:${port}`;
  await works(t, open(t, { REDIS_URL: url, REDIS_PASSWORD: 'correct-1' }), 'user and password');
  await works(t, open(t, { REDIS_URL: `redis://gatehouse:correct-1@127.0.0.1:${port}` }), 'in the URL');
  await works(t, open(t, { REDIS_URL: `redis://:correct-1@127.0.0.1:${old}/5` }), 'a password alone, and a database');
  const rows: readonly (readonly [string, string, RedisTrouble, RegExp])[] = [
    [url, 'wrong-1', 'login', /WRONGPASS.*REDIS_PASSWORD/],
    [`redis://nobody@127.0.0.1:${port}`, 'correct-1', 'login', /WRONGPASS.*ACL LIST/],
    [`redis://127.0.0.1:${port}`, '', 'login', /NOAUTH.*REDIS_URL/],
    [`redis://127.0.0.1:${old}`, 'wrong-1', 'login', /WRONGPASS/],
    [`rediss://127.0.0.1:${old}`, 'correct-1', 'silent', /begins with rediss and it does not speak TLS/],
    [`redis+cluster://127.0.0.1:${old}`, 'correct-1', 'cluster', /it is no cluster: write redis:/],
    [`redis+sentinel://127.0.0.1:${old}/gate`, 'correct-1', 'login', /REDIS_SENTINEL_PASSWORD/],
    [`unix://${join(directory, 'none.sock')}`, '', 'unreachable', /ENOENT.*look at the address/],
    ['redis://127.0.0.1:1', '', 'unreachable', /ECONNREFUSED.*look at the address/],
  ];
  for (const [at, password, trouble, words] of rows)
    await fails(t, { REDIS_URL: at, REDIS_PASSWORD: password }, [trouble, words]);
  const direct = new Redis({
    port,
    host: '127.0.0.1',
    username: 'gatehouse',
    password: 'correct-1',
    lazyConnect: true,
  });
  await t.rejects(direct.del('other:key'), /NOPERM/, 'the line of docs/redis.md allows no other keys');
  await t.rejects(direct.call('flushall'), /NOPERM/, 'and no other commands');
  direct.disconnect();
  const elsewhere = open(t, { REDIS_URL: url, REDIS_PASSWORD: 'correct-1' });
  await until('connected', () => elsewhere.isReady);
  await t.rejects(elsewhere.run(one, ['other:key']), /NOPERM.*docs\/redis.md/, 'told with the way out');
  t.equal(elsewhere.state().trouble, 'permission');
});

/** An authority, and certificates of it. */
async function authority(name: string) {
  const extensions = [
    { name: 'basicConstraints', cA: true, critical: true },
    { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
  ] as const;
  const own = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256' } as const;
  const ca = await generate([{ name: 'commonName', value: name }], { ...own, extensions: [...extensions] });
  const issue = (names: readonly string[]) => {
    const altNames = names.map((value) =>
      /^[\d.]+$/.test(value) ? ({ type: 7, ip: value } as const) : ({ type: 2, value } as const),
    );
    return generate([{ name: 'commonName', value: names[0] ?? '' }], {
      ...own,
      ca: { key: ca.private, cert: ca.cert },
      extensions: [
        { name: 'basicConstraints', cA: false, critical: true },
        { name: 'subjectAltName', altNames },
      ],
    });
  };
  return { certificate: ca.cert, issue };
}

type Write = (name: string, text: string) => string;
type Issued = Awaited<ReturnType<Awaited<ReturnType<typeof authority>>['issue']>>;

const writerIn =
  (directory: string): Write =>
  (name, text) => {
    const file = join(directory, name);
    writeFileSync(file, text);
    return file;
  };

const tlsLinesOf =
  (write: Write, ca: string) =>
  (port: number, { cert, private: key }: Issued, asks: string): string[] => [
    `port 0`,
    `tls-port ${port}`,
    `tls-cert-file ${write(`${port}.pem`, cert)}`,
    `tls-key-file ${write(`${port}.key`, key)}`,
    `tls-ca-cert-file ${ca}`,
    `tls-auth-clients ${asks}`,
  ];

t.test('26.3: TLS with an own authority, and a client certificate', { skip: withoutRedis }, async (t) => {
  const files = t.testdir({});
  const write = writerIn(files);
  const [own, other] = [await authority('own'), await authority('other')];
  const [server, client, stranger] = [
    await own.issue(['cache.example', '127.0.0.1']),
    await own.issue(['gatehouse']),
    await other.issue(['gatehouse']),
  ];
  const elsewhere = await own.issue(['cache.example']);
  const ca = write('ca.pem', own.certificate);
  const tlsLines = tlsLinesOf(write, ca);
  const [asking, open1, named] = [await freePort(), await freePort(), await freePort()];
  await startRedisProcess(t, tlsLines(asking, server, 'yes'));
  await startRedisProcess(t, tlsLines(open1, server, 'no'));
  await startRedisProcess(t, tlsLines(named, elsewhere, 'no'));
  const pair = {
    REDIS_TLS_CERT_FILE: write('client.pem', client.cert),
    REDIS_TLS_KEY_FILE: write('client.key', client.private),
  };
  const url = (port: number) => ({ REDIS_URL: `rediss://127.0.0.1:${port}`, REDIS_TLS_CA_FILE: ca });
  await works(t, open(t, url(open1)), 'an own authority');
  const connection = open(t, { ...url(asking), ...pair });
  await works(t, connection, 'a client certificate');
  t.strictSame(connection.state(), { mode: 'single', tls: true, trouble: null });
  await works(t, open(t, { ...url(named), REDIS_TLS_SERVER_NAME: 'cache.example' }), 'another name');
  const wrongPair = {
    REDIS_TLS_CERT_FILE: write('stranger.pem', stranger.cert),
    REDIS_TLS_KEY_FILE: write('stranger.key', stranger.private),
  };
  const rows: readonly (readonly [Readonly<Record<string, string>>, RegExp])[] = [
    [{ ...url(open1), REDIS_TLS_CA_FILE: write('other.pem', other.certificate) }, /REDIS_TLS_CA_FILE/],
    [{ REDIS_URL: `rediss://127.0.0.1:${open1}` }, /not believed.*REDIS_TLS_CA_FILE/],
    [
      { ...url(open1), REDIS_TLS_CA_FILE: join(files, 'away.pem') },
      /REDIS_TLS_CA_FILE=.*away\.pem cannot be read \(ENOENT\)/,
    ],
    [url(asking), /REDIS_TLS_CERT_FILE/],
    [{ ...url(asking), ...wrongPair }, /REDIS_TLS_CERT_FILE/],
    [{ ...url(asking), ...pair, REDIS_TLS_KEY_FILE: wrongPair.REDIS_TLS_KEY_FILE }, /REDIS_TLS_KEY_FILE/],
    [{ ...url(asking), ...pair, REDIS_TLS_CERT_FILE: write('none.pem', 'nothing') }, /REDIS_TLS_CERT_FILE/],
    [url(named), /another name.*REDIS_TLS_SERVER_NAME/],
  ];
  for (const [given, words] of rows) await fails(t, given, ['certificate', words]);

  const late = join(files, 'late.pem');
  const renewed = open(t, { ...url(open1), REDIS_TLS_CA_FILE: late });
  await until('it is missed', () => renewed.errors.length > 0);
  writeFileSync(late, own.certificate);
  await works(t, renewed, 'a file that comes later is read at the next connection');
});

t.test('26.3: TLS of sentinels and of a cluster', { skip: withoutRedis }, async (t) => {
  const write = writerIn(t.testdir({}));
  const [own, other] = [await authority('own'), await authority('other')];
  const [server, client] = [await own.issue(['127.0.0.1']), await own.issue(['gatehouse'])];
  const ca = write('ca.pem', own.certificate);
  const tlsLines = tlsLinesOf(write, ca);
  const [primary, sentinel, node, busPort] = [await freePort(), await freePort(), await freePort(), await freePort()];
  await startRedisProcess(t, [...tlsLines(primary, server, 'yes'), aclOfDocs.server]);
  const watching = ['tls-replication yes', `sentinel monitor gate 127.0.0.1 ${primary} 1`, aclOfDocs.sentinel];
  await startRedisProcess(t, [...tlsLines(sentinel, server, 'yes'), ...watching], ['--sentinel']);
  const cluster = [
    'cluster-enabled yes',
    'tls-cluster yes',
    `cluster-port ${busPort}`,
    'cluster-announce-ip 127.0.0.1',
  ];
  await startRedisProcess(t, [...tlsLines(node, server, 'yes'), ...cluster, aclOfDocs.server]);
  const pair = {
    REDIS_TLS_CERT_FILE: write('client.pem', client.cert),
    REDIS_TLS_KEY_FILE: write('client.key', client.private),
  };
  const tls = { ca: own.certificate, cert: client.cert, key: client.private };
  const direct = new Redis({ port: node, host: '127.0.0.1', tls });
  t.teardown(() => direct.disconnect());
  await direct.call('cluster', 'addslotsrange', 0, 16_383);
  const named = { REDIS_PASSWORD: aclOfDocs.password, REDIS_TLS_CA_FILE: ca };
  const bySentinel = {
    ...{ ...named, REDIS_URL: `rediss+sentinel://gatehouse@127.0.0.1:${sentinel}/gate` },
    ...{ REDIS_SENTINEL_USERNAME: 'watch', REDIS_SENTINEL_PASSWORD: aclOfDocs.password },
  };
  const byCluster = { ...named, REDIS_URL: `rediss+cluster://gatehouse@127.0.0.1:${node}` };
  await works(t, open(t, { ...bySentinel, ...pair }), 'sentinels');
  await works(t, open(t, { ...byCluster, ...pair }), 'a cluster');
  const stranger = { REDIS_TLS_CA_FILE: write('other.pem', other.certificate) };
  for (const variables of [bySentinel, byCluster]) {
    await fails(t, { ...variables, ...pair, ...stranger }, [
      'unreachable',
      /certificates do not fit.*REDIS_TLS_CA_FILE/,
    ]);
    await fails(t, variables, ['unreachable', /certificates do not fit.*REDIS_TLS_CERT_FILE/]);
    await fails(t, { ...variables, ...pair, REDIS_PASSWORD: 'wrong-1' }, ['login', /WRONGPASS.*REDIS_PASSWORD/]);
  }
  const wrong = { ...bySentinel, ...pair, REDIS_SENTINEL_PASSWORD: 'wrong-1' };
  await fails(t, wrong, ['login', /WRONGPASS.*REDIS_SENTINEL_PASSWORD/]);
  const unknown = { ...bySentinel, ...pair, REDIS_URL: bySentinel.REDIS_URL.replace(/gate$/, 'other') };
  await fails(t, unknown, ['unreachable', /no sentinel that answers knows a primary of that name/]);
});

t.test('26.3: files are looked at before anything begins', async (t) => {
  const directory = t.testdir({ good: '-----BEGIN CERTIFICATE-----\n', bad: 'x' });
  const of = (name: string): string[] => {
    const given: Readonly<Record<string, string>> = {
      REDIS_URL: 'rediss://a',
      REDIS_TLS_CA_FILE: join(directory, name),
    };
    const { address } = readRedis((variable) => given[variable] ?? '');
    return address === null ? ['no address'] : findFileProblems(address);
  };
  t.strictSame(of('good'), []);
  t.match(of('bad')[0], /REDIS_TLS_CA_FILE=.*has no CERTIFICATE in PEM.*name the right file/);
  t.match(of('none')[0], /REDIS_TLS_CA_FILE=.*cannot be read \(ENOENT\); name a file that this user may read/);
});

t.test('26.3: whoever takes connections and says nothing is not waited for', async (t) => {
  const server = createServer(() => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  for (const url of [
    `redis://127.0.0.1:${port}`,
    `redis+sentinel://127.0.0.1:${port}/g`,
    `redis+cluster://127.0.0.1:${port}`,
  ]) {
    const connection = open(t, { REDIS_URL: url }, { answerMsMax: 100, retryMsMax: 200 });
    await t.rejects(connection.run(one, ['a']), `${url}: at once`);
    await until(`${url} is told`, () => connection.errors.length > 0);
    t.equal(connection.isReady, false);
    connection.close();
  }
});

t.test('26.3: a server that stands still, and one that takes no writes any more', { skip: withoutRedis }, async (t) => {
  const port = await freePort();
  const server = await startRedisProcess(t, [`port ${port}`]);
  const connection = open(t, { REDIS_URL: `redis://127.0.0.1:${port}` }, { answerMsMax: 3000, retryMsMax: 200 });
  await works(t, connection, 'it works');
  let lost = 0;
  connection.onLost = () => void (lost += 1);
  server.standStill();
  await t.rejects(connection.run(one, ['a']), /it does not answer in time|no server answers there/);
  await until('the connection is given up', () => lost > 0 && !connection.isReady);
  server.goOn();
  await works(t, connection, 'a new one');
  const direct = new Redis(port);
  t.teardown(() => direct.disconnect());
  const before = lost;
  await direct.call('REPLICAOF', '127.0.0.1', '1');
  await t.rejects(connection.look('x'), /READONLY.*takes no writes/);
  await until('it is left, for the primary may be elsewhere', () => lost > before);
  await direct.call('REPLICAOF', 'NO', 'ONE');
  await works(t, connection, 'as before');
  await direct.call('CONFIG', 'SET', 'min-replicas-to-write', '1');
  await t.rejects(connection.look('x'), /NOREPLICAS.*takes no writes/, 'a primary that is cut off from its replicas');
  await direct.call('CONFIG', 'SET', 'min-replicas-to-write', '0');
  await works(t, connection, 'and again');
});

t.test('26.3: the ACL users of the tests are those of docs/redis.md', async (t) => {
  const text = readFileSync(new URL('../../../docs/redis.md', import.meta.url), 'utf8');
  const told = [...text.matchAll(/^ACL SETUSER (.*)$/gm)].map((found) => found[1]?.replace('PASSWORD', 'correct-1'));
  const joined = `user ${told[0]} ${told[1]?.replace(/^gatehouse /, '')}`;
  t.equal(joined, aclOfDocs.server);
  t.equal(`user ${told[2]}`, aclOfDocs.sentinel);
});
