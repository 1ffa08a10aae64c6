// Verdicts on principals: who gets one, who goes on beside him, and what cannot be earned for somebody else.
import t, { type Test } from 'tap';
import { principalKeyOf, type ClientWindow, type PrincipalName } from '#proxy/contract';
import type { Database } from '../db/client.js';
import { startTestApp, testEnv } from '../testing/app.js';
import { startMeasureNodes } from '../testing/builders/measure-nodes.js';
import { onBothDatabases } from '../testing/databases.js';
import type { Policy } from './engine/policy.js';
import { DetectionEngine, type PlacedThreat, type Round } from './engine/round.js';
import { ladderOf } from './engine/fusion.js';
import { verdictsOf } from './index.js';
import { bitmapOf, specified, windowOf } from './testing/clients.js';

const nowMs = 1_800_000_000_000;
const policy: Policy = {
  action: 'block',
  threshold: 80,
  ladder: ladderOf(80),
  weights: specified,
  windowMs: 300_000,
  blockMs: 600_000,
};
const nat = '203.0.113.7';
const nameOf = (at: number, kind: PrincipalName['kind'] = 'jwt'): PrincipalName => ({
  kind,
  id: at.toString(16).padStart(16, '0'),
});
const attack = (address: string, over: Partial<ClientWindow> = {}, atMs = nowMs): ClientWindow =>
  windowOf(address, atMs, {
    requests: 20,
    blocked: 12,
    ok: 8,
    score_max: 15,
    score_sum: 180,
    groups: { '942': 12 },
    rules: { '942100': 12 },
    ...over,
  });
async function roundOf(
  windows: readonly ClientWindow[],
  threats: ReadonlyMap<string, readonly PlacedThreat[]> = new Map(),
): Promise<Round> {
  const engine = new DetectionEngine();
  engine.take(windows, policy.windowMs, nowMs);
  return engine.run({ nowMs, policy, threats, isFrozen: false });
}
const rungsOf = ({ judged }: Round): Record<string, string> =>
  Object.fromEntries(judged.map(({ vector, scored }) => [vector.address, scored.verdict]));
const keyOf = (at: number, kind?: PrincipalName['kind']): string => principalKeyOf(nameOf(at, kind));

t.test(
  'P3: one of two behind an address attacks: he has the verdict, wherever he is; the address has none',
  async (t) => {
    const round = await roundOf([
      attack(nat, { principal: nameOf(1) }),
      attack('198.51.100.9', { principal: nameOf(1) }),
      windowOf(nat, nowMs, { principal: nameOf(2) }),
      windowOf(nat, nowMs),
    ]);
    t.match(round, { clients: 2, principals: 2, rungs: { ALLOW: 2 }, principalRungs: { BLOCK: 1, ALLOW: 1 } });
    t.strictSame(rungsOf(round), { [keyOf(1)]: 'BLOCK' });
    t.match(round.judged[0]?.vector.principal, {
      addresses: 2,
      addresses_clean: 0,
      networks: [nat, '198.51.100.9'].sort(),
    });
  },
);

t.test('P3: what the address did besides is judged without him', async (t) => {
  const round = await roundOf([attack(nat, { principal: nameOf(1) }), attack(nat)]);
  t.strictSame(rungsOf(round), { [keyOf(1)]: 'BLOCK', [nat]: 'BLOCK' }, 'an attacker without a name');
  const address = round.judged.find(({ vector }) => vector.address === nat);
  t.match(address?.vector, { apart: [keyOf(1)], requests: 20, blocked: 12 });
});

