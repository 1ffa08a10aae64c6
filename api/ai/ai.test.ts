// The detection engine with a database and the API: from what nodes tell to verdicts, measures and their explanation.
import t, { type Test } from 'tap';
import type { ClientWindow } from '#proxy/contract';
import type { Database } from '../db/client.js';
import { startTestApp, testEnv, type TestApp } from '../testing/app.js';
import { startMeasureNodes } from '../testing/builders/measure-nodes.js';
import { onBothDatabases } from '../testing/databases.js';
import { createAiJob } from './job.js';
import { verdictsOf } from './index.js';
import { saveVerdicts, verdictsFrom, replay, type NewVerdict } from './store.js';
import { score, scorerVersion } from './engine/score.js';
import { emptyVector, specified, windowOf } from './testing/clients.js';

const signal = new AbortController().signal;

const attackOf = (address: string, nowMs: number, matches = 12): ClientWindow =>
  windowOf(address, nowMs, {
    requests: 20,
    blocked: matches,
    ok: 20 - matches,
    score_max: 15,
    score_sum: 15 * matches,
    groups: { '942': matches },
    rules: { '942100': matches },
    samples: [`first-of-${address}`],
  });

interface Ai {
  readonly at: TestApp;
  readonly token: string;
  send(windows: readonly ClientWindow[]): Promise<number>;
  round(): Promise<string>;
  set(settings: object): Promise<number>;
}

async function startAi(database: Database, over: Parameters<typeof startTestApp>[1] = {}): Promise<Ai> {
  const at = await startTestApp(database, over);
  const { token } = await at.user('admin');
  let batches = 0;
  return {
    at,
    token,
    send: async (windows) => {
      const batch = { batch_id: `b${++batches}`, clients: windows, dropped: 0 };
      const body = { node: 'edge-1', batch };
      return (await at.call('POST', '/api/dataplane/clients', { token: testEnv.dataAdminToken, body })).status;
    },
    round: async () => {
      const job = at.jobs.find(({ name }) => name === 'ai-engine');
      return job?.run({ nowMs: at.clock.nowMs, signal }) ?? 'no job';
    },
    set: async (settings) => {
      const { headers } = await at.call('GET', '/api/settings', { token });
      const ifMatch = { 'if-match': String(headers['etag']) };
      const { status, text } = await at.call('PATCH', '/api/settings', { token, headers: ifMatch, body: settings });
      if (status !== 200) throw Object.assign(new Error(text), { status });
      at.parts.settingsChanged();
      return status;
    },
  };
}

