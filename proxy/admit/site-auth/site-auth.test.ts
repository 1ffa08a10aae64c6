// Who may come in: presence, signatures, and every trick with tokens and paths that is known to have worked somewhere.
import { createHmac, generateKeyPairSync, sign as signBytes, type KeyObject } from 'node:crypto';
import { exportJWK, SignJWT, UnsecuredJWT } from 'jose';
import t from 'tap';
import { drive, type Drive, type Driven } from '../../road/testing/drive.js';
import { gates } from '../index.js';
import { testGateWorker } from '../testing/gate-worker.js';
import { readKeySet, type KeySet } from './key-set.js';

const secret = 'a-shared-secret-of-thirty-two-bytes';
const base = { auth_enabled: true, auth_protected_paths: ['/api', '/admin/area'] };
/** By the clock of `testGateWorker`. */
const nowSeconds = 1000;
const url = 'https://id.example/keys';

const ask = (settings: object, request: Partial<Drive> = {}, keys: KeySet | null = null) => {
  const test = testGateWorker({ siteKeys: { current: keys } });
  const driven = drive({ gates, worker: test.worker, settings: { ...base, ...settings }, uri: '/api/x', ...request });
  return { driven, test };
};
const statusOf = ({ driven }: { readonly driven: Driven }): number => driven.answer?.status ?? 200;
const bearer = (token: string): Partial<Drive> => ({ headers: ['Authorization', `Bearer ${token}`] });
const fieldOf = (driven: Driven, name: string): string | undefined => {
  const headers = driven.answer?.headers ?? [];
  return headers.includes(name) ? headers[headers.indexOf(name) + 1] : undefined;
};

t.test('3: presence: 401 with WWW-Authenticate, under the rule of the path', async (t) => {
  const { driven } = ask({});
  t.equal(driven.answer?.status, 401);
  t.equal(fieldOf(driven, 'WWW-Authenticate'), 'Bearer');
  t.match(JSON.parse(driven.answer?.body ?? ''), { status: 401, title: 'Credentials are needed' });
  t.match(driven.events, [{ interruption: { ruleId: 1_010_000 }, messages: [{ tags: ['gatehouse/site-auth'] }] }]);
  t.match(ask({}, { uri: '/admin/area/1' }).driven.events, [{ interruption: { ruleId: 1_010_001 } }]);
  for (const headers of [
    ['Authorization', 'Basic eDp5'],
    ['X-API-Key', 'k'],
    ['x-api-key', 'k'],
  ])
    t.equal(statusOf(ask({}, { headers })), 200, headers.join());
  for (const headers of [
    ['Authorization', ''],
    ['X-Api-Key', ''],
    ['X-Authorization', 'k'],
    ['Cookie', 'a=b'],
  ])
    t.equal(statusOf(ask({}, { headers })), 401, headers.join());
  t.equal(statusOf(ask({ auth_enabled: false })), 200);
  t.equal(statusOf(ask({}, { site: { protected: false } })), 200);
  t.equal(statusOf(ask({}, { site: { mode: 'DetectionOnly' } })), 200);
});

t.test('3: whole segments, and every way to write the path', async (t) => {
  const covered = [
    '/api',
    '/api/',
    '/api/x/y',
    '/api?x=1',
    '//api',
    '///api//x',
    '/x/../api',
    '/x/%2e%2e/api',
    '/API',
    '/Api/x',
  ];
  covered.push(
    '/%61pi',
    '/%2561pi',
    '/api%2fx',
    '/%2fapi',
    '/./api',
    '/api;v=1',
    '/api;v=1/x',
    '/x\\..\\api',
    '/api%5cx',
    '/ADMIN/Area/1',
  );
  for (const uri of covered) t.equal(statusOf(ask({}, { uri })), 401, uri);
  for (const uri of ['/', '/apiary', '/ap', '/x/api', '/admin', '/admin/areas', '/?p=/api'])
    t.equal(statusOf(ask({}, { uri })), 200, uri);
  t.equal(statusOf(ask({ auth_protected_paths: ['/'] }, { uri: '/anything' })), 401);
  const preflight = ['Origin', 'https://app.example', 'Access-Control-Request-Method', 'PUT'];
  t.equal(statusOf(ask({}, { method: 'OPTIONS', headers: preflight })), 200, 'browsers send these without credentials');
  t.equal(statusOf(ask({}, { method: 'OPTIONS' })), 401);
  t.equal(statusOf(ask({}, { method: 'GET', headers: preflight })), 401);
});

