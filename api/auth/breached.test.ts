import t from 'tap';
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createOutbound } from '../outbound/outbound.js';
import { startTestApp, testEnv, testPassword, type Reply } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { seedAdmin } from '../users/seed-admin.js';

const leaked = 'Slow-cloud-table-63';
const sha1 = (text: string): string => createHash('sha1').update(text).digest('hex').toUpperCase();

t.test('breached passwords are refused, an unreachable service is noted in the audit log', (t) =>
  onBothDatabases(t, 'breach check', async (t, database) => {
    let isUp = true;
    const server = createServer((_, reply) =>
      isUp
        ? reply.end(`1E4C9B93F3F0682250B6CF8331B7EE68FD8:42\r\n${sha1(leaked).slice(5)}:9\r\n`)
        : reply.writeHead(500).end(),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const outbound = createOutbound({ allow: ['127.0.0.1'] });
    const at = await startTestApp(database, {
      outbound,
      env: {
        ...testEnv,
        breachedPasswordsUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/range/`,
      },
    });
    const root = await at.user('admin');
    await at.call('PATCH', '/api/settings', { token: root.token, body: { policy_password_min_length: 8 } });
    const create = (email: string, password: string) =>
      at.call('POST', '/api/users', { token: root.token, body: { email, role: 'viewer', password } });
    const state = async () => (await at.call('GET', '/api/ready')).body['breached_passwords'];
    t.match(await state(), { status: 'unknown', at: null });
    t.match(await create('a@example.org', leaked), {
      status: 422,
      body: { errors: [{ path: '/password', reason: /breaches/ }] },
    });
    const checked = await create('b@example.org', testPassword);
    t.match(checked, { status: 201, headers: { 'x-gatehouse-notice': undefined } });
    t.match(await state(), { status: 'ok' });
    isUp = false;
    t.match(await create('c@example.org', testPassword), {
      status: 201,
      headers: { 'x-gatehouse-notice': /not compared/ },
    });
    t.match(await state(), { status: 'away', at: String });
    const audit = await at.call('GET', '/api/audit?action=user.create', { token: root.token });
    t.match((audit.body['items'] as { summary: string }[])[0]?.summary, /breach check not possible: it answered 500/);
    await at.call('PATCH', '/api/settings', { token: root.token, body: { policy_block_pwned: false } });
    isUp = true;
    t.equal((await create('d@example.org', leaked)).status, 201, 'switched off: the service is not asked');
    t.equal((await create('e@example.org', 'password')).status, 422, 'the embedded list applies all the same');
    await at.close();
    server.closeAllConnections();
    server.close();
  }),
);

t.test('common passwords are refused at every door while the service is away', (t) =>
  onBothDatabases(t, 'common passwords', async (t, database) => {
    const at = await startTestApp(database);
    t.teardown(() => at.close());
    const root = await at.user('admin', 'root@example.org');
    const target = await at.user('viewer', 'target@example.org');
    const call = (method: string, url: string, body: unknown, token = root.token) =>
      at.call(method, url, { token, body });
    const forced = async (): Promise<string> => {
      const set = await call('POST', `/api/users/${target.id}/password`, { password: testPassword });
      t.equal(set.status, 204, set.text);
      const { body } = await at.logIn(target.email);
      t.equal(body['must_change_password'], true);
      return String(body['token']);
    };
    const doors: readonly (readonly [string, (password: string) => Promise<Reply>])[] = [
      ['create', (password) => call('POST', '/api/users', { email: 'n@example.org', role: 'viewer', password })],
      ['create, v1', (password) => call('POST', '/api/v1/users', { email: 'm@example.org', role: 'viewer', password })],
      ['set by an administrator', (password) => call('POST', `/api/users/${target.id}/password`, { password })],
      ['own', (password) => call('POST', '/api/account/password', { current: testPassword, password })],
      ['own, v1', (wanted) => call('POST', '/api/v1/auth/password/change', { current: testPassword, new: wanted })],
      [
        'forced',
        async (password) => call('POST', '/api/account/password', { current: testPassword, password }, await forced()),
      ],
      [
        'forced, v1',
        async (wanted) =>
          call('POST', '/api/v1/auth/password/change', { current: testPassword, new: wanted }, await forced()),
      ],
    ];
    for (const [door, use] of doors)
      for (const password of [
        'password1234',
        'P@ssw0rd2026!',
        'Football1863!',
        'P4ssw0rd-P4ssw0rd!',
        'p\u0430ssword1234',
      ])
        t.match(await use(password), { status: 422, body: { detail: /common password/ } }, `${door}: ${password}`);
    for (const [index, [door, use]] of doors.entries()) {
      const password = `Amber-kettle-${index}-orchard`;
      const reply = await use(password);
      t.match(reply.headers, { 'x-gatehouse-notice': /not compared/ }, `${door}: ${reply.text}`);
      t.ok(reply.status < 300, door);
      if (door.startsWith('own'))
        await database.sql`
        update users set password_hash = ${await at.parts.hasher.hash(testPassword)} where id = ${root.id}`;
    }
    await database.sql`delete from users`;
    await t.rejects(seedAdmin(at.parts, 'first@example.org', 'password1234'), /ADMIN_INITIAL_PASSWORD is refused/);
    t.equal(await seedAdmin(at.parts, 'first@example.org', testPassword), true);
    t.equal(await seedAdmin(at.parts, 'first@example.org', 'password1234'), false, 'read at the first start only');
  }),
);
