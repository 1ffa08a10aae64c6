// ID tokens that a provider, or who sits between, may not get away with: each is one wrong step from a good one. The
// provider is a server of this test that answers whatever the row says.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, type JWTHeaderParameters } from 'jose';
import type { Database } from '../db/client.js';
import { createOutbound } from '../outbound/outbound.js';
import { startTestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';

const secret = 'client-secret-of-the-test';
const redirectUri = 'https://waf.example/api/sso/callback';
const keys = await generateKeyPair('RS256');
const strangers = await generateKeyPair('RS256');
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const nowSeconds = (): number => Math.floor(Date.now() / 1000);

type Claims = Readonly<Record<string, unknown>>;
type Sign = (claims: Claims) => Promise<string>;
const signed =
  (key: Parameters<SignJWT['sign']>[0], header: Partial<JWTHeaderParameters> = {}): Sign =>
  (claims) =>
    new SignJWT({ ...claims }).setProtectedHeader({ alg: 'RS256', kid: 'first', ...header }).sign(key);
const good = signed(keys.privateKey);
const unsigned: Sign = async (claims) =>
  [{ alg: 'none' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.') + '.';
const altered: Sign = async (claims) => {
  const [head, , signature] = (await good(claims)).split('.');
  const body = Buffer.from(JSON.stringify({ ...claims, name: 'another' })).toString('base64url');
  return [head, body, signature].join('.');
};

interface Row {
  readonly name: string;
  readonly sign?: Sign;
  readonly claims?: Claims;
}
const strange = { ...(await exportJWK(strangers.publicKey)), kid: 'first' };
const forged: readonly Row[] = [
  { name: 'no signature (alg none)', sign: unsigned },
  { name: 'another key', sign: signed(strangers.privateKey) },
  { name: 'another key that comes along', sign: signed(strangers.privateKey, { jwk: strange }) },
  { name: 'a key that the provider does not name', sign: signed(strangers.privateKey, { kid: 'other' }) },
  {
    name: 'a secret in place of the key: the public key',
    sign: signed(bytes(await exportSPKI(keys.publicKey)), { alg: 'HS256' }),
  },
  { name: 'a secret in place of the key: that of the client', sign: signed(bytes(secret), { alg: 'HS256' }) },
  { name: 'claims changed behind the signature', sign: altered },
  { name: 'issued hours ahead', claims: { iat: nowSeconds() + 9000 } },
  { name: 'for another application that may speak for ours (azp)', claims: { azp: 'other' } },
  { name: 'for another audience', claims: { aud: 'other' } },
  { name: 'of another login (nonce)', claims: { nonce: 'other' } },
  { name: 'two addresses', claims: { email: 'a@evil.example,b@corp.example' } },
  { name: 'two at-signs', claims: { email: 'a@evil.example@corp.example' } },
  { name: 'a name and half an address', claims: { email: 'a@evil.example <b@corp.example' } },
  { name: 'a NUL in the address', claims: { email: 'a@evil.example\0@corp.example' } },
  { name: 'an address that is too long', claims: { email: `${'a'.repeat(250)}@corp.example` } },
];

/** A provider that answers with `row`; `nonce` is of the login under way. */
async function startForger(t: Test): Promise<{ issuer: string; now: { row: Row; nonce: string } }> {
  const now = { row: { name: 'good' } as Row, nonce: '' };
  let issuer = '';
  const documents: Readonly<Record<string, () => unknown>> = {
    '/.well-known/openid-configuration': () => ({
      issuer,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256', 'none', 'HS256'],
    }),
    '/jwks': async () => ({ keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'first', alg: 'RS256', use: 'sig' }] }),
    '/token': async () => {
      const at = nowSeconds();
      const own = { iss: issuer, sub: 's1', aud: 'gatehouse', iat: at, exp: at + 300, nonce: now.nonce };
      const person = { email: 'ann@corp.example', email_verified: true, name: 'Ann' };
      const token = await (now.row.sign ?? good)({ ...own, ...person, ...now.row.claims });
      return { access_token: 'a', token_type: 'Bearer', expires_in: 300, id_token: token };
    },
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const document = await documents[request.url ?? '']?.();
    response.writeHead(document === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(document ?? {}));
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { issuer, now };
}

async function suite(t: Test, database: Database): Promise<void> {
  const forger = await startForger(t);
  const at = await startTestApp(database, {
    outbound: createOutbound({ allow: ['127.0.0.1'] }),
    now: () => Date.now(),
  });
  at.clock.nowMs = Date.now();
  const { token } = await at.user('admin', 'root@example.org');
  const body = {
    sso_enabled: true,
    sso_issuer: forger.issuer,
    sso_client_id: 'gatehouse',
    sso_client_secret: secret,
    sso_redirect_uri: redirectUri,
    sso_allowed_domain: 'corp.example',
  };
  t.equal((await at.call('PATCH', '/api/settings', { token, body })).status, 200);
  const logIn = async (row: Row): Promise<{ status: number; text: string }> => {
    const begun = await at.call('GET', '/api/sso/login');
    const asked = new URL(String(begun.headers['location'])).searchParams;
    const cookie = ([begun.headers['set-cookie']].flat()[0] as string).split(';')[0] ?? '';
    Object.assign(forger.now, { row, nonce: asked.get('nonce') });
    return at.call('GET', `/api/sso/callback?code=c&state=${asked.get('state')}`, { headers: { cookie } });
  };
  t.equal((await logIn({ name: 'good' })).status, 302, 'a good token logs in');
  for (const row of forged) {
    const reply = await logIn(row);
    t.match(reply, { status: 403, body: { code: 'sso_refused' } }, `${row.name}: ${reply.text.slice(0, 200)}`);
  }
  t.match((await logIn(forged[0] as Row)).text, /signed.*key set/, 'what to do at the provider is said');
  t.equal((await logIn({ name: 'good', claims: { azp: 'gatehouse' } })).status, 302, 'and one that names us twice');
  const users = await database.sql<{ email: string }[]>`select email from users where origin = 'sso'`;
  t.same(
    users.map(({ email }) => email),
    ['ann@corp.example'],
    'no other account was made',
  );
  await at.close();
}

t.test('single sign-on: forged tokens', (t) => onBothDatabases(t, 'forged', suite));
