// Simulations through a real data plane with real records: what was stopped by what, clients of their own, bounds, the
// stop, and the self-test that names a rule which was taken away.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { createScheduler } from '../jobs/scheduler.js';
import { connectDataPlane } from '../nodes/link.js';
import { startTestApp, testEnv, type Reply, type TestApp } from '../testing/app.js';
import { nodeToken, startNode, startUpstream, type TestNode } from '../testing/data-plane.js';
import { onBothDatabases } from '../testing/databases.js';
import { freePort } from '../testing/free-port.js';
import { writeRuleSet } from '../testing/rule-set.js';
import { makeDataDirectory } from '../testing/temporary.js';
import { until } from '../testing/waiting.js';

interface Stage {
  readonly at: TestApp;
  readonly node: TestNode;
  readonly call: (method: string, path: string, body?: object) => Promise<Reply>;
  readonly shop: object;
  readonly apply: (settings: object) => Promise<void>;
  /** Starts one and waits for its end. */
  readonly simulate: (body: object) => Promise<Reply['body']>;
}

async function open(t: Test, database: Database): Promise<Stage> {
  const port = await freePort();
  const upstream = await startUpstream(t);
  const node = await startNode(t, { upstream, controlUrl: `http://127.0.0.1:${port}` });
  const settingsEncryptionSecret = 'b'.repeat(40);
  const link = await connectDataPlane({
    env: {
      dataAdminToken: nodeToken,
      dataAdminUrls: [node.url],
      dataDirectory: await makeDataDirectory(t, 'simulation'),
      crsDirectory: await writeRuleSet(t),
      upstreams: { customer: upstream, payment: upstream },
      settingsEncryptionSecret,
    },
    database,
    now: Date.now,
  });
  const at = await startTestApp(database, {
    applySettings: link.applySettings,
    nodeGates: link.nodeGates,
    now: Date.now,
    env: { ...testEnv, settingsEncryptionSecret, dataAdminToken: nodeToken },
  });
  t.teardown(async () => {
    await at.close();
    await link.close();
  });
  await link.start(at.parts);
  const { token } = await at.user('admin');
  await at.app.listen({ host: '127.0.0.1', port });
  const call: Stage['call'] = (method, path, body) =>
    at.call(method, path, { token, ...(body === undefined ? {} : { body }) });
  const site = { name: 'shop', host: 'shop.example', prefix: '/shop', upstream, protected: true };
  const apply: Stage['apply'] = async (settings) => {
    const saved = await call('PATCH', '/api/settings', settings);
    if (saved.status !== 200) throw new Error(saved.text);
    const applied = await call('POST', '/api/apply');
    if (applied.status !== 200) throw new Error(applied.text);
  };
  await apply({ sites: [site] });
  const simulate: Stage['simulate'] = async (body) => {
    const started = await call('POST', '/api/ai/simulate', { site: 'shop', ...body });
    if (started.status !== 202) throw new Error(started.text);
    const path = `/api/ai/simulate/${started.body['id']}`;
    await until('it ended', async () => (await call('GET', path)).body['status'] !== 'running');
    return (await call('GET', path)).body;
  };
  return { at, node, call, shop: site, apply, simulate };
}

const isSimulated = (address: string): boolean => /^198\.1[89]\./.test(address);

async function wavesSuite(t: Test, { call, simulate, node }: Stage): Promise<void> {
  await t.test('12.S2: a wave of injections: what stopped it, and how soon', async (t) => {
    const done = await simulate({ type: 'sqli', requests: 30 });
    t.match(done, { status: 'ended', type: 'sqli', site: 'shop', sent: 30, error: null, self_test: false });
    const { report } = done;
    t.equal(report.sent, 30);
    t.equal(report.stopped + report.passed + report.failed, 30, 'the numbers add up');
    t.ok(report.stopped >= 10, `${report.stopped} were stopped`);
    t.match(report.by_stage[0], { stage: 'rules', rule_id: 942_100 });
    t.type(report.first_stopped_ms, 'number');
    t.match(
      report.attacks.find(({ attack }: { attack: string }) => attack === 'sqli.query.1'),
      { sent: 1, stopped: 1, stages: ['rules'], rule_ids: [942_100] },
    );
    const audit = (await call('GET', '/api/audit')).body['items'] as { action: string; summary: string }[];
    t.match(
      audit.find(({ action }) => action === 'simulation.start'),
      { summary: /sqli against shop, 30 requests/ },
    );
  });
  await t.test('12.S3: its clients have addresses of their own', async (t) => {
    const events = (await call('GET', '/api/events')).body['items'] as { client_ip: string }[];
    t.ok(events.length > 0);
    t.ok(events.every(({ client_ip: address }) => isSimulated(address)));
    const mark = { 'x-gatehouse-simulation': `198.18.0.1 ${Date.now() + 20_000} AAAA`, connection: 'close' };
    const attack = `http://127.0.0.1:${node.http}/shop/?id=1%27%20OR%20%271%27=%271`;
    const { request } = await import('node:http');
    const status = await new Promise((resolve, reject) =>
      request(attack, { headers: { ...mark, host: 'shop.example' } }, (reply) => resolve(reply.resume().statusCode))
        .once('error', reject)
        .end(),
    );
    t.equal(status, 403);
    await until('its event is there', async () =>
      ((await call('GET', '/api/events')).body['items'] as { client_ip: string }[]).some(
        ({ client_ip: address }) => address === '127.0.0.1',
      ),
    );
    t.pass('whoever forges the field is who it is');
  });
  await t.test('12.S4: every type of wave comes through, with numbers that add up', async (t) => {
    for (const type of ['xss', 'cred_stuffing', 'bola', 'l7_flood', 'anomaly']) {
      const { report, ...done } = await simulate({ type, requests: 12, rate: 100 });
      t.match(done, { status: 'ended', sent: 12 }, type);
      t.equal(report.stopped + report.passed + report.failed, 12, type);
      t.equal(report.failed, 0, type);
      t.notOk(
        report.by_stage.some(({ stage }: { stage: string }) => stage === 'not recorded'),
        type,
      );
    }
  });
}

