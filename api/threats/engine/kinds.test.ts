// 11.3: each kind of finding at its bounds: thresholds and windows of the settings, who counts as one principal, what
// is exempt. Through the observer of the data plane, in virtual time.
import t from 'tap';
import { person, Shop, shopKey, type CredentialStyle, type Person } from '../testing/shop.js';
import { ThreatEngine } from './engine.js';
import { threatKinds, type Finding, type ThreatKind } from './finding.js';

const threshold = 5;
const windowMs = 60_000;

function judge(shop: Shop, over: { readonly threshold?: number; readonly windowMs?: number } = {}): Finding[] {
  const engine = new ThreatEngine({ key: shopKey, templateOf: () => null });
  for (const window of shop.end()) engine.feed(window);
  return engine.judge({ nowMs: shop.nowMs + 20_000, threshold, windowMs, settleMs: 15_000, ...over });
}
const kindsOf = (findings: readonly Finding[]): ThreatKind[] => findings.map(({ kind }) => kind);

/** Nobody's credential: known by its address. */
const address = (number: number): Person => ({ ...person(number), headers: [] });
const principals: readonly [string, (number: number) => Person][] = [
  ...(['jwt', 'api-key', 'session'] as const).map(
    (style: CredentialStyle) => [style, (number: number) => person(number, style)] as [string, (n: number) => Person],
  ),
  ['address', address],
];

t.test('11.3: every kind has its place in the OWASP API Top 10 of 2023', async (t) => {
  const places = Object.fromEntries(Object.entries(threatKinds).map(([kind, { owasp }]) => [kind, owasp]));
  t.same(places, {
    bola_ownership: 'API1:2023',
    bola_enumeration: 'API1:2023',
    bfla: 'API5:2023',
    credential_stuffing: 'API2:2023',
    password_spraying: 'API2:2023',
    brute_force: 'API2:2023',
    parameter_pollution: 'API1:2023',
  });
});

function walk(who: Person, count: number, gapMs = 10, status = 200): Shop {
  const shop = new Shop();
  for (let id = 0; id < count; id += 1) {
    shop.ask(who, { uri: `/api/invoices/${7000 + id}`, status, reply: {} });
    shop.nowMs += gapMs;
  }
  return shop;
}

for (const [style, of] of principals)
  t.test(`11.3: enumeration by one principal (${style})`, async (t) => {
    t.same(kindsOf(judge(walk(of(1), threshold - 1))), [], 'one fewer than the threshold');
    const [found, ...others] = judge(walk(of(1), threshold));
    t.same(others, []);
    t.match(found, { kind: 'bola_enumeration', count: threshold, method: 'GET', severity: 'high' });
    t.equal(found?.evidence.length, threshold);
    t.match(judge(walk(of(1), threshold, 10, 403)), [{ kind: 'bola_enumeration', severity: 'medium' }], 'refused');
    // a request takes 7 ms of the shop's time: the last of five is 4 gaps after the first
    const gap = windowMs / (threshold - 1) - 7;
    t.same(kindsOf(judge(walk(of(1), threshold, gap))), ['bola_enumeration'], 'just within the window');
    t.same(kindsOf(judge(walk(of(1), threshold, gap + 1))), [], 'a millisecond longer than the window');
    t.same(kindsOf(judge(walk(of(1), threshold, gap + 1), { windowMs: windowMs + 4 })), ['bola_enumeration']);
    const shop = new Shop();
    for (let id = 0; id < threshold; id += 1) shop.ask(of(id), { uri: `/api/invoices/${7000 + id}`, reply: {} });
    t.same(kindsOf(judge(shop)), [], 'each by somebody else');
    const again = new Shop();
    for (let id = 0; id < 50; id += 1) again.ask(of(1), { uri: '/api/invoices/7000', reply: {} });
    t.same(kindsOf(judge(again)), [], 'one object again and again');
  });

t.test('11.3: whoever was shown objects may go through them', async (t) => {
  const shop = new Shop();
  const invoices = Array.from({ length: 20 }, (_, id) => ({ id: 7000 + id }));
  shop.ask(person(1), { uri: '/api/invoices', reply: { invoices } });
  for (const { id } of invoices) shop.ask(person(1), { uri: `/api/invoices/${id}`, reply: {} });
  t.same(kindsOf(judge(shop)), []);
});

