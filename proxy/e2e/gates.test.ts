// Gates over the real ports: each listener, and HTTP/2 over TLS. Spellings of a protected path, preflights, passes of
// the challenge, and tokens of a key set, in front of an application that serves whatever reaches it.
import { generateKeyPairSync, hkdfSync, sign } from 'node:crypto';
import t, { type Test } from 'tap';
import { makePass } from '../admit/challenge/tokens.js';
import { frameTypes, flags, RawHttp2 } from '../tls-edge/testing/raw-http2.js';
import { admin, listenerKinds, startBackend, startPlane, testMsMax, until } from './harness.js';
import { sendRaw, statusOf } from './raw-client.js';

t.setTimeout(testMsMax);

type Fields = readonly (readonly [name: string, value: string])[];
interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly fields?: Fields;
  readonly body?: string;
}
/** The status of the answer; 400 for a request that HTTP/2 resets. */
type Ask = (asked: Asked) => Promise<number>;
type Plane = Awaited<ReturnType<typeof startPlane>>;

interface Way {
  readonly name: string;
  open(t: Test, settings: object): Promise<{ ask: Ask; seen: string[]; plane: Plane }>;
}

const auth = { auth_enabled: true, auth_protected_paths: ['/authed'] };
const challenge = { challenge_enabled: true, challenge_paths: ['/authed'] };

async function startApplication(t: Test, site: object): Promise<{ sites: object[]; seen: string[] }> {
  const seen: string[] = [];
  const { url } = await startBackend(t, (request, response) => {
    seen.push(`${request.method} ${request.url}`);
    request.resume();
    request.on('end', () => response.end('SECRET'));
  });
  const { base = '', ...more } = site as { base?: string };
  return { sites: [{ name: 'shop', prefix: '/', upstream: url + base, protected: true, ...more }], seen };
}

const ways: readonly Way[] = [
  ...listenerKinds.map((listener) => ({
    name: listener,
    async open(t: Test, { site = {}, ...settings }: { site?: object }) {
      const { sites, seen } = await startApplication(t, site);
      const plane = await startPlane(t, listener, { sites, ...settings });
      const ask: Ask = async ({ method = 'GET', path = '/authed', fields = [], body = '' }) => {
        const length = body === '' ? [] : [['content-length', String(body.length)] as const];
        const lines = [['host', 'shop.example'] as const, ...fields, ...length];
        const head = `${method} ${path} HTTP/1.1\r\n${lines.map((line) => `${line.join(': ')}\r\n`).join('')}\r\n`;
        return statusOf((await sendRaw(plane.ports.http, head + body)).text);
      };
      return { ask, seen, plane };
    },
  })),
  {
    name: 'HTTP/2',
    async open(t: Test, { site = {}, ...settings }: { site?: object }) {
      const { sites, seen } = await startApplication(t, site);
      const plane = await startPlane(t, 'net', { sites, ...settings }, { tls: { port: 0 } });
      const ask: Ask = async ({ method = 'GET', path = '/authed', fields = [], body = '' }) => {
        const client = await RawHttp2.open(plane.ports.tls as number);
        const pseudo: Fields = [
          [':method', method],
          [':scheme', 'https'],
          [':authority', 'shop.example'],
          [':path', path],
        ];
        client.headers(1, [...pseudo, ...fields], body === '');
        if (body !== '') client.frame(frameTypes.data, flags.endStream, 1, Buffer.from(body));
        const status = await client.outcome(1);
        client.close();
        return typeof status === 'number' ? status : 400;
      };
      return { ask, seen, plane };
    },
  },
];

