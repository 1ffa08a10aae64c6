// HTTPS of a node: challenges of authorities answered before anything else, certificates of the control plane swapped
// without a restart, redirects, Strict-Transport-Security, and the console under a name of its own.
import { createHash, X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { request as requestTls } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { generate } from 'selfsigned';
import t, { type Test } from 'tap';
import { toProxyConfig, type UpstreamDefaults } from '../contract/proxy-config.js';
import { requireSettings } from '#settings';
import { admin, listenerKinds, startBackend, startPlane, testMsMax, until } from './harness.js';

t.setTimeout(testMsMax);

interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

function get(port: number, path: string, headers: Record<string, string>, tls = false, method = 'GET'): Promise<Got> {
  return new Promise((resolve, reject) => {
    const options = { port, path, method, headers, agent: false, rejectUnauthorized: false };
    const servername = headers['host']?.replace(/:\d+$/, '') ?? 'localhost';
    const sent = (tls ? requestTls : request)({ ...options, ...(tls ? { servername } : {}) }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString('latin1')));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    });
    sent.on('error', reject);
    sent.end();
  });
}

/** The serial number of the certificate that is shown for a name. */
function shown(port: number, servername: string, alpn = ['http/1.1']): Promise<{ serial: string; alpn: string }> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, servername, ALPNProtocols: alpn, rejectUnauthorized: false }, () => {
      const { raw } = socket.getPeerCertificate();
      resolve({ serial: new X509Certificate(raw).serialNumber, alpn: socket.alpnProtocol || '' });
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

async function certificateFor(name: string, days = 90) {
  const made = await generate([{ name: 'commonName', value: name }], {
    keyType: 'ec',
    curve: 'P-256',
    notAfterDate: new Date(Date.now() + days * 86_400_000),
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: name }] }],
  });
  return {
    chain: `${made.cert.trim()}\n`,
    key: `${made.private.trim()}\n`,
    serial: new X509Certificate(made.cert).serialNumber,
  };
}

const digest = (value: object): string => createHash('sha256').update(JSON.stringify(value)).digest('hex');

async function put(plane: Awaited<ReturnType<typeof startPlane>>, path: string, value: object) {
  const answer = await admin(plane, path, { method: 'PUT', body: JSON.stringify(value) });
  return { status: answer.status, text: await answer.text() };
}

const bothPorts = async (t: Test, listener: (typeof listenerKinds)[number], settings: object, dataDir?: string) => {
  const backend = await startBackend(t, (_request, response) => {
    response.setHeader('strict-transport-security', 'max-age=1');
    response.end('application');
  });
  const site = { name: 'shop', prefix: '/', upstream: backend.url, host: 'shop.example.test', protected: true };
  const more = dataDir === undefined ? {} : { dataDir, resume: true };
  const plane = await startPlane(t, listener, { sites: [site], ...settings }, { tls: { port: 0 }, ...more });
  return { plane, http: plane.ports.http, https: plane.ports.tls as number, backend };
};

