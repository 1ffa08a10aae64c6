// U3: what the figures of an endpoint mean.
import t from 'tap';
import type { CredentialCounts, NestedCounts } from '#proxy/contract';
import { judge, sensitiveWordOf } from './judge.js';
import { emptyStats, type Stats } from './stats.js';

const stats = (over: Partial<Stats>): Stats => ({ ...emptyStats, count: 10, statuses: { 200: 10 }, ...over });
const of = (over: Partial<Stats>, method = 'GET', template = '/things') =>
  judge({ method, template, stats: stats(over), firstSeenMs: 0, lastSeenMs: 0 });

t.test('U3: the truth about credentials has three values and unknown', async (t) => {
  const cases: [CredentialCounts, string][] = [
    [{ none: [0, 4, 0], jwt: [9, 0, 0] }, 'enforced'],
    [{ none: [3, 0, 0] }, 'accepted-without'],
    [{ none: [3, 1, 0], jwt: [9, 0, 0] }, 'mixed'],
    [{ jwt: [9, 2, 0] }, 'unknown'],
    [{ none: [0, 0, 5] }, 'unknown'],
    [{}, 'unknown'],
  ];
  for (const [credentials, expected] of cases) t.equal(of({ credentials }).auth, expected, JSON.stringify(credentials));
  t.same(of({ credentials: { jwt: [1, 0, 0], api_key: [0, 3, 0], none: [1, 0, 0] } }).authTypes, ['jwt']);
});

t.test('N5: a login that answers without credentials is what it is for', async (t) => {
  const open = { credentials: { none: [9, 3, 0] as const }, pii: { 'response:/token': { secret: 9 } } };
  const auth = (method: string, template: string, over: Partial<Stats> = {}) =>
    of({ ...open, ...over } as Partial<Stats>, method, template).parts.find(
      ({ factor }) => factor === 'reachable without auth',
    )?.points;
  for (const template of [
    '/login',
    '/api/auth/login',
    '/v1/sign-in',
    '/oauth/token',
    '/users/register',
    '/token/refresh',
  ])
    t.equal(auth('POST', template), 0, template);
  const login = of(open as unknown as Partial<Stats>, 'POST', '/api/auth/login');
  t.match(login, { auth: 'mixed', risk: 2.5, band: 'medium' }, 'the truth about credentials is told as it is');
  t.match(login.parts[0]?.why, /hands them out/, 'and the arithmetic says why it does not count');
  for (const [method, template] of [
    ['GET', '/login'],
    ['PUT', '/login'],
    ['POST', '/login/history'],
    ['POST', '/login-attempts'],
    ['POST', '/users/{id}/token'],
    ['POST', '/training/sessions'],
    ['POST', '/orders'],
  ] as const)
    t.equal(auth(method, template), 1.5, `${method} ${template}`);
  t.equal(
    auth('POST', '/login', { pii: { 'response:/card': { card: 1 } } }),
    1.5,
    'a card is nothing that a login gives',
  );
  t.equal(auth('POST', '/login', { credentials: { none: [3, 0, 0] } }), 0);
  t.equal(auth('POST', '/login', { credentials: { jwt: [3, 0, 0] } }), undefined, 'nobody came without');
});

t.test('U3: access, classification and regulations', async (t) => {
  t.equal(of({ clients: { internal: 5 } }).access, 'private');
  t.equal(of({ clients: { internal: 5, external: 1 } }).access, 'public');
  t.equal(of({}).access, 'unknown');
  const pii = (kind: string): NestedCounts => ({ 'response:/a': { [kind]: 1 } });
  t.match(of({ pii: pii('card') }), { classification: 'Restricted', regulations: ['PCI-DSS'] });
  t.match(of({ pii: pii('email') }), { classification: 'Confidential', regulations: ['GDPR', 'PII'] });
  t.match(of({ pii: { ...pii('email'), 'response:/b': { secret: 1 } } }), {
    classification: 'Restricted',
    regulations: ['GDPR', 'PII', 'Secret'],
  });
  t.equal(of({}, 'GET', '/admin/users').classification, 'Internal');
  t.equal(of({}).classification, 'Public');
  for (const [template, word] of [
    ['/v1/userAccounts/{id}', 'account'],
    ['/authors', null],
    ['/oauth', null],
    ['/api/auth/login', 'auth'],
    ['/administer', null],
  ] as const)
    t.equal(sensitiveWordOf(template), word, template);
});

t.test('U3: the risk is the sum of its parts, from 0 to 5, with a band', async (t) => {
  const worst = judge({
    method: 'POST',
    template: '/admin/cards',
    stats: stats({ count: 50_000, credentials: { none: [9, 0, 0] }, pii: { 'response:/n': { card: 3 } } }),
    firstSeenMs: 0,
    lastSeenMs: 86_400_000,
  });
  t.equal(worst.risk, 5);
  t.equal(worst.band, 'critical');
  t.equal(worst.parts.length, 5);
  const none = of({});
  t.same([none.risk, none.band, none.parts], [0, 'low', []]);
  const some = of({ credentials: { none: [2, 0, 0] }, pii: { 'response:/e': { email: 1 } } });
  t.equal(some.risk, 3);
  t.equal(some.band, 'high');
  for (const one of [worst, some])
    t.equal(
      one.parts.reduce((sum, { points }) => sum + points, 0),
      one.risk,
    );
  const restricted = of({ pii: { 'response:/e': { secret: 1 } } }).risk;
  t.ok(restricted > of({ pii: { 'response:/e': { email: 1 } } }).risk, 'restricted weighs highest');
});