/** An application that refuses by itself, as applications do: 401 at its login, 403, 404, 400 and 429 at orders. */
async function startStrictApp(t: Test): Promise<string> {
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const order = Number(/orders\/(\d+)/.exec(path)?.[1] ?? 0);
    response.statusCode = path.includes('/login') ? 401 : order === 0 ? 200 : ([403, 404, 400, 429][order % 4] ?? 200);
    request.resume().on('end', () => response.setHeader('x-request-id', 'mine').end('no'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => void server.close(() => resolve()));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function ownAnswersSuite(t: Test, { shop, apply, simulate }: Stage): Promise<void> {
  await t.test('issue 22 Q1: what the application refuses by itself is not stopped', async (t) => {
    await apply({ sites: [{ ...shop, upstream: await startStrictApp(t) }], rule_exclusions: [] });
    for (const [type, requests] of [
      ['cred_stuffing', 24],
      ['bola', 24],
    ] as const) {
      const { report } = await simulate({ type, requests, rate: 100 });
      t.match(report, { sent: requests, stopped: 0, passed: requests, failed: 0, unrecorded: 0, by_stage: [] }, type);
      t.equal(report.first_stopped_ms, null, type);
    }
    const attacks = await simulate({ type: 'sqli', requests: 10 });
    t.ok(attacks.report.stopped > 0, 'rules still stop');
    t.match(attacks.report.by_stage[0], { stage: 'rules', rule_id: 942_100 });
  });
  await t.test('issue 22 Q1: every refusal beyond what records sample is told as its own gate', async (t) => {
    await apply({ rl_enabled: true, rl_events: 5, rl_window: '1m' });
    const { report } = await simulate({ type: 'l7_flood', requests: 400, rate: 200 });
    t.ok(report.stopped > 300, `${report.stopped} of 400`);
    t.equal(report.unrecorded, 0);
    const stages: string[] = report.by_stage.map(({ stage }: { stage: string }) => stage);
    t.same([...new Set(stages)], ['rate-zones']);
  });
}

async function boundsSuite(t: Test, { call }: Stage): Promise<void> {
  await t.test('12.S5: one at a time, against a site that is served, within bounds, and stoppable', async (t) => {
    const start = (body: object) => call('POST', '/api/ai/simulate', { type: 'l7_flood', site: 'shop', ...body });
    t.match(await start({ site: 'elsewhere' }), {
      status: 422,
      body: { detail: /No node serves a site elsewhere.*shop/ },
    });
    for (const body of [
      { requests: 2001 },
      { seconds: 121 },
      { rate: 201 },
      { requests: 0 },
      { type: 'ddos' },
      { url: 'x' },
    ])
      t.equal((await start(body)).status, 400, JSON.stringify(body));
    const slow = await start({ requests: 2000, rate: 1, seconds: 120 });
    t.match(slow, { status: 202, body: { status: 'running' } });
    t.match(await start({}), { status: 409, body: { detail: /Another simulation runs/ } });
    const path = `/api/ai/simulate/${slow.body['id']}`;
    t.equal((await call('DELETE', path)).status, 202);
    await until('it stopped', async () => (await call('GET', path)).body['status'] !== 'running');
    const { body } = await call('GET', path);
    t.equal(body['status'], 'stopped');
    t.ok(body['sent'] < 2000);
    t.equal(body['report'].sent, body['sent'], 'with the report of what was sent');
    t.equal((await call('DELETE', path)).status, 409, 'it runs no more');
    t.equal((await call('GET', '/api/ai/simulate/999999')).status, 404);
    const first = await call('GET', '/api/ai/simulate?limit=2');
    t.equal(first.body['items'].length, 2);
    t.match(await start({ requests: 1 }), { status: 202 }, 'and the next may begin');
    await until('that ended', async () =>
      ((await call('GET', '/api/ai/simulate?limit=1')).body['items'] as { status: string }[]).every(
        ({ status }) => status !== 'running',
      ),
    );
  });
}

async function selfTestSuite(t: Test, { at, call, apply }: Stage): Promise<void> {
  await t.test('12.S6: the self-test names the rule that no longer protects', async (t) => {
    const job = at.jobs.find(({ name }) => name === 'self-test');
    if (job === undefined) throw new Error('there is no job');
    const runAt = (afterMs: number) => job.run({ nowMs: Date.now() + afterMs, signal: new AbortController().signal });
    let nights = 0;
    const night = () => runAt(25 * 3_600_000 * nights++);
    t.match(await night(), /no site is named/);
    await apply({ self_test_site: 'shop' });
    t.equal(await night(), 'everything protects as before', 'the first night has nothing to compare');
    t.match(await runAt(12 * 3_600_000), /^due at/, 'once a day');
    t.equal(await night(), 'everything protects as before');
    await apply({ rule_exclusions: [{ rule_id: 942_100, target: 'ARGS:q', reason: 'too loud', owner: 'somebody' }] });
    t.match(await night(), /No longer protect: rules 942100/);
    const tests = (await call('GET', '/api/ai/self-tests')).body['items'];
    const { sql } = at.parts.database;
    const tried = new Date();
    await sql`insert into self_tests (site, started_at, ended_at, error) values ('shop', ${tried}, ${tried}, 'away')`;
    t.match(await runAt(30 * 60_000), /^the last did not come through; due at/, 'and again within the hour');
    await sql`delete from self_tests where error = 'away'`;
    t.equal(tests.length, 3);
    t.match(tests[0].lost[0], { attack: /^sqli\.query/, passes: true, stages: ['rules'], rule_ids: [942_100] });
    t.ok(
      tests[0].lost.every(({ attack }: { attack: string }) => attack.startsWith('sqli.query')),
      'where the rule still looks, nothing is lost',
    );
    t.same(tests[1].lost, []);
    const audit = (await call('GET', '/api/audit')).body['items'] as { action: string; summary: string }[];
    t.match(
      audit.find(({ action }) => action === 'self_test.lost'),
      { summary: /942100/ },
    );
  });
}

async function besideDetection(t: Test, { at, call, apply }: Stage): Promise<void> {
  await t.test('the self-test gets rounds of the detection engine that begin while it waits', async (t) => {
    await apply({ self_test_site: 'shop', ai_enabled: true, rule_exclusions: [] });
    await at.parts.database.sql`delete from self_tests`;
    const jobs = at.jobs
      .filter(({ name }) => name === 'self-test' || name === 'ai-engine')
      .map((job) => (job.name === 'ai-engine' ? { ...job, everyMs: 1000 } : job));
    t.equal(jobs.length, 2);
    const errors: unknown[] = [];
    const scheduler = createScheduler({
      ...{ database: at.parts.database, now: Date.now, jobs, tickMs: 500 },
      onError: (_, error) => errors.push(error),
    });
    scheduler.start();
    const ofSelfTest = async () => (await call('GET', '/api/ai/self-tests')).body['items'] as Record<string, any>[];
    await until('the self-test is over', async () => ((await ofSelfTest())[0]?.['ended_at'] ?? null) !== null);
    await scheduler.stop();
    t.same(errors, []);
    t.match((await ofSelfTest())[0], { error: null });
    const waves = ((await call('GET', '/api/ai/simulate?limit=10')).body['items'] as Record<string, any>[]).filter(
      (one) => one['self_test'] === true && one['report']?.['scored_clients'] > 0,
    );
    t.ok(waves.length >= 3, `${waves.length} waves with the engine`);
    for (const { type, started_at: from, ended_at: to } of waves) {
      const tookMs = Date.parse(to) - Date.parse(from);
      t.ok(tookMs < 30_000, `${type}: ${tookMs} ms; without a round of the engine it waits 40 s`);
    }
  });
}

async function suite(t: Test, database: Database): Promise<void> {
  const stage = await open(t, database);
  await wavesSuite(t, stage);
  await boundsSuite(t, stage);
  await selfTestSuite(t, stage);
  await besideDetection(t, stage);
  await ownAnswersSuite(t, stage);
}

void onBothDatabases(t, 'simulation', suite);