t.test('P3: names that an attacker makes up, or changes, are no way out for his address', async (t) => {
  const refused = { ok: 0, denied: 8, sessions: '' };
  const madeUp = await roundOf([attack(nat, { ...refused, principal: nameOf(1, 'bearer') })]);
  t.equal(rungsOf(madeUp)[nat], 'BLOCK', 'a credential that nobody took');
  const changed = await roundOf([1, 2, 3, 4].map((at) => attack(nat, { principal: nameOf(at, 'api_key') })));
  t.equal(rungsOf(changed)[nat], 'BLOCK', 'a fourth name');
  const spread = await roundOf(
    Array.from({ length: 40 }, (_, at) =>
      attack(nat, {
        requests: 1,
        blocked: 1,
        ok: 0,
        groups: { '942': 1 },
        score_sum: 15,
        principal: nameOf(at, 'api_key'),
      }),
    ),
  );
  t.equal(rungsOf(spread)[nat], 'BLOCK', 'a name for each request');
  const flooded = await roundOf(
    Array.from({ length: 100 }, (_, at) => attack(nat, { requests: 1, blocked: 1, principal: nameOf(at, 'session') })),
  );
  t.equal(rungsOf(flooded)[nat], 'BLOCK', 'more names than an address may have (32 in half a minute)');
});

t.test('P3: a key that many use without a fault is nobody: the address of the attack has the verdict', async (t) => {
  const shared = nameOf(1, 'api_key');
  const users = Array.from({ length: 6 }, (_, at) => windowOf(`198.51.100.${at}`, nowMs, { principal: shared }));
  const round = await roundOf([attack(nat, { principal: shared }), ...users]);
  t.equal(rungsOf(round)[nat], 'BLOCK');
  t.equal(rungsOf(round)['198.51.100.1'], undefined);
  t.match(round.judged.find(({ vector }) => vector.principal)?.vector.principal, { addresses: 7, addresses_clean: 6 });
});

t.test('P3: a finding of API abuse goes to its principal, and leaves the address with him', async (t) => {
  const name = nameOf(1, 'api_key');
  const finding = { id: 'f', kind: 'bola_enumeration', severity: 'critical', count: 280 } as const;
  const placed: PlacedThreat = { ...finding, principal: principalKeyOf(name) };
  const threats = new Map([nat, principalKeyOf(name)].map((key) => [key, [placed]]));
  const windows = [windowOf(nat, nowMs, { principal: name }), windowOf(nat, nowMs)];
  const round = await roundOf(windows, threats);
  t.strictSame(Object.keys(rungsOf(round)), [principalKeyOf(name)]);
  t.strictSame(round.judged[0]?.vector.threats, [finding]);
  const nameless = await roundOf(windows, new Map([[nat, [finding]]]));
  t.strictSame(Object.keys(rungsOf(nameless)), [nat], 'whose principal is not known stays with its address');
});

t.test('P3: principals in memory are bounded, those seen longest ago go', async (t) => {
  const engine = new DetectionEngine(50, 100);
  for (let at = 0; at < 130; at += 1)
    engine.take([windowOf(nat, nowMs, { principal: nameOf(at) })], policy.windowMs, nowMs);
  t.equal(engine.size.evicted, 30);
  const round = await engine.run({ nowMs, policy, threats: null, isFrozen: false });
  t.match(round, { clients: 1, principals: 100 });
  const later = await engine.run({ nowMs: nowMs + 400_000, policy, threats: null, isFrozen: false });
  t.match(later, { clients: 0, principals: 0 }, 'what is over is forgotten');
});

type Started = Awaited<ReturnType<typeof start>>;