interface LogIns {
  readonly accounts: number;
  readonly tries?: number;
  readonly passwords?: 'one' | 'each';
  readonly letIn?: boolean;
  readonly clients?: number;
  readonly json?: boolean;
}

function logIns({ accounts, tries = accounts, passwords = 'each', letIn = false, clients = 1 }: LogIns): Shop {
  const shop = new Shop();
  const ask = (number: number, status: number): string =>
    shop.ask(address(1 + (number % clients)), {
      method: 'POST',
      uri: '/api/login',
      status,
      body: { email: `u${number % accounts}@x.example`, password: passwords === 'one' ? 'Winter1' : `p${number}` },
      reply: {},
    });
  for (let number = 0; number < tries; number += 1) ask(number, 401);
  if (letIn) ask(0, 200);
  return shop;
}

t.test('11.3: attacks on logins', async (t) => {
  t.same(kindsOf(judge(logIns({ accounts: threshold - 1 }))), []);
  t.match(judge(logIns({ accounts: threshold })), [
    { kind: 'credential_stuffing', severity: 'high', count: threshold },
  ]);
  t.match(judge(logIns({ accounts: 2 * threshold, passwords: 'one' })), [{ kind: 'password_spraying' }]);
  t.match(judge(logIns({ accounts: 1, tries: threshold })), [{ kind: 'brute_force', count: threshold }]);
  t.same(kindsOf(judge(logIns({ accounts: 1, tries: threshold - 1 }))), []);
  t.match(
    judge(logIns({ accounts: threshold, letIn: true })),
    [{ kind: 'credential_stuffing', severity: 'critical', confidence: 'high', reason: /then 1 of them let it in/ }],
    'let in after many failures',
  );
  t.match(judge(logIns({ accounts: 1, tries: threshold, letIn: true })), [
    { kind: 'brute_force', severity: 'critical' },
  ]);
  const many = judge(logIns({ accounts: 3 * threshold, clients: 10 }));
  t.match(many, [{ kind: 'credential_stuffing', principal: '' }], 'by ten clients together');
  t.equal(many[0]?.clientIps.length, 10);
  t.same(kindsOf(judge(logIns({ accounts: 3 * threshold - 1, clients: 10 }))), []);
  const people = new Shop();
  for (let number = 0; number < 40; number += 1)
    people.ask(address(1), {
      ...{ method: 'POST', uri: '/api/login', status: number % 3 === 0 ? 401 : 200, reply: {} },
      body: { email: `u${number}@x.example`, password: `p${number}` },
    });
  t.same(kindsOf(judge(people)), [], 'an office behind one address, most of whom are let in');
});

t.test('11.3: functions of administrators', async (t) => {
  const refused = (count: number): Shop => {
    const shop = new Shop();
    for (let number = 0; number < count; number += 1)
      shop.ask(person(1), { uri: `/api/admin/area${'abcdefgh'.charAt(number)}`, status: 403 });
    return shop;
  };
  t.same(kindsOf(judge(refused(threshold - 1))), []);
  t.match(judge(refused(threshold)), [{ kind: 'bfla', severity: 'medium', count: threshold }], 'tried many');
  const verb = new Shop();
  verb.ask(person(2), { uri: '/api/admin/roles', status: 403 });
  const before = verb.ask(person(1), { uri: '/api/admin/roles', status: 403 });
  verb.nowMs += 3000;
  const after = verb.ask(person(1), { method: 'PUT', uri: '/api/admin/roles', status: 200, reply: {} });
  t.match(judge(verb), [
    { kind: 'bfla', severity: 'high', evidence: [{ request_id: after, other_request_id: before, because: 'denied' }] },
  ]);
  const open = new Shop();
  open.ask(person(9), { uri: '/api/admin/users', reply: {} });
  open.ask(person(2), { uri: '/api/admin/users', status: 403 });
  const anonymous = open.ask(address(3), { uri: '/api/admin/users', reply: {} });
  t.match(judge(open), [{ kind: 'bfla', credential: 'none', evidence: [{ request_id: anonymous }] }]);
  const manager = new Shop();
  for (let number = 0; number < 50; number += 1) manager.ask(person(9), { uri: '/api/admin/users', reply: {} });
  t.same(kindsOf(judge(manager)), [], 'an administrator at work');
});