const hs = (claims: object = {}, header: object = {}, key = secret): string => {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${part({ alg: 'HS256', ...header })}.${part({ sub: 'ada', exp: nowSeconds + 300, ...claims })}`;
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
};

t.test('3: HS256: what is accepted and what is not', async (t) => {
  const settings = { auth_secret: secret };
  const good = [
    hs(),
    hs({ exp: nowSeconds + 1 }),
    hs({ exp: nowSeconds - 59 }),
    hs({ nbf: nowSeconds + 60 }),
    hs({}, { typ: 'JWT' }),
  ];
  for (const token of good) t.equal(statusOf(ask(settings, bearer(token))), 200, token);
  t.equal(statusOf(ask(settings, { headers: ['authorization', `bearer   ${hs()} `] })), 200, 'schemes have no case');
  const [head = '', body = '', tail = ''] = hs().split('.');
  const bad: Record<string, string> = {
    'no signature': `${head}.${body}.`,
    'two parts': `${head}.${body}`,
    'four parts': `${hs()}.x`,
    'another secret': hs({}, {}, 'x'),
    'alg none': new UnsecuredJWT({ sub: 'ada' }).encode(),
    'alg None': hs({}, { alg: 'None' }),
    'alg hs256': hs({}, { alg: 'hs256' }),
    'alg HS512': hs({}, { alg: 'HS512' }),
    'alg as a list': hs({}, { alg: ['HS256'] }),
    crit: hs({}, { crit: ['exp'] }),
    b64: hs({}, { b64: false }),
    'expired for longer than clocks differ': hs({ exp: nowSeconds - 60 }),
    'not yet valid': hs({ nbf: nowSeconds + 61 }),
    'made in the future': hs({ iat: nowSeconds + 3600 }),
    'exp as text': hs({ exp: '9999999999' }),
    'another body': `${head}.${Buffer.from('{"sub":"root"}').toString('base64url')}.${tail}`,
    'padding behind it': `${head}.${body}.${tail}=`,
    'blanks within': `${head}.${body}. ${tail}`,
    'too long': hs({ x: 'x'.repeat(9000) }),
    'not an object': (() => {
      const signed = `${head}.${Buffer.from('[]').toString('base64url')}`;
      return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
    })(),
  };
  for (const [name, token] of Object.entries(bad)) {
    const { driven } = ask(settings, bearer(token));
    t.equal(driven.answer?.status, 401, name);
    t.match(
      fieldOf(driven, 'WWW-Authenticate'),
      /^Bearer( error="invalid_token", error_description="[ a-z:]+")?$/,
      name,
    );
  }
  t.equal(statusOf(ask(settings, { headers: ['X-API-Key', 'anything'] })), 401, 'no way around the signature');
  t.equal(statusOf(ask(settings, { headers: ['Authorization', 'Basic eDp5'] })), 401);
});

t.test('B7: a token ends, and within a year, unless the settings say otherwise', async (t) => {
  const year = 31_622_400;
  const rows: readonly [claims: object, settings: object, status: number][] = [
    [{ exp: undefined }, {}, 401],
    [{ exp: undefined }, { auth_require_exp: false }, 200],
    [{ exp: null }, { auth_require_exp: false }, 401],
    [{ exp: nowSeconds + year + 60 }, {}, 200],
    [{ exp: nowSeconds + year + 61 }, {}, 401],
    [{ exp: 1e15 }, {}, 401],
    [{ exp: 1e15 }, { auth_token_life_max_sec: 0 }, 200],
    [{ exp: nowSeconds + 700 }, { auth_token_life_max_sec: 600 }, 401],
    [{ exp: 0 }, {}, 401],
    [{ exp: -1 }, { auth_require_exp: false }, 401],
    [{ exp: nowSeconds - 599 }, { auth_clock_skew_sec: 600 }, 200],
  ];
  for (const [claims, settings, status] of rows)
    t.equal(
      statusOf(ask({ auth_secret: secret, ...settings }, bearer(hs(claims)))),
      status,
      JSON.stringify([claims, settings]),
    );
});

t.test('3: issuer and audience, where the settings name them', async (t) => {
  const settings = { auth_secret: secret, auth_issuer: 'https://id', auth_audience: 'shop' };
  for (const aud of ['shop', ['other', 'shop']])
    t.equal(statusOf(ask(settings, bearer(hs({ iss: 'https://id', aud })))), 200);
  for (const claims of [
    { iss: 'https://id' },
    { aud: 'shop' },
    { iss: 'https://id', aud: 'shopping' },
    { iss: ['https://id'], aud: 'shop' },
  ])
    t.equal(statusOf(ask(settings, bearer(hs(claims)))), 401, JSON.stringify(claims));
});

const pair = (type: 'rsa' | 'p256' | 'p384' | 'ed'): { publicKey: KeyObject; privateKey: KeyObject } => {
  if (type === 'rsa') return generateKeyPairSync('rsa', { modulusLength: 2048 });
  if (type === 'ed') return generateKeyPairSync('ed25519');
  return generateKeyPairSync('ec', { namedCurve: type === 'p256' ? 'P-256' : 'P-384' });
};
const jwt = (alg: string, key: KeyObject, kid?: string): Promise<string> =>
  new SignJWT({ scope: 'read write' })
    .setProtectedHeader({ alg, ...(kid === undefined ? {} : { kid }) })
    .setSubject('ada')
    .setExpirationTime(nowSeconds + 300)
    .sign(key);
const setOf = (keys: readonly object[], over: Partial<KeySet> = {}): KeySet => ({
  ...readKeySet({ url, fetchedAtMs: 1_000_000, keys: keys as never }),
  ...over,
});

t.test('3: key sets: RSA, PSS, curves and Ed25519; each algorithm with its own type of key only', async (t) => {
  const cases = [
    ['RS256', 'rsa'],
    ['RS384', 'rsa'],
    ['RS512', 'rsa'],
    ['PS256', 'rsa'],
    ['ES256', 'p256'],
    ['ES384', 'p384'],
    ['EdDSA', 'ed'],
  ] as const;
  for (const [alg, type] of cases) {
    const { publicKey, privateKey } = pair(type);
    const keys = setOf([{ ...(await exportJWK(publicKey)), kid: 'one' }]);
    const settings = { auth_alg: alg, auth_jwks_url: url };
    const token = await jwt(alg, privateKey, 'one');
    t.equal(statusOf(ask(settings, bearer(token), keys)), 200, alg);
    t.equal(statusOf(ask(settings, bearer(await jwt(alg, privateKey)), keys)), 200, `${alg} without kid`);
    t.equal(statusOf(ask(settings, bearer(`${token.slice(0, -8)}AAAAAAAA`), keys)), 401, `${alg}, another signature`);
    t.equal(
      statusOf(ask(settings, bearer(await jwt(alg, pair(type).privateKey, 'one')), keys)),
      401,
      `${alg}, another key`,
    );
    t.equal(
      statusOf(ask({ ...settings, auth_alg: alg === 'ES256' ? 'RS256' : 'ES256' }, bearer(token), keys)),
      401,
      `${alg} is not what is pinned`,
    );
  }
});

t.test('3: confusions: a public key is no secret, a key of another curve or purpose is no key', async (t) => {
  const { publicKey, privateKey } = pair('rsa');
  const jwk = await exportJWK(publicKey);
  const keys = setOf([{ ...jwk, kid: 'one' }]);
  const settings = { auth_alg: 'RS256', auth_jwks_url: url };
  for (const pem of [publicKey.export({ type: 'spki', format: 'pem' }).toString(), JSON.stringify(jwk)])
    t.equal(statusOf(ask(settings, bearer(hs({}, { kid: 'one' }, pem)), keys)), 401, 'HS256 with the public key');
  const token = await jwt('RS256', privateKey, 'one');
  for (const kid of ['../one', 'one\u0000', '', 'ONE', "one' or '1'='1"])
    t.equal(statusOf(ask(settings, bearer(await jwt('RS256', privateKey, kid)), keys)), 401, `kid ${kid}`);
  for (const over of [{ use: 'enc' }, { key_ops: ['encrypt'] }, { alg: 'RS512' }])
    t.equal(
      statusOf(ask(settings, bearer(token), setOf([{ ...jwk, kid: 'one', ...over }]))),
      401,
      JSON.stringify(over),
    );
  const short = generateKeyPairSync('rsa', { modulusLength: 1024 });
  t.strictSame(
    setOf([await exportJWK(short.publicKey), { kty: 'oct', k: 'c2VjcmV0' }, { kty: 'EC' }, {}]).keys,
    [],
    'none of them',
  );
  const curve = pair('p384');
  const signed = (await jwt('ES384', curve.privateKey)).split('.');
  const head = Buffer.from('{"alg":"ES256"}').toString('base64url');
  const forged = `${head}.${signed[1]}`;
  const signature = signBytes('sha256', Buffer.from(forged), { key: curve.privateKey, dsaEncoding: 'ieee-p1363' });
  const es = { auth_alg: 'ES256', auth_jwks_url: url };
  t.equal(
    statusOf(
      ask(es, bearer(`${forged}.${signature.toString('base64url')}`), setOf([await exportJWK(curve.publicKey)])),
    ),
    401,
  );
});

t.test('3: a key set that is away, old, rotated or huge', async (t) => {
  const { publicKey, privateKey } = pair('ed');
  const key = { ...(await exportJWK(publicKey)), kid: 'new' };
  const settings = { auth_alg: 'EdDSA', auth_jwks_url: url };
  const token = await jwt('EdDSA', privateKey, 'new');
  for (const keys of [
    null,
    setOf([key], { url: 'https://other.example' }),
    setOf([key], { fetchedAtMs: 1_000_000 - 86_400_001 }),
  ]) {
    const { driven, test } = ask(settings, { ...bearer(token), site: { fail_mode: 'open' } }, keys);
    t.equal(driven.answer?.status, 503, 'nobody is let in unseen, whatever fail_mode says');
    t.equal(test.keysWanted(), 1);
  }
  t.equal(
    statusOf(ask(settings, bearer(token), setOf([key], { fetchedAtMs: 1_000_000 - 86_000_000 }))),
    200,
    'stale is better than nobody',
  );
  const rotated = ask(settings, bearer(token), setOf([{ ...key, kid: 'old' }]));
  t.equal(statusOf(rotated), 401);
  t.equal(rotated.test.keysWanted(), 1, 'an unknown kid asks for the set');
  t.equal(setOf(Array.from({ length: 5000 }, () => key)).keys.length, 100);
});

t.test(
  '3: claims are variables for rules; a verified token is not verified again, and ends all the same',
  async (t) => {
    const test = testGateWorker();
    const settings = { ...base, auth_secret: secret };
    const go = (token: string) => drive({ gates, worker: test.worker, settings, uri: '/api', ...bearer(token) });
    const token = hs({ exp: nowSeconds + 10, sub: 'Zo\u00eb', scope: 'read write', azp: 'app', iss: 'https://id' });
    t.strictSame(go(token).given, [
      ['auth_sub', 'Zo\u00c3\u00ab'],
      ['auth_iss', 'https://id'],
      ['auth_client', 'app'],
      ['auth_scope', 'read write'],
    ]);
    t.equal(go(token).answer, null);
    test.pass(71_000);
    t.equal(go(token).answer?.status, 401, 'expired');
    const other = drive({
      gates,
      worker: test.worker,
      settings: { ...settings, auth_secret: 'another-secret' },
      uri: '/api',
      ...bearer(hs()),
    });
    t.equal(other.answer?.status, 401, 'another generation has another key');
  },
);
