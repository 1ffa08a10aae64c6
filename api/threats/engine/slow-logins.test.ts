// Logins that are tried slowly, or from many addresses: each shape at its bounds, and honest people who forget.
import t from 'tap';
import { testMsMax } from '../../testing/waiting.js';
import { person, Shop, shopKey, type Person } from '../testing/shop.js';
import { ThreatEngine } from './engine.js';
import type { Finding } from './finding.js';

t.setTimeout(testMsMax);
const hour = 3_600_000;

interface Try {
  readonly account: number;
  readonly address: number;
  readonly atMs: number;
  readonly isLetIn?: boolean;
}

/** Judged every minute while it goes on, and an hour later. */
function judge(tries: readonly Try[], memoryMs = 6 * hour): Finding[] {
  const shop = new Shop();
  const from = shop.nowMs;
  const engine = new ThreatEngine({ key: shopKey, templateOf: () => null });
  const findings: Finding[] = [];
  const options = { threshold: 20, windowMs: 60_000, settleMs: 15_000, memoryMs };
  let judged = 0;
  const look = (nowMs: number): void => {
    for (const window of shop.windows.splice(0)) engine.feed(window);
    findings.push(...engine.judge({ ...options, nowMs }));
    judged = nowMs;
  };
  for (const { account, address, atMs, isLetIn = false } of tries.toSorted((one, other) => one.atMs - other.atMs)) {
    shop.nowMs = from + atMs;
    const who: Person = { ...person(address), headers: [] };
    const body = { email: `u${account}@x.example`, password: isLetIn ? 'right' : `p${atMs}` };
    shop.ask(who, { method: 'POST', uri: '/api/login', status: isLetIn ? 200 : 401, body });
    if (shop.nowMs - judged > 60_000) look(shop.nowMs);
  }
  shop.end();
  look(shop.nowMs + hour);
  return findings;
}

const spread = (count: number, addresses: number, hours: number, account: (at: number) => number): Try[] =>
  Array.from({ length: count }, (_, at) => ({
    account: account(at),
    address: 100 + (at % addresses),
    atMs: (at * hours * hour) / count,
  }));
/** Everybody logs in, one in eight fails once before. */
const honest = (people: number, hours: number): Try[] =>
  Array.from({ length: people }, (_, at) => {
    const atMs = ((at * 7919) % people) * ((hours * hour) / people);
    const own = { account: 1000 + at, address: 1000 + at };
    const failed = at % 8 === 0 ? [{ ...own, atMs: atMs - 5000 }] : [];
    return [...failed, { ...own, atMs, isLetIn: true }];
  }).flat();

const one = (): number => 7;
const each = (at: number): number => at;
const cases: readonly [name: string, tries: readonly Try[], expected: object | null][] = [
  ['180 tries at one account from 60 addresses in 8 hours', spread(180, 60, 8, one), { kind: 'brute_force' }],
  ['60 tries at one account from 6 addresses in 5 hours', spread(60, 6, 5, one), { kind: 'brute_force' }],
  ['180 accounts from 60 addresses in 5 hours', spread(180, 60, 5, each), { kind: 'credential_stuffing' }],
  ['60 accounts from 6 addresses in 5 hours', spread(66, 6, 5, each), { kind: 'credential_stuffing' }],
  ['30 accounts from one address in 5 hours', spread(30, 1, 5, each), { kind: 'credential_stuffing' }],
  ['12 tries at one account from 6 addresses', spread(12, 6, 5, one), null],
  ['60 tries at one account over two weeks', spread(60, 6, 336, one), null],
  ['a program with an old password at one address', spread(60, 1, 24, one), null],
  ['15 accounts from one office', spread(15, 1, 5, each), null],
  ['two who share an address and fail once each, 25 times', spread(50, 25, 5, each), null],
];
for (const [name, tries, expected] of cases)
  for (const [around, others] of [
    ['', []],
    [' among 200 honest people', honest(200, 8)],
  ] as const)
    t.test(`24: ${name}${around}`, async (t) => {
      const found = judge([...tries, ...others]);
      if (expected === null)
        t.same(
          found.map(({ reason }) => reason),
          [],
        );
      else t.match(found[0], { ...expected, severity: 'high' }, found.map(({ reason }) => reason).join('; '));
    });

t.test('24: a new client that is let in after failures from many addresses is critical', async (t) => {
  const tries = spread(80, 20, 4, one);
  const found = judge([...tries, { account: 7, address: 999, atMs: 4.1 * hour, isLetIn: true }]);
  t.match(found.at(-1), { kind: 'brute_force', severity: 'critical', reason: /then one was let in/ });
  const owner: Try[] = [0, 4.1].map((at) => ({ account: 7, address: 999, atMs: at * hour, isLetIn: true }));
  t.same(
    judge([...tries, ...owner]).filter(({ severity }) => severity === 'critical'),
    [],
    'not the owner',
  );
});

t.test('24: honest people make nothing, and the memory is a setting', async (t) => {
  t.same(judge(honest(1200, 24)), []);
  t.same(judge(spread(60, 6, 48, one), hour), [], 'a short memory');
  t.match(judge(spread(60, 6, 48, one), 48 * hour)[0], { kind: 'brute_force' }, 'a long one');
});
