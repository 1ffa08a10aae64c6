// Whom a request is counted for, and whom a list finds: never somebody whom its sender only names.
import t from 'tap';
import { keyOf, Principals, type PrincipalName } from './principals.js';

const make = (): Principals => new Principals(Buffer.alloc(32, 7));
const nothing = [] as const;
const tokenOf = (claims: object, signature = 'c2lnbmF0dXJl'): string =>
  [{ alg: 'HS256' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.') +
  `.${signature}`;
const verified = (sub: string, iss = 'https://issuer.example') =>
  [
    ['auth_sub', sub],
    ['auth_iss', iss],
  ] as const;
const bearer = (token: string): string[] => ['Authorization', `Bearer ${token}`];

t.test('P1: a verified token names its subject, whatever the token is; issuers are told apart', async (t) => {
  const principals = make();
  const of = (token: string, given: ReturnType<typeof verified>): PrincipalName | null =>
    principals.of(bearer(token), given, 0);
  const first = of(tokenOf({ sub: 'ann', jti: 1 }), verified('ann'));
  t.match(first, { kind: 'jwt', id: /^[0-9a-f]{16}$/ });
  t.same(of(tokenOf({ sub: 'ann', jti: 2 }), verified('ann')), first, 'the next token of the same person');
  t.notSame(of(tokenOf({ sub: 'ben' }), verified('ben')), first);
  t.notSame(of(tokenOf({ sub: 'ann' }), verified('ann', 'https://other.example')), first);
  const machine = principals.of(bearer('x.y.z'), [['auth_client', 'batch']], 0);
  t.match(machine, { kind: 'jwt' }, 'a token of a program names the program');
  t.notSame(machine, principals.of(bearer('x.y.z'), verified('batch', ''), 0), 'which is no person of that name');
});

t.test('P1: a token that nobody verified is itself and nobody else, whatever it claims', async (t) => {
  const principals = make();
  const victim = principals.of(bearer(tokenOf({ sub: 'ann' })), verified('ann'), 0) as PrincipalName;
  const owned = principals.of(bearer(tokenOf({ sub: 'ann' })), nothing, 0) as PrincipalName;
  const forged = principals.of(bearer(tokenOf({ sub: 'ann' }, 'Zm9yZ2Vk')), nothing, 0) as PrincipalName;
  t.match(owned, { kind: 'bearer' });
  t.match(forged, { kind: 'bearer' });
  t.equal(new Set([keyOf(victim), keyOf(owned), keyOf(forged)]).size, 3);
  const cookie = (token: string): string[] => ['Cookie', `session=${token}`];
  t.notSame(
    principals.of(cookie(tokenOf({ sub: 'ann' })), nothing, 0),
    principals.of(cookie(tokenOf({ sub: 'ann' }, 'Zm9yZ2Vk')), nothing, 0),
    'nor in a cookie',
  );
  const basic = (pair: string): string[] => ['Authorization', `Basic ${Buffer.from(pair).toString('base64')}`];
  t.notSame(principals.of(basic('ann:right'), nothing, 0), principals.of(basic('ann:wrong'), nothing, 0));
});

t.test('P1: what is no credential of one person is nobody', async (t) => {
  const principals = make();
  const none: readonly (readonly string[])[] = [
    [],
    ['Cookie', 'theme=dark-and-long-enough; csrf_token=0123456789abcdef'],
    ['Cookie', 'auth=true; sid=; logged_session=1'],
    ['Authorization', 'Digest username="ann", nonce="0123456789"'],
    ['Authorization', 'Bearer'],
    ['Authorization', 'Bearer  '],
    ['X-API-Key', '  '],
    ['X-Forwarded-Client-Cert', 'Subject="CN=ann"'],
    ['Authorization', `Bearer ${'a'.repeat(9000)}`],
    ['Cookie', 'sid=0123456789abcdef', 'Sec-Fetch-Site', 'cross-site'],
  ];
  for (const headers of none) t.equal(principals.of(headers, nothing, 0), null, headers.join(' ').slice(0, 60));
  const session = principals.of(['Cookie', 'theme=a; SID=0123456789abcdef'], nothing, 0);
  t.match(session, { kind: 'session' });
  t.same(principals.of(['Cookie', 'sid=0123456789abcdef', 'Sec-Fetch-Site', 'same-origin'], nothing, 0), session);
  t.notSame(principals.of(['Cookie', 'usersid=0123456789abcdef'], nothing, 0), session, 'another cookie');
});

t.test('P1: a listed credential is found wherever a request carries it', async (t) => {
  const principals = make();
  const key = principals.of(['X-API-Key', 'stolen-key'], nothing, 0) as PrincipalName;
  const session = principals.of(['Cookie', 'sid=0123456789abcdef'], nothing, 0) as PrincipalName;
  const ann = principals.of([], verified('ann'), 0);
  t.equal(ann, null, 'without a field there is nobody to count for');
  const person = principals.of(bearer('a.b.c'), verified('ann'), 0) as PrincipalName;
  const listed = new Map([key, session, person].map((name) => [keyOf(name), name.kind]));
  const find = (...headers: string[]) => principals.find(headers, nothing, listed)?.[1];
  t.equal(find('X-API-Key', 'stolen-key'), 'api_key');
  t.equal(find('X-API-Key', 'other', 'ApiKey', 'stolen-key'), 'api_key', 'behind another one');
  t.equal(find('Authorization', 'Bearer made-up', 'X-API-Key', 'stolen-key'), 'api_key', 'beside a token');
  t.equal(find('Authorization', 'ApiKey stolen-key'), 'api_key', 'the same key in another field');
  t.equal(find('Cookie', 'asid=9999999999; sid=0123456789abcdef'), 'session', 'behind another cookie');
  t.equal(find('Cookie', 'a=b', 'Cookie', 'sid=0123456789abcdef'), 'session', 'in a second field');
  t.equal(find('Cookie', 'sid=0123456789abcdee'), undefined);
  t.equal(find(...bearer(tokenOf({ sub: 'ann' }))), undefined, 'a claim is nobody');
  t.equal(principals.find(bearer('other.token.of-ann'), verified('ann'), listed)?.[1], 'jwt');
  const many = Array.from({ length: 5000 }, (_, at) => `sid${at}=0123456789abcdef`).join('; ');
  t.equal(find('Cookie', many), undefined, 'a flood of cookies is read up to a bound');
});

t.test('P1: hashing is bounded a second; what is known already goes on', async (t) => {
  const principals = make();
  const of = (key: string, nowMs: number): PrincipalName | null => principals.of(['X-API-Key', key], nothing, nowMs);
  const known = of('known-key', 0);
  for (let at = 0; at < 1000; at += 1) of(`key-${at}`, 1000);
  t.same(of('known-key', 1000), known);
  for (let at = 1000; at < 3000; at += 1) of(`key-${at}`, 1000);
  t.equal(of('one-too-many', 1500), null);
  t.match(of('one-too-many', 2000), { kind: 'api_key' }, 'the next second');
  t.same(of('known-key', 3000), known, 'the same on every node and at any time');
  t.same(new Principals(Buffer.alloc(32, 7)).of(['X-API-Key', 'known-key'], nothing, 0), known);
  t.notSame(new Principals(Buffer.alloc(32, 8)).of(['X-API-Key', 'known-key'], nothing, 0), known, 'by the key');
});