t.test('issue 22 Q14: anonymous clients that reach functions of administrators', async (t) => {
  const reached = (uris: readonly string[], over: object = {}, who = address(3)): Shop => {
    const shop = new Shop();
    for (const uri of uris) shop.ask(who, { uri, reply: {}, ...over });
    return shop;
  };
  const areas = ['users', 'orders', 'settings', 'audit', 'reports', 'export', 'keys'].map((name) => `/admin/${name}`);
  const [found, ...others] = judge(reached(areas));
  t.same(others, [], 'one finding for all of them');
  t.match(found, { kind: 'bfla', severity: 'high', confidence: 'high', credential: 'none', count: 7 });
  t.match(found?.reason, /7 functions of administrators without a credential/);
  t.equal(found?.evidence.length, 7);
  const alone = [
    '/admin',
    '/admin/users/17',
    '/api/v1/admin/users',
    '/wp-admin/options',
    '/administration/x',
    '/Admin/x',
  ];
  for (const uri of [...alone, '/shop/superuser/x', '/admin_api/x', '/api/users/7/impersonate'])
    for (const over of [{}, { method: 'POST', status: 201 }, { method: 'DELETE', status: 204 }])
      t.match(
        judge(reached([uri], over)),
        [{ kind: 'bfla', credential: 'none', severity: 'high' }],
        `${uri} ${over.status}`,
      );
  for (const status of [301, 302, 307, 401, 403, 404, 500])
    t.same(kindsOf(judge(reached(['/admin/users'], { status }))), [], `${status} is no use`);
  for (const uri of ['/products/beetroot', '/badminton/courts', '/open/roles', '/team/management', '/internal/health'])
    t.same(kindsOf(judge(reached([uri]))), [], uri);
  t.same(kindsOf(judge(reached(areas, {}, person(9)))), [], 'an administrator with a credential');
  t.same(kindsOf(judge(reached(['/admin/login'], { method: 'POST' }))), [], 'the login of administrators');
});

t.test('11.3: pollution of parameters', async (t) => {
  const asked = (uri: string, people = 1): Shop => {
    const shop = new Shop();
    for (let number = 1; number <= people; number += 1) shop.ask(person(number), { uri, reply: {} });
    return shop;
  };
  for (const uri of ['/api/orders/12?orderId=13', '/api/orders?user_id=1&user_id=2', '/api/orders/12?order_id=13'])
    t.match(judge(asked(uri)), [{ kind: 'parameter_pollution', evidence: [{ request_id: 'r1' }] }], uri);
  for (const uri of [
    '/api/orders/12?orderId=12',
    '/api/orders?page=1&page=2',
    '/api/orders?id[]=1&id[]=2',
    '/api/orders?user_id=1&user_id=1',
  ])
    t.same(kindsOf(judge(asked(uri))), [], uri);
  t.same(kindsOf(judge(asked('/api/orders/12?orderId=13', 3))), [], 'what several do is how it is used');
});

/** One order of its own each, and one that some read without having been shown it. */
function readOrder(readers: readonly Person[], status = 200): Shop {
  const shop = new Shop();
  for (let number = 100; number < 130; number += 1) {
    const id = number * 10;
    shop.ask(person(number), { method: 'POST', uri: '/api/orders', status: 201, reply: { id } });
    shop.ask(person(number), { uri: `/api/orders/${id}`, reply: { id } });
  }
  for (const reader of readers) shop.ask(reader, { uri: '/api/orders/1000', status, reply: { id: 1000 } });
  return shop;
}

t.test('11.3: an order of another', async (t) => {
  t.match(judge(readOrder([person(1)])), [
    { kind: 'bola_ownership', severity: 'high', evidence: [{ request_id: 'r61', other_request_id: 'r1' }] },
  ]);
  t.same(kindsOf(judge(readOrder([person(1)], 404))), [], 'who did not get it took nothing');
  t.same(kindsOf(judge(readOrder([person(100)]))), [], 'the owner');
  t.equal(judge(readOrder([person(1), person(2)])).length, 2, 'two strangers');
  t.same(kindsOf(judge(readOrder([1, 2, 3].map((one) => person(one))))), [], 'three of three places: it is shared');
  const thief = [1, 2, 3, 4].map((one) => ({ ...person(one), ip: '192.0.2.66' }));
  t.equal(judge(readOrder(thief)).length, 4, 'accounts of one client do not make it shared, however many they are');
});