async function monitorSuite(t: Test, database: Database): Promise<void> {
  const ai = await startAi(database);
  const { at, token } = ai;
  t.equal(await ai.round(), 'switched off');
  const refused = await ai.set({ ai_risk_threshold: 0 }).catch((error: { status: number }) => error.status);
  t.equal(refused, 400, 'T3: a threshold below 1 is refused');
  await ai.set({ ai_enabled: true });
  const { nowMs } = at.clock;
  t.equal(await ai.send([attackOf('203.0.113.7', nowMs), windowOf('203.0.113.8', nowMs)]), 200);
  t.match(await ai.round(), /2 clients: 1 to block/);
  const soc = (await at.call('GET', '/api/ai/soc', { token })).body;
  t.match(soc, {
    enabled: true,
    action: 'monitor',
    ladder: { BLOCK: 80, CHALLENGE: 60, RATE_LIMIT: 45 },
    clients: 2,
    rungs: { BLOCK: 1, ALLOW: 1 },
    top: [{ address: '203.0.113.7', verdict: 'BLOCK', would: 'deny', collateral: { sessions: 1 }, held_back: null }],
    learning: [{ site: 'shop' }],
  });
  const history = (await at.call('GET', '/api/ai/history', { token })).body;
  t.match(history, { items: [{ address: '203.0.113.7', verdict: 'BLOCK', enforced: null, rounds: 1 }] });
  t.equal(history['items'].length, 1);
  const { id } = history['items'][0];
  const verdict = (await at.call('GET', `/api/ai/verdicts/${id}`, { token })).body;
  t.match(verdict, { why_not: { signals: [/^sig\./] }, version: scorerVersion, distance: { up: null } });
  t.match(
    verdict['why'].find(({ code }: { code: string }) => code === 'sig.sqli'),
    { evidence: { request_ids: ['first-of-203.0.113.7'] }, owasp: ['A03:2021'] },
  );
  t.match((await at.call('GET', `/api/ai/verdicts/${id}/replay`, { token })).body, { equal: true });
  t.match((await at.call('GET', '/api/threat-intel', { token })).body, { items: [] }, 'monitor denies nobody');

  await ai.round();
  at.clock.nowMs += 60_000;
  await ai.round();
  t.match(
    (await at.call('GET', '/api/ai/history?address=203.0.113.7', { token })).body,
    { items: [{ rounds: 3 }] },
    'one row in five minutes',
  );
  at.clock.nowMs += 200_000;
  await ai.send([attackOf('203.0.113.7', at.clock.nowMs)]);
  at.clock.nowMs += 60_000;
  await ai.round();
  t.equal((await at.call('GET', '/api/ai/history', { token })).body['items'].length, 2, 'then another');
  t.equal((await at.call('GET', '/api/ai/history?limit=1', { token })).body['items'].length, 1);
  await whatIfOf(t, ai);

  t.match(await verdictsOf(database.sql, ['203.0.113.7', '203.0.113.8'], new Date(nowMs)), [
    { verdict: 'BLOCK', address: '203.0.113.7' },
    { verdict: 'BLOCK' },
  ]);
  await ai.set({ retention_requests_days: 1 });
  at.clock.nowMs += 3 * 86_400_000;
  await ai.round();
  const { token: later } = await at.user('viewer');
  const left = (await at.call('GET', '/api/ai/history', { token: later })).body;
  t.strictSame(left['items'], [], 'pruned with the request log');
  t.equal((await at.call('GET', `/api/ai/verdicts/${id}`, { token: later })).status, 404);
  await at.close();
}

async function whatIfOf(t: Test, { at, token }: Ai): Promise<void> {
  const ask = async (body: object) => at.call('POST', '/api/ai/whatif', { token, body });
  t.match((await ask({})).body, { looked_at: 2, flips: [], truncated: false });
  t.match((await ask({ weights: { signature: 0 } })).body, {
    before: { BLOCK: 2 },
    after: { BLOCK: 0 },
    flips: [{ from: 'BLOCK', count: 2, examples: [{ address: '203.0.113.7' }, {}] }],
  });
  t.match((await ask({ threshold: 100 })).body, { threshold: 100 });
  t.equal((await ask({ threshold: 0 })).status, 400);
  t.equal((await ask({ window: 60, threshold: 90 })).status, 200);
}

t.test('AI 3: monitor: scores, history, explanation, replay, what-if', (t) =>
  onBothDatabases(t, 'verdicts', monitorSuite),
);