const spellings = [
  '/authed',
  '/;/authed',
  '/a/..;/authed',
  '/authed;x=1/y',
  '/authed/;',
  '/%u0061uthed',
  '/authed.',
  '/authed%20',
  '/authed::$DATA',
  '/AUTHED',
  '//authed',
  '/./authed',
  '/x/../authed',
  '/%2fauthed',
  '/%2e/authed',
  '/%2561uthed',
  '/x%5c..%5cauthed',
  '/authed.json',
  '/index.php/authed',
  '/authed%c0%af',
  '/authed%00',
  '/authed%09',
  '/authed%0a',
  '/authed/',
  '/%ef%bd%81uthed',
  '/auth%ffed',
  '/auth%e2%80%8ced',
  '/authed\xa0',
  '/authed\x85',
];
/** The parser of uWebSockets leaves these without an answer until the time for a head is over. */
const abuses = ['authed', 'http:/authed', 'http://shop.example/authed', 'http://shop.example\\authed', '/\tauthed'];

for (const { name, open } of ways) {
  t.test(`B1: no spelling of a protected path gets by (${name})`, async (t) => {
    for (const [what, gate] of Object.entries({ auth, challenge })) {
      const { ask, seen } = await open(t, gate);
      t.equal(await ask({ path: '/open' }), 200);
      for (const path of [...spellings, ...(name === 'uws' ? [] : abuses)]) {
        const status = await ask({ path });
        t.ok(status >= 400 && status < 500, `${what} ${JSON.stringify(path)}: ${status}`);
      }
      t.same(seen, ['GET /open'], 'the application saw none of them');
    }
    const { ask, seen } = await open(t, { ...auth, site: { base: '/base', strip_prefix: false } });
    t.equal(await ask({ path: '/open' }), 200);
    for (const path of [
      ...spellings,
      '/../base/authed',
      '/x/%2e%2e/../base/authed',
      '/..;/base/authed',
      '/..%00/base/authed',
    ])
      t.ok([400, 401, 404].includes(await ask({ path })), `behind a base path ${JSON.stringify(path)}`);
    t.same(seen, ['GET /base/open']);
  });

  t.test(`B2: a preflight is one, or none (${name})`, async (t) => {
    const origin = ['origin', 'https://app.example'] as const;
    const method = ['access-control-request-method', 'PUT'] as const;
    for (const [what, gate, refusal] of [
      ['auth', auth, 401],
      ['challenge', challenge, 403],
    ] as const) {
      const { ask, seen } = await open(t, gate);
      const options = (fields: Fields, more: Asked = {}) => ask({ method: 'OPTIONS', fields, ...more });
      t.equal(await options([origin, method], { path: '/authed?delete=1&_method=DELETE' }), 200);
      t.equal(await options([['origin', 'null'], method]), 200, 'the origin of a sandbox');
      t.same(seen, ['OPTIONS /authed', 'OPTIONS /authed'], 'without a query');
      const none: Readonly<Record<string, Fields>> = {
        'no origin': [method],
        'no method': [origin],
        'an empty origin': [['origin', ''], method],
        'an empty method': [origin, ['access-control-request-method', '']],
        'a method that is no token': [origin, ['access-control-request-method', 'PUT/x']],
        'an origin that is no URL': [['origin', 'app.example'], method],
        'an origin with a path': [['origin', 'https://app.example/x'], method],
        'two origins in one': [['origin', 'https://a.example https://b.example'], method],
        'a cookie': [origin, method, ['cookie', 'session=1']],
        'credentials of no kind': [origin, method, ['x-api-key', '']],
        'a type': [origin, method, ['content-type', 'text/plain']],
        'another method': [origin, method, ['x-method-override', 'DELETE']],
      };
      for (const [kind, fields] of Object.entries(none)) {
        const status = await options(fields);
        t.equal(status, refusal, `${what}: ${kind}`);
      }
      t.equal(await options([origin, method], { body: 'a=b' }), refusal, `${what}: a body`);
      for (const twice of [origin, method])
        t.equal(await options([origin, method, twice]), 400, `${what}: ${twice[0]} twice`);
      for (const verb of ['GET', 'POST', ...(name === 'uws' ? [] : ['options', 'OPTIONSX'])])
        t.ok((await options([origin, method], { method: verb })) >= 400, `${what}: ${verb}`);
      t.equal(seen.length, 2, 'nothing else arrived');
    }
  });

  t.test(`B3: one pass of the challenge, one set of credentials (${name})`, async (t) => {
    const { ask, seen, plane } = await open(t, challenge);
    const secret = Buffer.from(hkdfSync('sha256', plane.adminToken, '', 'gatehouse challenge', 32));
    const bearer = { network: '127.0.0.1', host: 'shop.example', userAgent: 'a browser' };
    const agent = ['user-agent', bearer.userAgent] as const;
    const passOf = (ms: number): string => `gatehouse_pass=${makePass(secret, bearer, Date.now() + ms)}`;
    const [good, another, old] = [passOf(600_000), passOf(500_000), passOf(-1000)];
    const cookies = (...values: readonly string[]) =>
      ask({ fields: [agent, ...values.map((value) => ['cookie', value] as const)] });
    t.equal(await cookies(good), 200);
    t.equal(await cookies('a=b', good, 'c=d'), 200, 'cookies in several fields are how HTTP/2 sends them');
    t.equal(await cookies(good, good), 200, 'the same twice is one');
    const arrived = seen.length;
    for (const values of [
      [good, 'gatehouse_pass=x'],
      ['gatehouse_pass=x', good],
      [`${good}; gatehouse_pass=x`],
      [`gatehouse_pass=; ${good}`],
      [good, another],
      [good, old],
      [old],
      ['gatehouse_pass='],
      [good.replace('gatehouse_pass', 'Gatehouse_Pass')],
      [`"${good}"`],
    ])
      t.equal(await cookies(...values), 403, values.map((value) => value.slice(0, 40)).join(' · '));
    t.equal(await ask({ fields: [agent, agent, ['cookie', good]] }), 400, 'two agents');
    t.equal(seen.length, arrived);
  });

  t.test(`B7: tokens of a key set end (${name})`, async (t) => {
    const url = 'https://id.example/keys';
    const { ask, seen, plane } = await open(t, { ...auth, auth_alg: 'EdDSA', auth_jwks_url: url });
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const now = Math.floor(Date.now() / 1000);
    const part = (text: string): string => Buffer.from(text).toString('base64url');
    const get = (claims: string): Promise<number> => {
      const signed = `${part('{"alg":"EdDSA","kid":"one"}')}.${part(claims)}`;
      const token = `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`;
      return ask({ fields: [['authorization', `Bearer ${token}`]] });
    };
    const good = `{"sub":"ada","exp":${now + 600}}`;
    t.equal(await get(good), 503, 'no key set yet');
    const body = JSON.stringify({
      url,
      fetchedAtMs: Date.now(),
      keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'one' }],
    });
    t.equal((await admin(plane, '/site-keys', { method: 'PUT', body })).status, 200);
    await until(async () => (await get(good)) === 200);
    t.equal(await get(`{"exp":${now + 600}.5}`), 200, 'NumericDate may have a fraction');
    t.equal(await get(`{"exp":${now + 600},"nbf":${now - 5}}`), 200);
    const arrived = seen.length;
    for (const claims of [
      '{"sub":"ada"}',
      '{"Exp":1e12}',
      `{"exp":"${now + 600}"}`,
      '{"exp":"never"}',
      '{"exp":null}',
      '{"exp":true}',
      `{"exp":[${now + 600}]}`,
      '{"exp":{}}',
      '{"exp":NaN}',
      '{"exp":1e999}',
      '{"exp":-1}',
      '{"exp":0}',
      '{"exp":-0.5}',
      `{"exp":${now - 3600}}`,
      `{"exp":${(now + 600) * 1000}}`,
      '{"exp":1e308}',
      `{"exp":${now + 600},"nbf":${now + 3600}}`,
      `{"exp":${now + 600},"nbf":"${now - 5}"}`,
      `{"exp":${now + 600},"nbf":null}`,
      `{"exp":${now + 600},"nbf":1e999}`,
      `{"exp":${now + 600},"iat":${now + 3600}}`,
      `{"exp":${now + 600},"exp":null}`,
      `{"__proto__":{"exp":${now + 600}}}`,
      `[{"exp":${now + 600}}]`,
    ])
      t.equal(await get(claims), 401, claims);
    t.equal(seen.length, arrived);
  });
}
