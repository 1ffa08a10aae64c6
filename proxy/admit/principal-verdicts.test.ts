// A verdict on a principal holds for its requests, wherever they come from, and for nobody else's; who only names it,
// earns it nothing and gets nothing of it.
import t from 'tap';
import { SignJWT } from 'jose';
import { keyOf, Principals, type PrincipalName } from '../features/principals.js';
import { drive, type Drive, type Driven } from '../road/testing/drive.js';
import type { MeasureAction } from '../shared-state/measure-line.js';
import { gates } from './index.js';
import { principalRuleId } from './principal-verdicts.js';
import { testGateWorker, testPrincipalKey, type TestWorker } from './testing/gate-worker.js';

const secret = 'a-shared-secret-of-thirty-two-bytes';
const signed = { auth_enabled: true, auth_protected_paths: ['/api'], auth_alg: 'HS256', auth_secret: secret };
const names = new Principals(testPrincipalKey);
const tokenOf = (sub: string, key = secret): Promise<string> =>
  new SignJWT({ sub, jti: Math.random().toString() })
    .setProtectedHeader({ alg: 'HS256' })
    .setExpirationTime(1300) // the clock of the tests stands at 1000
    .sign(Buffer.from(key, 'utf8'));
const bearer = (token: string): string[] => ['Authorization', `Bearer ${token}`];
const personOf = (sub: string): PrincipalName =>
  names.of(bearer('any.token.of-hers'), [['auth_sub', sub]], 0) as PrincipalName;
const ownerOf = (...headers: string[]): PrincipalName => names.of(headers, [], 0) as PrincipalName;

function decided(...verdicts: readonly (readonly [PrincipalName, MeasureAction])[]): TestWorker {
  const test = testGateWorker();
  test.worker.principalMeasures.change({ set: verdicts.map(([name, action]) => [keyOf(name), action]), gone: [] });
  return test;
}
const visit = (test: TestWorker, headers: readonly string[], request: Partial<Drive> = {}): Driven =>
  drive({ gates, worker: test.worker, settings: signed, uri: '/shop', headers, ...request });
const statusOf = (driven: Driven): number => driven.answer?.status ?? 200;

t.test('P2: a denied subject is denied with each of its tokens, at every address; others are not', async (t) => {
  const test = decided([personOf('ann'), 'deny']);
  const ask = async (token: string, clientIp = '192.0.2.1', uri = '/api/x'): Promise<Driven> =>
    visit(test, bearer(token), { clientIp, uri });
  const denied = await ask(await tokenOf('ann'));
  t.equal(statusOf(denied), 403);
  t.match(denied.events, [
    {
      interruption: { ruleId: principalRuleId },
      messages: [{ tags: ['gatehouse/verdict', 'gatehouse/principal'], data: /^jwt [0-9a-f]{16}$/ }],
    },
  ]);
  t.notMatch(JSON.stringify(denied.events[0]?.messages), /ann/, 'nobody is named');
  t.equal(statusOf(await ask(await tokenOf('ann'), '198.51.100.9')), 403, 'the next token, from elsewhere');
  t.equal(statusOf(await ask(await tokenOf('ben'))), 200, 'who shares the address');
  t.equal(statusOf(await ask(await tokenOf('ann', 'another-secret-of-thirty-two-bytes'))), 401, 'a forged token');
  t.equal(
    statusOf(await ask(await tokenOf('ann', 'another-secret-of-thirty-two-bytes'), '192.0.2.1', '/shop')),
    200,
    'where nobody verifies it, a claim is nobody',
  );
  t.equal(statusOf(visit(test, [], { clientIp: '192.0.2.1' })), 200);
  t.equal(statusOf(visit(test, bearer(await tokenOf('ann')), { uri: '/api/x', site: { protected: false } })), 200);
  t.equal(statusOf(visit(test, bearer(await tokenOf('ann')), { uri: '/api/x', site: { mode: 'DetectionOnly' } })), 200);
});

t.test('P2: a key, a password and a session are met wherever they stand; who has another one is not', async (t) => {
  const key = ['X-API-Key', 'the-stolen-key'];
  const session = ['Cookie', 'theme=a; sid=0123456789abcdef'];
  const test = decided([ownerOf(...key), 'deny'], [ownerOf(...session), 'deny']);
  t.equal(statusOf(visit(test, key)), 403);
  t.equal(statusOf(visit(test, ['Authorization', 'Bearer made-up-token', ...key])), 403, 'behind a made-up token');
  t.equal(statusOf(visit(test, ['Cookie', 'sid=zzzzzzzzzzzzzzzz; x=1', ...session])), 403, 'behind a made-up session');
  t.equal(statusOf(visit(test, ['X-API-Key', 'another-key'])), 200);
  t.equal(statusOf(visit(test, ['Cookie', 'sid=0123456789abcdee'])), 200);
  t.equal(statusOf(visit(decided(), key)), 200, 'nobody has a verdict');
});

t.test('P2: throttled: fifteen in ten seconds at all addresses together; others have their own', async (t) => {
  const mine = ['X-API-Key', 'a-busy-key'];
  const test = decided([ownerOf(...mine), 'throttle']);
  const statuses = Array.from({ length: 20 }, (_, at) =>
    statusOf(visit(test, mine, { clientIp: `192.0.2.${at % 5}` })),
  );
  t.equal(statuses.filter((status) => status === 200).length, 15);
  t.equal(statuses.at(-1), 429);
  t.equal(statusOf(visit(test, ['X-API-Key', 'a-quiet-key'], { clientIp: '192.0.2.1' })), 200);
  test.pass(10_000);
  t.equal(statusOf(visit(test, mine)), 200, 'later again');
});

t.test('P2: challenged on all paths, and its answer is taken without the credential', async (t) => {
  const session = ['Cookie', 'sid=0123456789abcdef'];
  const test = decided([ownerOf(...session), 'challenge']);
  const page = ['Accept', 'text/html', 'Sec-Fetch-Dest', 'document'];
  const asked = visit(test, [...session, ...page]);
  t.equal(statusOf(asked), 403);
  t.match(asked.answer?.body, /<script>/);
  t.equal(statusOf(visit(test, page)), 200, 'who shares the address is not asked');
  const answered = visit(test, page, { uri: '/.gatehouse/challenge?t=made-up&n=1&r=%2Fshop' });
  t.equal(statusOf(answered), 403, 'an answer is looked at: this one is refused');
});
