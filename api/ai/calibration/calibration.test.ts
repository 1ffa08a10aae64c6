// Precision, recall and their intervals: against published figures, by hand-made cases, and over the API.
import t, { type Test } from 'tap';
import type { Database } from '../../db/client.js';
import { startTestApp } from '../../testing/app.js';
import { onEmbeddedDatabase } from '../../testing/databases.js';
import type { Rung } from '../engine/fusion.js';
import { score, scorerVersion } from '../engine/score.js';
import { saveVerdicts } from '../store.js';
import { emptyVector, specified } from '../testing/clients.js';
import { calibrate, shareOf, wilson, type Case } from './calibration.js';
import { casesOf } from './cases.js';

t.test('O12.5: intervals are those of the literature', async (t) => {
  // Newcombe, Statistics in Medicine 17 (1998), table I, method 3
  for (const [hits, of, low, high] of [
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ] as const)
    t.same(wilson(hits, of), { low, high }, `${hits}/${of}`);
  t.equal(wilson(0, 0), null);
  t.match(shareOf(20, 20, 'x'), { value: 1, enough: true, note: '', low: 0.8389, high: 1 });
  t.match(shareOf(19, 19, 'cases'), {
    value: null,
    enough: false,
    note: 'Not enough evidence: 19 of the 20 cases that are needed.',
  });
  t.match(shareOf(0, 0, 'x'), { value: null, low: null, high: null, enough: false });
});

const many = (count: number, one: Case): Case[] => Array.from({ length: count }, () => one);
const caseOf = (verdict: Rung, risk: number, isAttack: boolean, wave: string | null = null): Case => ({
  ...{ verdict, risk, isAttack, wave },
});

t.test('O12.5: a rung counts what it reached and what is stronger', async (t) => {
  const { rungs, waves, reliability } = calibrate([
    ...many(30, caseOf('BLOCK', 95, true, 'sqli')),
    ...many(10, caseOf('RATE_LIMIT', 50, true, 'xss')),
    ...many(10, caseOf('ALLOW', 0, true, 'xss')),
    ...many(6, caseOf('BLOCK', 85, false)),
    ...many(4, caseOf('CHALLENGE', 65, true)),
  ]);
  t.match(rungs, [
    { rung: 'RATE_LIMIT', precision: { hits: 44, of: 50 }, recall: { hits: 40, of: 50, value: 0.8 } },
    { rung: 'CHALLENGE', precision: { hits: 34, of: 40 }, recall: { hits: 30, of: 50 } },
    { rung: 'BLOCK', precision: { hits: 30, of: 36, value: 0.8333 }, recall: { hits: 30, of: 50, value: 0.6 } },
  ]);
  t.same(waves, [
    { wave: 'sqli', clients: 30, reached: { RATE_LIMIT: 30, CHALLENGE: 30, BLOCK: 30 } },
    { wave: 'xss', clients: 20, reached: { RATE_LIMIT: 10, CHALLENGE: 0, BLOCK: 0 } },
  ]);
  t.equal(reliability.length, 10);
  t.match(reliability[9], { from: 90, to: 100, attacks: { hits: 30, of: 30 } });
  t.match(reliability[8], { from: 80, to: 89, attacks: { hits: 0, of: 6, enough: false } });
  t.equal(
    reliability.reduce((sum, { attacks }) => sum + attacks.of, 0),
    60,
    'each case is in one band',
  );
});