for (const listener of listenerKinds)
  t.test(`challenges are answered for any host, before rules and routing (${listener})`, async (t) => {
    const { plane, http } = await bothPorts(t, listener, {});
    const path = '/.well-known/acme-challenge/';
    const table = { http: [{ token: 'tok_EN-1', text: 'tok_EN-1.thumb' }], alpn: [] };
    t.match(await put(plane, '/challenges', table), { status: 200 });
    t.match(await (await admin(plane, '/https')).json(), { challenges: digest(table), certificates: { ids: [] } });
    for (const [what, host, tail, method, wanted] of [
      ['a host of a site', 'shop.example.test', 'tok_EN-1', 'GET', { status: 200, body: 'tok_EN-1.thumb' }],
      ['a host that nobody knows', 'other.example.test', 'tok_EN-1', 'GET', { status: 200, body: 'tok_EN-1.thumb' }],
      ['its head', 'other.example.test', 'tok_EN-1', 'HEAD', { status: 200, body: '' }],
      ['another token of a site goes to the site', 'shop.example.test', 'else', 'GET', { body: 'application' }],
      ['another token of nobody', 'other.example.test', 'else', 'GET', { status: 404 }],
      ['more than the token', 'other.example.test', 'tok_EN-1/x', 'GET', { status: 404 }],
      ['another method', 'other.example.test', 'tok_EN-1', 'POST', { status: 404 }],
    ] as const)
      t.match(await get(http, path + tail, { host }, false, method), wanted, what);
    t.match(await put(plane, '/challenges', { http: [], alpn: [] }), { status: 200 });
    t.match(await get(http, `${path}tok_EN-1`, { host: 'other.example.test' }), { status: 404 }, 'taken back');
    for (const wrong of [{}, { http: [{ token: 'a/b', text: 'x' }], alpn: [] }, { http: {}, alpn: [] }])
      t.match(await put(plane, '/challenges', wrong), { status: 422, text: /send/ });
  });

t.test('tls-alpn-01: the proof is shown to whom asks for it, and to nobody else', async (t) => {
  const { plane, https } = await bothPorts(t, 'net', {});
  const { chain, key, serial } = await certificateFor('shop.example.test');
  const before = await shown(https, 'shop.example.test');
  t.match(await put(plane, '/challenges', { http: [], alpn: [{ name: 'shop.example.test', chain, key }] }), {
    status: 200,
  });
  t.match(await shown(https, 'shop.example.test', ['acme-tls/1']), { serial, alpn: 'acme-tls/1' });
  t.match(await shown(https, 'shop.example.test'), before, 'clients see what they saw');
  await t.rejects(shown(https, 'other.example.test', ['acme-tls/1']), 'no proof for another name');
  t.match(await get(https, '/', { host: 'shop.example.test' }, true), { body: 'application' });
});

t.test('certificates: swapped without a restart, refused whole, and kept sealed for a restart', async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), 'gatehouse-https-'));
  t.teardown(() => rm(dataDir, { recursive: true, force: true }));
  const { plane, https } = await bothPorts(t, 'net', {}, dataDir);
  const [old, next, other] = [
    await certificateFor('shop.example.test', 30),
    await certificateFor('shop.example.test', 90),
    await certificateFor('other.example.test'),
  ];
  const given = (id: string, { chain, key }: typeof old) => ({ id, chain, key });
  t.match(await put(plane, '/certificates', { certificates: [given('old', old)] }), { status: 200 });
  t.equal((await shown(https, 'shop.example.test')).serial, old.serial);
  const list = { certificates: [given('next', next), given('old', old), given('other', other)] };
  t.match(await put(plane, '/certificates', list), { status: 200 });
  t.equal((await shown(https, 'shop.example.test')).serial, next.serial, 'the one that ends last');
  t.equal((await shown(https, 'other.example.test')).serial, other.serial, 'by name');
  const wrong = { certificates: [{ id: 'bad', chain: old.chain, key: other.key }] };
  t.match(await put(plane, '/certificates', wrong), { status: 422, text: /bad cannot be used/ });
  t.equal((await shown(https, 'shop.example.test')).serial, next.serial, 'what served goes on');
  t.match(await (await admin(plane, '/https')).json(), {
    certificates: { sha256: digest(list.certificates), ids: ['next', 'old', 'other'] },
  });
  const sealed = await readFile(join(dataDir, 'tls', 'managed.sealed'), 'latin1');
  t.notMatch(sealed, /PRIVATE KEY|CERTIFICATE/);
  await plane.stop();
  const again = await bothPorts(t, 'net', {}, dataDir);
  t.equal((await shown(again.https, 'shop.example.test')).serial, next.serial, 'after a restart');
});

