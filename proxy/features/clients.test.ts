// Sums of clients in a worker: what is counted as what, and what a flood of clients does.
import t from 'tap';
import type { Verdict } from '#engine';
import type { Decided } from '../admit/decision.js';
import type { ClientBatch } from './client-window.js';
import { ClientFeatures, type ClientRequest } from './clients.js';
import { hashText, PathHash } from './hash.js';
import { Principals } from './principals.js';

interface Given {
  readonly ip?: string;
  readonly uri?: string;
  readonly method?: string;
  readonly status?: number;
  readonly headers?: readonly string[];
  readonly decisions?: readonly Decided[];
  readonly isBlocked?: boolean;
  readonly given?: ClientRequest['given'];
}

let made = 0;
const requestOf = ({ ip = '192.0.2.1', uri = '/', method = 'GET', status = 200, ...given }: Given): ClientRequest => ({
  site: { name: 'shop' },
  head: {
    method,
    uri,
    version: 'HTTP/1.1',
    headers: given.headers ?? [],
    clientIp: ip,
  } as unknown as ClientRequest['head'],
  response: { status, bytes: 100 },
  exchange: { framing: { kind: 'length', bytes: 10 } },
  atMs: 1000,
  requestId: `r${++made}`,
  isBlocked: given.isBlocked ?? false,
  decisions: given.decisions ?? [],
  ...(given.given === undefined ? {} : { given: given.given }),
  inspection: null,
});
const verdictOf = (ids: readonly number[], inboundScore: number): Verdict =>
  ({ matched: ids.map((id) => ({ rule: { id }, phase: 2 })), inboundScore }) as unknown as Verdict;
const start = (clientsMax?: number, principalsMax?: number) => {
  const sent: ClientBatch[] = [];
  const features = new ClientFeatures({
    seeds: [1, 2],
    principals: new Principals(Buffer.alloc(32, 1)),
    send: (batch) => sent.push(JSON.parse(JSON.stringify(batch)) as ClientBatch),
    ...(clientsMax === undefined ? {} : { clientsMax }),
    ...(principalsMax === undefined ? {} : { principalsMax }),
  });
  const flush = (): ClientBatch => {
    sent.length = 0;
    features.flush(0, true);
    return sent[0] ?? { batch_id: '', clients: [], dropped: 0 };
  };
  return { features, flush, sent };
};
const gate = (name: string, kind: string): Decided =>
  ({ gate: name, decision: { kind, rule: null } }) as unknown as Decided;

t.test('AI 1: what a client did, by what became of it', async (t) => {
  const { features, flush } = start();
  const add = (given: Given, action: 'served' | 'blocked' = 'served', verdict: Verdict | null = null): void =>
    features.add(requestOf(given), verdict, false, action);
  const headers = ['User-Agent', 'sqlmap/1.9', 'Authorization', 'Bearer a'];
  add({ uri: '/orders/1?x=1', headers });
  add({ uri: '/orders/2', headers });
  add({
    uri: '/login',
    method: 'POST',
    status: 401,
    headers: ['User-Agent', 'sqlmap/1.9', 'Authorization', 'Bearer b'],
  });
  add({ status: 404, uri: '/none' });
  add({ status: 500 });
  add({ status: 403, isBlocked: true }, 'blocked', verdictOf([942_100, 942_190, 949_110], 10));
  add({ status: 429, isBlocked: true, decisions: [gate('rate-zones', 'throttle')] }, 'blocked');
  add({ status: 403, isBlocked: true, decisions: [gate('challenge', 'challenge')] }, 'blocked');
  for (const name of ['deny-list', 'bans', 'verdicts'])
    add({ status: 403, isBlocked: true, decisions: [gate(name, 'deny')] }, 'blocked', verdictOf([942_100], 50));
  const { clients } = flush();
  t.equal(clients.length, 1);
  t.match(clients[0], {
    site: 'shop',
    address: '192.0.2.1',
    requests: 11,
    ok: 2,
    denied: 1,
    login_failures: 1,
    not_found: 1,
    server_errors: 1,
    blocked: 1,
    limited: 1,
    challenged: 1,
    held: 3,
    score_max: 10,
    score_sum: 10,
    groups: { '942': 1 },
    rules: { '942100': 1, '942190': 1 },
    agents: { scanner: 3, empty: 5 },
  });
  t.notMatch(clients[0]?.groups, { '949': 1 }, 'rules that only add up say nothing');
  const bits = (text: string): number =>
    [...Buffer.from(text, 'base64')].reduce((sum, byte) => sum + byte.toString(2).replaceAll('0', '').length, 0);
  t.equal(bits(clients[0]?.sessions ?? ''), 1, 'credentials that were refused are nobody');
  t.equal(clients[0]?.shapes.length, 4, '/orders/1 and /orders/2 are one shape');
  t.same(flush().clients, [], 'the next window begins with nothing');
  add({ uri: '/again' });
  t.match(flush().clients, [{ requests: 1, rules: {}, samples: [], shapes: { length: 1 }, blocked: 0 }]);
});

t.test('AI 1: an IPv6 client is its /64', async (t) => {
  const { features, flush } = start();
  for (let at = 1; at < 50; at += 1)
    features.add(requestOf({ ip: `2001:db8:1:2::${at.toString(16)}` }), null, false, 'served');
  features.add(requestOf({ ip: '2001:db8:1:3::1' }), null, false, 'served');
  t.strictSame(
    flush().clients.map(({ requests }) => requests),
    [49, 1],
  );
});

