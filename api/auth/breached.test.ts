import t from 'tap';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createOutbound } from '../outbound/outbound.js';
import { startTestApp, testEnv, testPassword } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';

t.test('breached passwords are refused, an unreachable service is noted in the audit log', (t) =>
  onBothDatabases(t, 'breach check', async (t, database) => {
    let isUp = true;
    const server = createServer((_, reply) =>
      isUp
        ? reply.end('1E4C9B93F3F0682250B6CF8331B7EE68FD8:42\r\nF1A08CA6C0CBC8E36FD64AB4B6A21AC44A6:9\r\n')
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
    t.match(await create('a@example.org', 'password'), {
      status: 422,
      body: { errors: [{ path: '/password', reason: /breaches/ }] },
    });
    t.equal((await create('b@example.org', testPassword)).status, 201);
    isUp = false;
    t.equal((await create('c@example.org', testPassword)).status, 201);
    const audit = await at.call('GET', '/api/audit?action=user.create', { token: root.token });
    t.match((audit.body['items'] as { summary: string }[])[0]?.summary, /breach check not possible: it answered 500/);
    await at.call('PATCH', '/api/settings', { token: root.token, body: { policy_block_pwned: false } });
    isUp = true;
    t.equal((await create('d@example.org', 'password')).status, 201, 'switched off');
    await at.close();
    server.closeAllConnections();
    server.close();
  }),
);
