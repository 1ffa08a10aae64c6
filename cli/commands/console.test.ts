// The dashboard under DASHBOARD_DOMAIN: client → node (TLS) → console → control plane. What the control plane takes
// for the client, and whether its cookie goes over TLS only.
import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import t, { type Test } from 'tap';
import { startNode } from '#api/testing/data-plane';
import { onOneDatabase } from '#api/testing/databases';
import { startTestApp, testEnv, testPassword } from '#api/testing/app';
import { makeDirectory } from '#api/testing/temporary';
import { testMsMax } from '#api/testing/waiting';
import { startConsole } from '#console/main';
import { variables, type Values } from '#settings/environment';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { trustedProxiesOf } from './console.js';

t.setTimeout(testMsMax);

const defaults = Object.fromEntries(variables.map((row) => [row.name, row.default])) as Values;
const host = 'waf.example.test';
const token = 'console-token-of-the-tests-0123456789';

interface Sent {
  readonly port: number;
  readonly tls: boolean;
  /** The address it comes from. */
  readonly from: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Logs in; returns the cookie's attributes. */
function logIn(email: string, { port, tls, from, headers }: Sent): Promise<{ status: number; cookie: string }> {
  return new Promise((resolve, reject) => {
    const sent = (tls ? requestTls : requestPlain)(
      {
        port,
        host: '127.0.0.1',
        localAddress: from,
        agent: false,
        method: 'POST',
        path: '/api/login',
        headers: { host, 'content-type': 'application/json', 'x-gatehouse-request': '1', ...headers },
        ...(tls ? { rejectUnauthorized: false, servername: host } : {}),
      },
      (response) => {
        response.resume();
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, cookie: String(response.headers['set-cookie']) }),
        );
      },
    );
    sent.on('error', reject);
    sent.end(JSON.stringify({ email, password: testPassword }));
  });
}

t.test('who the client is, and whether its way is TLS', (t) =>
  onOneDatabase(t, 'the road of the dashboard', async (t: Test, database) => {
    const at = await startTestApp(database, { env: { ...testEnv, trustedProxies: [], consoleToken: token } });
    t.teardown(() => at.close());
    const { email, id } = await at.user('admin');
    const apiUrl = await at.app.listen({ host: '127.0.0.1', port: 0 });
    const webDirectory = await makeDirectory(t, 'web');
    await writeFile(join(webDirectory, 'index.html'), '<p>{{brand}}</p>');
    const branding = { brand: 'Gatehouse', brandSub: '', tagline: '' };
    const consoleOf = async (values: Partial<Values>): Promise<string> => {
      const trustedProxies = trustedProxiesOf({ ...defaults, ...values });
      const own = await startConsole({
        branding,
        webDirectory,
        apiUrl,
        token,
        trustedProxies,
        host: '127.0.0.1',
        port: 0,
      });
      t.teardown(() => own.close());
      return own.url;
    };
    const named = await consoleOf({ DASHBOARD_DOMAIN: host });
    const unnamed = await consoleOf({});
    const nobody = await consoleOf({ DASHBOARD_DOMAIN: host, DASHBOARD_PROXIES: 'none' });
    const node = await startNode(t, {
      upstream: 'http://127.0.0.1:1',
      hasTls: true,
      dashboard: { host, upstream: named },
    });
    const portOf = (url: string): number => Number(new URL(url).port);
    const forged = { 'x-forwarded-for': '198.51.100.7', 'x-forwarded-proto': 'https' };
    const consoles = { named: portOf(named), unnamed: portOf(unnamed), nobody: portOf(nobody) };
    for (const [what, sent, ip, isSecure] of [
      ['TLS at the node', { port: node.https, tls: true, from: '127.0.0.9', headers: {} }, '127.0.0.9', true],
      ['forged there', { port: node.https, tls: true, from: '127.0.0.9', headers: forged }, '127.0.0.9', true],
      ['plain at the node', { port: node.http, tls: false, from: '127.0.0.9', headers: {} }, '127.0.0.9', false],
      ['plain and forged', { port: node.http, tls: false, from: '127.0.0.9', headers: forged }, '127.0.0.9', false],
      ['no node', { port: consoles.named, tls: false, from: '127.0.0.9', headers: forged }, '127.0.0.9', false],
      ['no name', { port: consoles.unnamed, tls: false, from: '127.0.0.1', headers: forged }, '127.0.0.1', false],
      ['none', { port: consoles.nobody, tls: false, from: '127.0.0.1', headers: forged }, '127.0.0.1', false],
    ] as const) {
      await database.sql`delete from sessions where user_id = ${id}`;
      const { status, cookie } = await logIn(email, sent);
      t.equal(status, 200, what);
      t.match(cookie, /HttpOnly; SameSite=Strict/, what);
      t.equal(cookie.includes('; Secure'), isSecure, `${what}: Secure`);
      const sessions = await database.sql<
        { source_ip: string }[]
      >`select source_ip from sessions where user_id = ${id}`;
      t.strictSame(
        sessions.map(({ source_ip: source }) => source),
        [ip],
        `${what}: the address`,
      );
    }
  }),
);

t.test('DASHBOARD_PROXIES', async (t) => {
  const domain = { DASHBOARD_DOMAIN: host };
  for (const [values, wanted] of [
    [{}, []],
    [domain, ['127.0.0.1', '::1']],
    [{ ...domain, DASHBOARD_PROXIES: 'none' }, []],
    [{ DASHBOARD_PROXIES: '10.0.0.0/24, 2001:db8::1' }, ['10.0.0.0/24', '2001:db8::1']],
    [{ DASHBOARD_PROXIES: 'nodes, node-1.example.org' }, ['nodes', 'node-1.example.org']],
    [{ ...domain, ADMIN_BIND: '10.0.0.5' }, ['127.0.0.1', '::1', '10.0.0.5']],
    [{ ...domain, ADMIN_BIND: '::' }, ['127.0.0.1', '::1']],
  ] as const)
    t.strictSame(trustedProxiesOf({ ...defaults, ...values }), wanted);
  for (const wrong of [
    'node 1',
    '-node',
    '1.2.3',
    'a..b',
    'a'.repeat(254),
    '10.0.0.0/33',
    '10.0.0.0/24/1',
    '10.0.0.0/',
    '2001:db8::/129',
  ])
    t.throws(() => trustedProxiesOf({ ...defaults, DASHBOARD_PROXIES: wrong }), { message: /DASHBOARD_PROXIES has/ });
});