t.test('O12.5: each client of a simulation counts once, and those without a verdict were missed', async (t) => {
  const verdicts = [
    { address: '198.18.0.1', verdict: 'RATE_LIMIT', risk: 50 },
    { address: '198.18.0.1', verdict: 'BLOCK', risk: 90 },
    { address: '198.18.0.1', verdict: 'CHALLENGE', risk: 70 },
    { address: 7, verdict: 'BLOCK', risk: 90 },
    { address: '198.18.0.2', verdict: 'SHOUT', risk: 90 },
    null,
  ];
  const cases = casesOf({ type: 'bola', clients: 3, verdicts });
  t.same(
    cases.map(({ verdict, risk }) => [verdict, risk]),
    [
      ['BLOCK', 90],
      ['ALLOW', 0],
      ['ALLOW', 0],
    ],
  );
});

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const { token } = await at.user('viewer');
  const ask = async (query = '') => at.call('GET', `/api/ai/calibration${query}`, { token });
  t.match(
    (await ask()).body,
    { enabled: false, note: /is off.*ai_enabled/ },
    'P5: no verdicts will come, and it says so',
  );
  t.match((await ask()).body, {
    evidence: { simulations: 0, simulated_clients: 0, marked_attack: 0, marked_false_positive: 0, needed: 20 },
    rungs: [{}, {}, { rung: 'BLOCK', precision: { value: null, low: null, note: /Not enough evidence/ } }],
    waves: [],
  });
  const now = new Date(at.clock.nowMs);
  const vector = (address: string) => ({ ...emptyVector, address, groups: { '942': 30 }, score_max: 60 });
  const scored = score(vector('203.0.113.1'), specified, 80);
  const common = { scored, weights: specified, threshold: 80, version: scorerVersion, action: 'monitor' } as const;
  const measure = { enforced: null, until: null, heldBack: null };
  const addresses = Array.from({ length: 24 }, (_, n) => (n < 2 ? `198.18.7.${n}` : `203.0.113.${n}`));
  await database.sql.begin((tx) =>
    saveVerdicts(
      tx,
      addresses.map((address) => ({ ...common, vector: vector(address), measure })),
      now,
    ),
  );
  await database.sql`update ai_verdicts set marked = 'attack' where address not in ('203.0.113.2', '203.0.113.3')`;
  await database.sql`update ai_verdicts set marked = 'false_positive' where address = '203.0.113.2'`;
  const insert = async (clients: number | null, verdicts: object[], endedAt: Date): Promise<void> => {
    const report = JSON.stringify({ verdicts, ...(clients === null ? {} : { scored_clients: clients }) });
    await database.sql`
      insert into simulations (type, site, started_by, status, wanted, started_at, seen_at, ended_at, report)
      values ('sqli', 'shop', 'x', 'ended', '{}', ${endedAt}, ${endedAt}, ${endedAt}, ${report}::text::jsonb)`;
  };
  const caught = Array.from({ length: 20 }, (_, n) => ({ address: `198.18.1.${n}`, verdict: 'BLOCK', risk: 100 }));
  await insert(25, caught, now);
  await insert(0, [], now); // the engine was off
  await insert(null, caught, now); // of a release before
  await insert(25, caught, new Date(at.clock.nowMs - 10 * 86_400_000));
  const { body } = await ask('?days=3');
  t.match(body['evidence'], { simulations: 1, simulated_clients: 25, marked_attack: 20, marked_false_positive: 1 });
  const block = (body['rungs'] as Record<string, any>[]).find(({ rung }) => rung === 'BLOCK');
  t.match(block?.['recall'], { hits: 20, of: 25, value: 0.8, low: 0.6087, high: 0.9114, enough: true });
  const reached = scored.verdict === 'BLOCK' ? 41 : 20;
  t.match(block?.['precision'], { of: reached, hits: reached === 41 ? 40 : 20 });
  t.match((await ask('?days=30')).body['evidence'], { simulations: 2, simulated_clients: 50 });
  t.equal((await ask('?days=0')).status, 400);
  const admin = await at.user('admin');
  const { headers } = await at.call('GET', '/api/settings', { token: admin.token });
  const change = { token: admin.token, headers: { 'if-match': String(headers['etag']) }, body: { ai_enabled: true } };
  t.equal((await at.call('PATCH', '/api/settings', change)).status, 200);
  at.parts.settingsChanged();
  t.match((await ask()).body, { enabled: true, note: null }, 'P5: nor does it say so when they will');
  t.equal((await at.call('GET', '/api/ai/calibration', {})).status, 401);

  await t.test('O12.6: the figures of the detection engine are metrics', async (t) => {
    const lines = (await at.call('GET', '/api/metrics', { token })).text.split('\n');
    for (const line of [
      `gatehouse_control_ai_verdicts{verdict="${scored.verdict}",subject="client"} 24`,
      `gatehouse_control_ai_verdicts{verdict="${scored.verdict}",subject="principal"} 0`,
      'gatehouse_control_ai_verdicts_marked{mark="false_positive"} 1',
      'gatehouse_control_ai_clients{verdict="BLOCK"} 0',
      'gatehouse_control_ai_enforced{enforced="deny"} 0',
    ])
      t.ok(lines.includes(line), line);
    const live = { clients: 3, rungs: { ALLOW: 1, RATE_LIMIT: 0, CHALLENGE: 0, BLOCK: 2 }, top: [], learning: [] };
    const evaluators = [{ name: 'api_abuse', failures: 4, error: 'x', took_ms: 1500 }];
    const [seenAt, text] = [new Date(at.clock.nowMs - 20_000), JSON.stringify({ ...live, evaluators })];
    await database.sql`insert into ai_live (at, body) values (${seenAt}, ${text})`;
    const after = (await at.call('GET', '/api/metrics', { token })).text.split('\n');
    for (const line of [
      'gatehouse_control_ai_clients{verdict="BLOCK"} 2',
      'gatehouse_control_ai_round_age_seconds 20',
      'gatehouse_control_ai_evaluator_seconds{evaluator="api_abuse"} 1.5',
      'gatehouse_control_ai_evaluator_failures{evaluator="api_abuse"} 4',
    ])
      t.ok(after.includes(line), line);
  });
}

t.test('O12.5: calibration over the API', (t) => onEmbeddedDatabase(t, 'calibration', suite));