async function blockSuite(t: Test, database: Database): Promise<void> {
  const clock = { nowMs: () => Date.now() };
  const nodes = startMeasureNodes(database, () => clock.nowMs());
  let pushed = 0;
  const measuresChanged = async (): Promise<void> => {
    pushed += 1;
    await nodes.push.changed();
  };
  const ai = await startAi(database, { measuresChanged });
  const { at, token } = ai;
  clock.nowMs = () => at.clock.nowMs;
  await ai.set({ ai_enabled: true, ai_action: 'block', ai_block_seconds: 60 });
  const { nowMs } = at.clock;
  await ai.send([
    attackOf('203.0.113.7', nowMs),
    attackOf('203.0.113.20', nowMs, 3),
    attackOf('203.0.113.30', nowMs, 2),
    attackOf('192.0.2.10', nowMs), // where the people of these tests sit
    attackOf('2001:db8:1:2:aaaa::1', nowMs),
    windowOf('203.0.113.8', nowMs),
  ]);
  t.match(await ai.round(), /6 clients: 3 to block, 1 to challenge, 1 to slow down/);
  const denied = (await at.call('GET', '/api/threat-intel', { token })).body['items'];
  t.match(
    denied.map(({ network, source }: Record<string, string>) => [network, source]),
    [
      ['2001:db8:1:2::/64', 'ai'],
      ['203.0.113.7', 'ai'],
    ],
  );
  t.equal(Date.parse(denied[0].expires_at), nowMs + 60_000);
  t.equal(pushed, 1, 'nodes are told at once');
  t.same(nodes.lines(), [...['2001:db8:1:2::/64', '203.0.113.7', '~challenge:203.0.113.20', '~throttle:203.0.113.30']]);
  const soc = (await at.call('GET', '/api/ai/soc', { token })).body;
  t.match(
    soc['top'].find(({ address }: { address: string }) => address === '192.0.2.10'),
    { verdict: 'BLOCK', held_back: 'ban-safe' },
  );
  const audit = (await at.call('GET', '/api/audit', { token })).text;
  t.match(audit, /ai\.block/);
  const of = async (address: string) =>
    (await at.call('GET', `/api/ai/history?address=${address}`, { token })).body['items'][0];
  t.match(await of('203.0.113.7'), { enforced: 'deny', action: 'block' });
  await ai.round();
  t.equal(pushed, 1, 'what is in force is not put in force again');

  // a person unbans: it does not come back before its end, and who reads the verdict again is told so
  const inForce = async (address: string): Promise<unknown> =>
    (await at.call('GET', `/api/ai/verdicts/${(await of(address)).id}`, { token })).body['in_force'];
  t.strictSame([await inForce('203.0.113.7'), await inForce('203.0.113.20')], [true, true]);
  await at.call('DELETE', '/api/verdicts?network=203.0.113.20', { token });
  t.strictSame([await inForce('203.0.113.7'), await inForce('203.0.113.20')], [true, false]);
  await ai.round();
  t.match((await at.call('GET', '/api/verdicts', { token })).body['items'], [
    { network: '2001:db8:1:2::/64', action: 'deny' },
    { network: '203.0.113.30', action: 'throttle' },
    { network: '203.0.113.7', action: 'deny' },
  ]);

  const { id } = await of('203.0.113.7');
  t.match((await at.call('POST', `/api/ai/verdicts/${id}/mark`, { token, body: { mark: 'false_positive' } })).body, {
    marked: 'false_positive',
  });
  t.equal(pushed, 3);
  t.same(nodes.lines(), ['2001:db8:1:2::/64', '~throttle:203.0.113.30']);
  at.clock.nowMs += 61_000;
  await ai.round();
  const left = (await at.call('GET', '/api/threat-intel', { token })).body['items'];
  t.strictSame(
    left.map(({ network }: { network: string }) => network),
    ['2001:db8:1:2::/64'],
    'denied again where it goes on; who was called harmless is left alone',
  );

  // switched while a wave goes on: the row of these minutes says what holds
  const wave = async (): Promise<void> => {
    const { nowMs: moment } = at.clock;
    await ai.send([attackOf('203.0.113.40', moment), attackOf('192.0.2.10', moment)]);
    await ai.round();
  };
  await ai.set({ ai_action: 'monitor' });
  await wave();
  t.match(await of('203.0.113.40'), { action: 'monitor', enforced: null, held_back: null });
  t.match(await of('192.0.2.10'), { action: 'monitor', enforced: null, held_back: null });
  await ai.set({ ai_action: 'block' });
  await wave();
  t.match(await of('203.0.113.40'), { action: 'block', enforced: 'deny', rounds: 2 });
  t.match(await of('192.0.2.10'), { action: 'block', enforced: null, held_back: 'ban-safe' });

  // who was judged today is left alone from today on, however old the verdict is
  await database.sql`update ai_verdicts set at = at - interval '3 days', last_at = last_at - interval '3 days'`;
  const judge = async (verdict: number, mark: string): Promise<void> => {
    const reply = await at.call('POST', `/api/ai/verdicts/${verdict}/mark`, { token, body: { mark } });
    if (reply.status !== 200) throw new Error(reply.text);
  };
  await judge((await of('203.0.113.40')).id, 'false_positive');
  await wave();
  const again = await of('203.0.113.40');
  t.match(again, { verdict: 'BLOCK', enforced: null, held_back: 'marked' });
  await database.sql`update ai_verdicts set marked_at = marked_at - interval '1 minute' where marked is not null`;
  await judge(again.id, 'attack');
  at.clock.nowMs += 61_000; // the measure that the first judgement lifted would be over
  await wave();
  t.match(await of('203.0.113.40'), { enforced: 'deny', held_back: null }, 'what was said last holds');
  await at.close();
}