t.test('redirects and Strict-Transport-Security: as set, and only where a certificate is', async (t) => {
  const settings = {
    https_redirect: true,
    https_port: 8443,
    hsts_max_age_seconds: 300,
    hsts_include_subdomains: true,
    rl_trust_proxy: true,
    rl_trusted_proxies: ['127.0.0.1/32'],
  };
  const { plane, http, https } = await bothPorts(t, 'net', settings);
  const host = 'shop.example.test';
  t.match(await get(http, '/a?b=1', { host }), { status: 200, body: 'application' }, 'no certificate yet');
  const { chain, key } = await certificateFor(host);
  await put(plane, '/certificates', { certificates: [{ id: 'one', chain, key }] });
  const location = `https://${host}:8443/a?b=1`;
  for (const [what, headers, wanted] of [
    ['a host with a certificate', { host }, { status: 308, headers: { location } }],
    ['with a port, in capitals', { host: 'SHOP.example.test:80' }, { status: 308, headers: { location } }],
    ['over https to a proxy in front', { host, 'x-forwarded-proto': 'https' }, { status: 200 }],
    ['a host without one', { host: 'other.example.test' }, { status: 404 }],
  ] as const)
    t.match(await get(http, '/a?b=1', headers), wanted, what);
  const plain = await get(http, '/a', { host });
  t.notOk(plain.headers['strict-transport-security'], 'never over plain HTTP');
  const wanted = { 'strict-transport-security': 'max-age=300; includeSubDomains' };
  t.match(
    await get(https, '/a', { host }, true),
    { status: 200, headers: wanted },
    'in place of that of the application',
  );
  t.match(await get(https, '/?q=EVIL', { host }, true), { status: 403, headers: wanted }, 'on pages of ours, too');
});

t.test('DASHBOARD_DOMAIN: the console under its own name, beside the sites', async (t) => {
  const console = await startBackend(t, (request, response) => response.end(`console ${request.headers.host}`));
  const shop = await startBackend(t, (_request, response) => response.end('application'));
  const upstreams: UpstreamDefaults = {
    customer: shop.url,
    payment: shop.url,
    dashboard: { host: 'waf.example.test', upstream: console.url },
  };
  const config = toProxyConfig(requireSettings({}), upstreams);
  const plane = await startPlane(t, 'net', {}, { tls: { port: 0 }, initial: { config, artifact: null } });
  await until(async () => (await get(plane.ports.http, '/', { host: 'waf.example.test' })).status === 200);
  for (const tls of [false, true]) {
    const port = tls ? (plane.ports.tls as number) : plane.ports.http;
    t.match(await get(port, '/login', { host: 'waf.example.test' }, tls), { body: 'console waf.example.test' });
    t.notMatch(await get(port, '/', { host: 'shop.example.test' }, tls), { body: /console/ });
  }
  const { chain, key } = await certificateFor('waf.example.test');
  await put(plane, '/certificates', { certificates: [{ id: 'console', chain, key }] });
  t.match(
    await get(plane.ports.http, '/login', { host: 'waf.example.test' }),
    { status: 308, headers: { location: 'https://waf.example.test/login' } },
    'with a certificate never plain, https_redirect or not',
  );
  t.not((await get(plane.ports.http, '/', { host: 'shop.example.test' })).status, 308, 'a site is left to the setting');
  const changed = toProxyConfig(requireSettings({ limits: { uri_bytes_max: 4096 } }), upstreams);
  const generation = { id: 0, sha256: '', artifactPath: '', selfTest: 'skip', config: changed };
  t.match(
    await put(plane, '/generation', generation),
    { status: 200, text: /"outcome":"active"/ },
    'a change is taken',
  );
  t.match(await get(plane.ports.tls as number, '/login', { host: 'waf.example.test' }, true), { body: /^console/ });
  const own = { name: 'own', prefix: '/', upstream: shop.url, host: 'waf.example.test', protected: false };
  const sites = toProxyConfig(requireSettings({ sites: [own] }), upstreams).sites.map(({ name }) => name);
  t.strictSame(sites, ['own'], 'a site of the settings with that host has its way');
});