async function start(database: Database) {
  const clock = { nowMs: () => Date.now() };
  const nodes = startMeasureNodes(database, () => clock.nowMs(), ['http://new', 'http://old'], { old: ['http://old'] });
  const at = await startTestApp(database, { measuresChanged: nodes.push.changed });
  clock.nowMs = () => at.clock.nowMs;
  const { token } = await at.user('admin');
  const set = async (body: object): Promise<void> => {
    const { headers } = await at.call('GET', '/api/settings', { token });
    const ifMatch = { 'if-match': String(headers['etag']) };
    await at.call('PATCH', '/api/settings', { token, headers: ifMatch, body });
    at.parts.settingsChanged();
  };
  let batches = 0;
  const send = async (clients: readonly ClientWindow[]): Promise<number> => {
    const body = { node: 'edge-1', batch: { batch_id: `b${++batches}`, clients, dropped: 0 } };
    return (await at.call('POST', '/api/dataplane/clients', { token: testEnv.dataAdminToken, body })).status;
  };
  const round = async (): Promise<string> => {
    const job = at.jobs.find(({ name }) => name === 'ai-engine');
    return job?.run({ nowMs: at.clock.nowMs, signal: new AbortController().signal }) ?? 'no job';
  };
  const get = async (path: string) => (await at.call('GET', path, { token })).body;
  return { at, database, nodes, token, set, send, round, get };
}

async function checkEnforced(t: Test, started: Started): Promise<void> {
  const { at, database, nodes, token, send, round, get } = started;
  const now = at.clock.nowMs;
  const windows = [
    attack(nat, { principal: nameOf(1) }, now),
    windowOf(nat, now, { principal: nameOf(2) }),
    windowOf(nat, now, { principal: { kind: 'session', id: '00000000000000aa' } }),
  ];
  t.equal(await send(windows), 200);
  t.equal(await send([windowOf(nat, now, { principal: { kind: 'jwt', id: 'ann' } })]), 400, 'no hash');
  t.match(await round(), /^1 clients: 0 to block.*; 3 principals: 1 to block/);

  const key = keyOf(1);
  const soc = await get('/api/ai/soc');
  t.match(soc, { clients: 1, principals: 3, rungs: { BLOCK: 0 }, principal_rungs: { BLOCK: 1 } });
  const subject = {
    kind: 'principal',
    address: null,
    credential: 'jwt',
    id: nameOf(1).id,
    addresses: 1,
    networks: [nat],
  };
  t.match(soc['top'], [{ address: key, subject, would: 'deny', collateral: { note: /instead of 203.0.113.7/ } }]);
  const { items } = await get(`/api/ai/history?address=${key}`);
  t.match(items, [{ address: key, subject, verdict: 'BLOCK', enforced: 'deny' }]);
  const verdict = await get(`/api/ai/verdicts/${items[0].id}`);
  t.match(verdict, { subject, why: [{ code: 'sig.sqli' }], why_not: { signals: [/^sig/] } });
  t.match(await get(`/api/ai/verdicts/${items[0].id}/replay`), { equal: true });
  t.match((await at.call('POST', '/api/ai/whatif', { token, body: { threshold: 100 } })).body, { looked_at: 1 });
  t.match(await get('/api/verdicts'), { items: [{ network: key, action: 'deny', added_by: 'detection engine' }] });
  t.match((await get('/api/threat-intel'))['items'], [], 'no address is denied');
  const metrics = (await at.call('GET', '/api/metrics', { token })).text.split('\n');
  for (const line of [
    'gatehouse_control_ai_principals{verdict="BLOCK"} 1',
    'gatehouse_control_ai_principals{verdict="ALLOW"} 2',
    'gatehouse_control_ai_verdicts{verdict="BLOCK",subject="principal"} 1',
    'gatehouse_control_ai_verdicts{verdict="BLOCK",subject="client"} 0',
  ])
    t.ok(metrics.includes(line), line);
  t.same(nodes.lines('http://new'), [key]);
  t.same(nodes.lines('http://old'), [], 'a node of a release before is told what it knows: nothing new');
  t.match(
    (await get('/api/audit?limit=5'))['items'].find(({ action }: { action: string }) => action === 'ai.block'),
    {
      summary: new RegExp(`denied the principal ${key}`),
    },
  );
  const [event] = await database.sql<{ body: object }[]>`select body from siem_outbox where kind = 'verdict'`;
  t.match(event?.body, { network: key, action: 'deny' }, 'the SIEM is told');
  t.match(await verdictsOf(database.sql, [nat], new Date(now - 1)), [{ address: nat, verdict: 'BLOCK' }]);

  await round();
  t.equal((await get('/api/ai/history'))['items'].length, 1, 'one row in five minutes');
  const mark = { token, body: { mark: 'false_positive' } };
  t.equal((await at.call('POST', `/api/ai/verdicts/${items[0].id}/mark`, mark)).status, 200);
  t.match(await get('/api/verdicts'), { items: [] }, 'a false one is ended');
  t.same(nodes.lines('http://new'), []);
  await round();
  t.match((await get('/api/ai/soc'))['top'], [{ address: key, held_back: 'marked' }], 'and does not come back');
}