t.test('AI 4: block: deny list, challenge, throttle, and whom it leaves alone', (t) =>
  onBothDatabases(t, 'enforcement', blockSuite),
);

async function replaySuite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const now = new Date(at.clock.nowMs);
  let state = 7;
  const next = (most: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
  const make = (index: number): NewVerdict => {
    const vector = {
      ...emptyVector,
      address: `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`,
      requests: 1 + next(500),
      blocked: next(20),
      score_max: next(60),
      groups: { '942': next(30), '941': next(4), custom: next(3) },
      rules: { '942100': next(30) },
      login_failures: next(40),
      deviations: [
        {
          ...({ feature: 'rate', site: 'shop', source: 'all', support: 300 } as const),
          observed: next(100_000) / 7,
          expected: next(1000) / 3,
          spread: 1 + next(100) / 9,
        },
      ],
    };
    const weights = { ...specified, bot: next(1000) / 11 };
    const scored = score(vector, weights, 80);
    const measure = { enforced: null, until: null, heldBack: null };
    return { vector, scored, weights, threshold: 80, version: scorerVersion, action: 'monitor', measure };
  };
  const count = 10_000;
  for (let from = 0; from < count; from += 1000)
    await database.sql.begin((tx) =>
      saveVerdicts(
        tx,
        Array.from({ length: 1000 }, (_, at) => make(from + at)),
        now,
      ),
    );
  let equal = 0;
  for (let cursor = 0; ; ) {
    const rows = await verdictsFrom(database.sql, new Date(0), cursor, 1000);
    for (const row of rows) if (replay(row) === row.result) equal += 1;
    cursor = rows.at(-1)?.id ?? 0;
    if (rows.length < 1000) break;
  }
  t.equal(equal, count);
  t.equal(replay({ version: 'fusion-0', vector: '{}', weights: '{}', threshold: 80 }), null);
  await at.close();
}

t.test('AI 3: 10,000 stored vectors replay bit for bit', (t) => onBothDatabases(t, 'replay', replaySuite));

async function isolationSuite(t: Test, database: Database): Promise<void> {
  const ai = await startAi(database);
  await ai.set({ ai_enabled: true });
  const { at, token } = ai;
  await ai.send([attackOf('203.0.113.7', at.clock.nowMs)]);
  const throwing = createAiJob(at.parts, async () => {
    throw new Error('findings are broken');
  });
  const run = async (job: typeof throwing): Promise<string> => job.run({ nowMs: at.clock.nowMs, signal });
  t.match(await run(throwing), /1 to block.*failed: api_abuse \(findings are broken\)/);
  const soc = async () => (await at.call('GET', '/api/ai/soc', { token })).body;
  t.match(await soc(), { evaluators: [{ name: 'api_abuse', failures: 1, error: 'findings are broken' }] });
  const [row] = await verdictsOf(database.sql, ['203.0.113.7'], new Date(0));
  t.equal(row?.verdict, 'BLOCK', 'the other layers decide');
  t.match((await at.call('GET', `/api/ai/verdicts/${row?.id}/replay`, { token })).body, { equal: true });
  const hanging = createAiJob(at.parts, () => new Promise(() => {}), 20);
  t.match(await run(hanging), /failed: api_abuse \(it took longer than 20 ms\)/);
  const found = createAiJob(at.parts, async () => [
    { address: '203.0.113.99', id: 'f1', kind: 'bola_enumeration', severity: 'critical', count: 300 },
    { address: '203.0.113.7', id: 'f2', kind: 'bola_enumeration', severity: 'critical', count: 300 },
  ]);
  await run(found);
  t.match(await soc(), { top: [{ signals: [{ code: 'abuse.bola_enumeration' }] }] });
  await at.close();
}

t.test('AI 6: an evaluator that throws or hangs is reported and harms no other', (t) =>
  onBothDatabases(t, 'isolation', isolationSuite),
);
