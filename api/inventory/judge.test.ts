// U3: what the figures of an endpoint mean.
import t from 'tap';
import type { CredentialCounts, NestedCounts } from '#proxy/contract';
import { judge, sensitiveWordOf } from './judge.js';
import type { Stats } from './stats.js';

const stats = (over: Partial<Stats>): Stats => ({
  count: 10,
  statuses: { 200: 10 },
  credentials: {},
  clients: {},
  sources: {},
  parameters: {},
  request_types: {},
  response_types: {},
  pii: {},
  request_bytes: 0,
  response_bytes: 0,
  latency_us: 0,
  latency_us_max: 0,
  ...over,
});
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