t.test('AI 1: a flood of clients: bounded, counted, and attackers are seen beside it', async (t) => {
  const { features, flush } = start(400);
  const from = (at: number, given: Given = {}): void =>
    features.add(requestOf({ ip: `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`, ...given }), null, false, 'served');
  for (let at = 0; at < 20_000; at += 1) from(at);
  for (let at = 0; at < 90; at += 1) from(1_000_000 + at, { status: 401 });
  const batch = flush();
  t.equal(batch.clients.length, 390, 'quiet clients have three quarters, those that are refused the rest');
  t.equal(batch.dropped, 19_700);
  t.equal(batch.clients.filter(({ denied }) => denied > 0).length, 90);
  t.match(features.counters, { counted: 390, dropped: 19_700 });
  for (let at = 0; at < 2000; at += 1)
    from(1, { uri: `/a${String.fromCharCode(97 + (at % 26))}${at}/x`, headers: ['User-Agent', `agent ${at}`] });
  for (let at = 0; at < 300; at += 1)
    features.add(requestOf({ ip: '10.0.0.1' }), verdictOf([942_000 + at, 1_000_000 + at], at), true, 'served');
  const [one] = flush().clients;
  t.ok(JSON.stringify(one).length < 3000, 'one client is short whatever it does');
  t.ok((one?.shapes.length ?? 99) <= 16 && (one?.samples.length ?? 99) <= 3);
  t.equal(Object.keys(one?.rules ?? {}).length, 12);
  t.match(one?.groups, { '942': 300, custom: 300 });
});

t.test('P1: a request is counted for its principal at its address, or for the address alone', async (t) => {
  const { features, flush } = start();
  const add = (given: Given): void => features.add(requestOf(given), null, false, 'served');
  add({ headers: ['X-API-Key', 'alice-key'] });
  add({ headers: ['x-api-key', ' alice-key '], uri: '/other' });
  add({ headers: ['X-API-Key', 'alice-key'], ip: '192.0.2.2' });
  add({ headers: ['X-API-Key', 'bob-key'] });
  add({});
  const { clients } = flush();
  t.strictSame(
    clients.map(({ address, principal, requests }) => [address, principal?.kind ?? null, requests]),
    [
      ['192.0.2.1', null, 1],
      ['192.0.2.1', 'api_key', 2],
      ['192.0.2.2', 'api_key', 1],
      ['192.0.2.1', 'api_key', 1],
    ],
  );
  t.equal(clients[1]?.principal?.id, clients[2]?.principal?.id);
  t.not(clients[1]?.principal?.id, clients[3]?.principal?.id);
  t.match(clients[1]?.principal?.id, /^[0-9a-f]{16}$/);
  t.notMatch(JSON.stringify(clients), /alice|bob/, 'no value of anybody');
  t.match(features.counters, { counted: 5, principal: 4, principalDropped: 0 });
});

t.test('P1: a flood of made-up credentials is bounded, and its requests stay with their address', async (t) => {
  const { features, flush } = start(400, 100);
  for (let at = 0; at < 1500; at += 1)
    features.add(requestOf({ headers: ['X-API-Key', `made-up-${at}`] }), null, false, 'served');
  for (let at = 0; at < 40; at += 1)
    features.add(requestOf({ status: 401, headers: ['Authorization', `Bearer refused-${at}`] }), null, false, 'served');
  features.add(requestOf({ ip: '192.0.2.9', headers: [] }), null, false, 'served');
  const { clients, dropped } = flush();
  t.equal(dropped, 0);
  t.equal(clients.filter(({ principal }) => principal !== undefined).length, 100, 'the last quarter for the refused');
  t.equal(clients.filter(({ principal }) => principal?.kind === 'bearer').length, 25);
  const total = clients.filter(({ address }) => address === '192.0.2.1').reduce((sum, one) => sum + one.requests, 0);
  t.equal(total, 1540, 'the address has them all');
  t.match(features.counters, { counted: 1541, principal: 100, principalDropped: 1440 });
});

t.test('AI 1: hashes of paths: queries do not count, digits are one sign', async (t) => {
  const path = new PathHash();
  const of = (uri: string): readonly [number, number] => {
    path.read(uri);
    return [path.full, path.shape];
  };
  t.same(of('/a/b?c=1'), of('/a/b?c=2'));
  t.same(of('/a/b#c'), of('/a/b'));
  t.not(of('/a/1')[0], of('/a/2')[0]);
  t.equal(of('/a/1')[1], of('/a/2345')[1]);
  t.not(of('/a/1')[1], of('/b/1')[1]);
  t.not(of('/a/1/c')[1], of('/a/1/d')[1]);
  const uuid = '/u/3f0c7f5e-1a2b-4c3d-8e9f-0a1b2c3d4e5f';
  t.equal(of(uuid)[1], of('/u/9b8c7d6e-5f4a-4b3c-9d2e-1f0a9b8c7d6e')[1], 'long segments with digits are values');
  t.not(hashText('Bearer a'), hashText('Bearer b'));
  of('/'.repeat(100_000));
});