async function checkPeople(t: Test, { at, nodes, token, send, round, get }: Started): Promise<void> {
  const { nowMs: now } = at.clock;
  const key = keyOf(9, 'api_key');
  const decide = async (body: object) => at.call('POST', '/api/bans', { token, body });
  t.match(await decide({ network: key, action: 'deny', expires_in_seconds: 60, reason: 'stolen' }), {
    status: 200,
    body: { network: key, action: 'deny' },
  });
  t.same(nodes.lines('http://new'), [key]);
  for (const network of ['jwt:ann', 'apikey:0000000000000009', `${key}0`, 'jwt:'])
    t.equal((await decide({ network, action: 'deny' })).status, 400, network);
  const lift = () => at.call('DELETE', `/api/verdicts?network=${key}`, { token });
  t.equal((await lift()).status, 204);
  t.equal((await lift()).status, 404);

  await decide({ network: keyOf(3, 'api_key'), action: 'throttle' });
  const shared = nameOf(5, 'api_key');
  await send([
    attack('198.51.100.1', { principal: nameOf(3, 'api_key') }, now),
    attack('192.0.2.10', { principal: nameOf(4, 'api_key') }, now),
    attack('198.51.100.2', { principal: shared, sessions: bitmapOf(3, 256) }, now),
    ...[1, 2, 3, 4].map((part) => windowOf(`203.0.113.${part}`, now, { principal: shared })),
    attack('198.51.100.4', { principal: nameOf(6, 'api_key') }, now),
  ]);
  await round();
  const heldBack = async (): Promise<Record<string, string | null>> =>
    Object.fromEntries(
      (await get('/api/ai/soc'))['top'].map((one: Record<string, string>) => [
        one['address'],
        one['held_back'] ?? null,
      ]),
    );
  t.match(await heldBack(), {
    [keyOf(3, 'api_key')]: 'operator',
    [principalKeyOf(shared)]: 'shared',
    [keyOf(4, 'api_key')]: 'ban-safe',
    '198.51.100.2': null,
    [keyOf(6, 'api_key')]: null,
  });
  t.match((await get('/api/measures?kind=principal'))['items'], [
    { subject: keyOf(3, 'api_key'), action: 'throttle' },
    { subject: keyOf(6, 'api_key'), action: 'deny' },
  ]);
  t.equal((await at.call('DELETE', `/api/verdicts?network=${keyOf(6, 'api_key')}`, { token })).status, 204);
  await round();
  t.match(await heldBack(), { [keyOf(6, 'api_key')]: 'lifted' }, 'what people took away does not come back');
}

/** One control plane for both parts: making the tables and an account costs more than all that is asked of it. */
async function suite(t: Test, database: Database): Promise<void> {
  const started = await start(database);
  t.teardown(() => started.at.close());
  await started.set({ ai_enabled: true, ai_action: 'block', siem_webhook_url: 'https://siem.example/hook' });
  await t.test('P4: a verdict on a principal: stored, explained, told to nodes, people and the SIEM, taken back', (t) =>
    checkEnforced(t, started),
  );
  await t.test('P4: people decide over principals, and what they decided holds', (t) => checkPeople(t, started));
}

t.test('P4: verdicts on principals over the API', (t) => onBothDatabases(t, 'principals', suite));
