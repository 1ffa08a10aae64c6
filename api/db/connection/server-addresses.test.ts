// URLs of PostgreSQL with IPv6 addresses, as a host without IPv4 has them: read, connected to, and told when nothing
// answers there.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import t from 'tap';
import { restoreInto } from '../../backup/restore.js';
import { readEnv } from '../../env.js';
import { freePort } from '../../testing/free-port.js';
import { startCluster, withoutPostgres } from '../../testing/databases.js';
import { openPostgres } from '../client.js';
import { serverAddressesOf } from './server-addresses.js';

t.test('hosts and ports of a URL', async (t) => {
  for (const [url, wanted] of [
    ['postgres://a:b@[::1]:5433/gatehouse', { host: ['::1'], port: [5433] }],
    ['postgres://a:b%40@[2001:db8::5]/gatehouse?sslmode=require', { host: ['2001:db8::5'], port: [5432] }],
    [
      'postgres://a@[2001:db8::5]:1,db.example.org,10.0.0.5:2/x',
      {
        host: ['2001:db8::5', 'db.example.org', '10.0.0.5'],
        port: [1, 5432, 2],
      },
    ],
    ['postgres://a:b@db.example.org:5433/x', {}],
    ['postgres://a:b@10.0.0.5,10.0.0.6/x', {}],
    ['postgres://a:b@[::1/x', {}],
    ['', {}],
  ] as const)
    t.strictSame(serverAddressesOf(url), wanted, url);
  const secrets = { AUTH_SESSION_SECRET: 'a'.repeat(40), SETTINGS_ENCRYPTION_SECRET: 'b'.repeat(40) };
  for (const POSTGRES_HOST of ['2001:db8::5', '[2001:db8::5]'])
    t.equal(
      readEnv({ ...secrets, DATA_ADMIN_TOKEN: 'c'.repeat(40), POSTGRES_HOST, POSTGRES_PASSWORD: 'p' }).databaseUrl,
      'postgres://gatehouse:p@[2001:db8::5]:5432/gatehouse',
    );
});

t.test('a server that has an IPv6 address only', { skip: withoutPostgres }, async (t) => {
  const cluster = await startCluster(t);
  const server = createServer((client) => {
    const there = connect(Number(new URL(cluster.url).port), '127.0.0.1');
    for (const [from, to] of [
      [client, there],
      [there, client],
    ] as const)
      from.on('error', () => to.destroy()).pipe(to);
  });
  const port = await freePort();
  server.listen({ port, host: '::1', ipv6Only: true });
  await once(server, 'listening');
  t.teardown(() => void server.close());
  const url = new URL(await cluster.create());
  url.host = `[::1]:${port}`;
  const database = openPostgres(url.href);
  t.strictSame([...(await database.sql`select 1 as one`)], [{ one: 1 }]);
  await database.close();
});

t.test('a restore into a database that is not there says which, and how to fix it', async (t) => {
  const nowhere = `postgres://a:secret@[::1]:${await freePort()}/x`;
  await t.rejects(
    restoreInto(nowhere, async () => undefined),
    {
      name: 'BackupError',
      message: /cannot be reached[^]*ECONNREFUSED[^]*DATABASE_URL/,
    },
  );
});
