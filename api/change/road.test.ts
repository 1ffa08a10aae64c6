// The road of a change with everything real but the rule set: database, compile thread, artifacts on disk, data planes.
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp, type Reply, type TestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { nodeToken, startNode, startUpstream, type TestNode } from '../testing/data-plane.js';
import { writeRuleSet } from '../testing/rule-set.js';
import { makeDirectory } from '../testing/temporary.js';
import { clearPending, markPending, readState } from '../settings/state.js';
import { findVersion } from '../settings/store.js';
import { connectDataPlane, type NodeLink } from '../nodes/link.js';
import { freePort } from '../testing/free-port.js';

interface Road extends TestApp {
  readonly link: NodeLink;
  readonly admin: string;
  readonly data: string;
  patch(body: object): Promise<Reply>;
  apply(query?: string, headers?: Record<string, string>): Promise<Reply>;
}

async function startRoad(t: Test, database: Database, upstream: string, urls: readonly string[]): Promise<Road> {
  const data = await makeDirectory(t, 'road');
  const env = {
    dataAdminToken: nodeToken,
    dataAdminUrls: urls,
    dataDirectory: data,
    crsDirectory: await writeRuleSet(t),
    upstreams: { customer: upstream, payment: upstream },
    settingsEncryptionSecret: 'b'.repeat(40),
  };
  const link = await connectDataPlane({ env, database, now: Date.now });
  const at = await startTestApp(database, { applySettings: link.applySettings, expectedOf: link.expectedOf });
  t.teardown(async () => {
    await at.close();
    await link.close();
  });
  await link.start(at.parts);
  const { token } = await at.user('admin');
  return {
    ...at,
    link,
    data,
    admin: token,
    patch: (body) => at.call('PATCH', '/api/settings', { token, body }),
    apply: (query = '', headers = {}) => at.call('POST', `/api/apply${query}`, { token, headers }),
  };
}

const ask = async (node: TestNode, path: string): Promise<number> =>
  (await fetch(`http://127.0.0.1:${node.http}${path}`, { headers: { connection: 'close' } })).status;
const rule = (id: number, value: string): object => ({
  id,
  name: value,
  kind: 'visual',
  variable: 'ARGS',
  operator: 'contains',
  value,
  action: 'block',
  phase: 2,
});
const attack = '/?id=1%27%20OR%20%271%27=%271';

async function wholeRoad(t: Test, database: Database): Promise<void> {
  const upstream = await startUpstream(t);
  const node = await startNode(t, { upstream });
  const road = await startRoad(t, database, upstream, [node.url]);
  t.equal(await ask(node, '/?x=1'), 503, 'no rules yet: a protected site fails closed');

  await t.test('apply makes it serve; the same again changes nothing', async (t) => {
    const first = await road.apply();
    t.match(
      first,
      {
        status: 200,
        body: {
          applied: true,
          unchanged: false,
          version: 1,
          impact: null,
          not_enforced_yet: [],
          nodes: [{ url: node.url, state: 'active' }],
        },
      },
      first.text,
    );
    t.equal(first.body['generation'], (await node.status())['generation']);
    t.equal(first.body['artifact_sha256'], (await node.status())['ruleset']);
    t.same([await ask(node, '/?x=1'), await ask(node, attack)], [200, 403]);
    const { generation } = first.body;
    t.match(
      await road.apply('?dry_run=true'),
      { body: { dry_run: true, unchanged: true, nodes: [] } },
      'a dry run says so beforehand',
    );
    t.match(await road.apply(), { status: 200, body: { applied: true, unchanged: true, generation } });
    await road.patch({ bot_score_threshold: 9, ai_enabled: true });
    const silent = await road.apply();
    t.match(
      silent,
      { body: { unchanged: true, version: 2, not_enforced_yet: ['bot_score_threshold', 'ai_enabled'] } },
      'no silent switch',
    );
    t.equal((await node.status())['generation'], generation);
    t.match(await road.call('GET', '/api/nodes', { token: road.admin }), {
      status: 200,
      body: { active_version: 2, items: [{ url: node.url, state: 'active', version: 2, generation, workers: 1 }] },
    });
  });

  await t.test('what is changed is what happens on the data port', async (t) => {
    await road.patch({ custom_rules: [rule(1_000_001, 'zorkmid')] });
    t.equal(await ask(node, '/?q=zorkmid'), 200, 'saved is not applied');
    t.match(await road.apply('?dry_run=true'), { body: { dry_run: true, unchanged: false } });
    t.match(await road.apply(), { status: 200, body: { unchanged: false, nodes: [{ state: 'active' }] } });
    t.equal(await ask(node, '/?q=zorkmid'), 403);
    await road.patch({
      rule_exclusions: [
        {
          id: 1_009_500,
          rule_id: 1_000_001,
          target: 'ARGS:q',
          path: '/notes',
          reason: 'people write about the game',
          owner: 'me',
        },
      ],
    });
    t.match((await road.apply()).body, { not_enforced_yet: ['bot_score_threshold', 'ai_enabled'] });
    t.same(
      [await ask(node, '/notes?q=zorkmid'), await ask(node, '/notes?r=zorkmid'), await ask(node, '/?q=zorkmid')],
      [200, 403, 403],
      'an exclusion holds where it says and nowhere else',
    );
    await road.patch({ mode: 'DetectionOnly', rule_exclusions: [] });
    await road.apply();
    t.same([await ask(node, '/?q=zorkmid'), await ask(node, attack)], [200, 200]);
    await road.patch({
      mode: 'On',
      sites: [{ name: 'shop', prefix: '/shop', upstream }],
      categories: { sqli: { enabled: false } },
    });
    t.match((await road.apply()).body, { applied: true });
    t.same(
      [await ask(node, '/x'), await ask(node, '/shop/?q=zorkmid'), await ask(node, '/shop' + attack)],
      [404, 403, 200],
    );
  });

  await t.test('a refusal says what, where and how, and changes nothing', async (t) => {
    const before = await node.status();
    const bad: readonly [body: object, path: string, message: RegExp][] = [
      [
        {
          custom_rules: [
            rule(1_000_001, 'ok'),
            { id: 1_000_002, name: 'raw', kind: 'raw', seclang: 'SecRule ARGS "@rx (" "id:1000002,phase:2,deny"' },
          ],
        },
        '/custom_rules/1/seclang',
        /column/,
      ],
      [{ custom_rules: [{ ...rule(1_000_003, 'x'), operator: 'nosuch' }] }, '/custom_rules/0/operator', /operator/],
      [
        { custom_rules: [{ id: 1_000_004, name: 'raw', kind: 'raw', seclang: 'SecRuleEngine Off' }] },
        '/custom_rules/0/seclang',
        /cannot stand/,
      ],
      [
        { custom_rules: [{ ...rule(1_000_005, 'x'), tests: [{ name: 'wrong', expect: 'match', uri: '/?q=good' }] }] },
        '/custom_rules/0/tests/0',
        /"wrong" of rule 1000005 expects match/,
      ],
      [
        { custom_rules: [], virtual_patches: [{ id: 1_007_001, cve: 'CVE-1999-0001' }] },
        '/virtual_patches/0/cve',
        /catalogue/,
      ],
      [
        { virtual_patches: [], rule_exclusions: [{ id: 1_009_501, rule_id: 942_100, target: 'ARGS:a b' }] },
        '/rule_exclusions/0/target',
        /variable/,
      ],
      [{ rule_exclusions: [{ id: 1_009_501, tag: "attack-sqli'" }] }, '/rule_exclusions/0/tag', /tag of the rule set/],
      [
        { rule_exclusions: [{ id: 1_009_501, rule_id: 942_100, expires_at: '2026-13-01T00:00:00Z' }] },
        '/rule_exclusions/0/expires_at',
        /moment/,
      ],
      [{ rule_exclusions: [], sites: [{ name: 'a', prefix: '/a//b', upstream }] }, '/sites/0/prefix', /plain path/],
    ];
    for (const [body, path, message] of bad) {
      t.equal((await road.patch(body)).status, 200, 'it may be saved');
      for (const query of ['', '?dry_run=true']) {
        const reply = await road.apply(query);
        t.match(
          reply,
          {
            status: 422,
            body: { code: 'apply_refused', diagnostics: [{ severity: 'error', path, message, hint: /./ }] },
          },
          reply.text,
        );
      }
    }
    const after = await node.status();
    t.same([after['generation'], after['ruleset']], [before['generation'], before['ruleset']]);
    t.match(await readState(database.sql), { pendingId: null });
    await road.patch({ custom_rules: [], virtual_patches: [], sites: [], categories: { sqli: { enabled: true } } });
    const etag = String((await road.call('GET', '/api/settings', { token: road.admin })).headers['etag']);
    t.match(await road.apply('', { 'if-match': '"1-stale"' }), { status: 412, headers: { etag } });
    t.match(await road.apply('', { 'if-match': etag }), { status: 200 });
  });

  await t.test('a dry run shows whom it would hit and touches nothing', async (t) => {
    const headers = ['Host', 'shop', 'Authorization', 'Bearer hunter2', 'Cookie', 'sid=abc123; theme=dark'];
    const sample = (n: number, uri: string, body: string | null = null) => ({
      request_id: `r${n}`,
      at_ms: Date.now(),
      site: 'customer',
      method: body === null ? 'GET' : 'POST',
      uri,
      protocol: 'HTTP/1.1',
      headers:
        body === null
          ? headers
          : [...headers, 'Content-Type', 'application/x-www-form-urlencoded', 'Content-Length', String(body.length)],
      body,
      client_ip: '192.0.2.7',
    });
    const samples = [
      sample(1, '/search?q=lamp'),
      sample(2, '/search?q=grue&password=hunter2'),
      sample(3, attack),
      sample(4, '/form', 'a=grue&token=hunter2'),
      ...Array.from({ length: 20 }, (_, n) => sample(n + 5, `/page/${n}`)),
    ];
    t.equal(
      (await road.call('POST', '/api/dataplane/samples', { token: 'wrong', body: { node: 'n1', samples } })).status,
      401,
    );
    t.match(
      await road.call('POST', '/api/dataplane/samples', {
        token: road.parts.nodeToken,
        body: { node: 'n1', samples },
      }),
      { status: 200, body: { stored: 24 } },
    );
    const kept = await database.sql<{ body: string }[]>`select body from request_samples`;
    t.notMatch(
      kept.map((row) => Buffer.from(row.body, 'base64').toString()).join(),
      /hunter2|abc123/,
      'nothing sensitive is stored',
    );
    const before = await node.status();
    await road.patch({ custom_rules: [rule(1_000_001, 'grue')], categories: { sqli: { enabled: false } } });
    const dry = await road.apply('?dry_run=true');
    t.match(
      dry.body,
      { applied: false, dry_run: true, generation: null, impact: { replayed: 24, newly_blocked: 2, newly_allowed: 1 } },
      dry.text,
    );
    const { newly_blocked_examples: blocked, newly_allowed_examples: allowed } = dry.body['impact'];
    t.same(blocked.map((row: { request_id: string }) => row.request_id).sort(), ['r2', 'r4']);
    t.match(blocked[0].rule_ids, [1_000_001]);
    t.match(allowed, [{ request_id: 'r3', rule_ids: [942_100] }]);
    t.notMatch(dry.text, /hunter2/);
    t.equal((await node.status())['generation'], before['generation']);
    t.match((await road.apply()).body, { impact: { newly_blocked: 2, newly_allowed: 1 } });
    await road.patch({ custom_rules: [], categories: { sqli: { enabled: true } } });
    await road.apply();
  });

  await t.test('an interrupted activation is finished or forgotten, whole', async (t) => {
    const state = await readState(database.sql);
    const [served] = await database.sql<
      { artifact_sha256: string }[]
    >`select artifact_sha256 from settings_versions where id = ${state.activeId}`;
    await markPending(
      database.sql,
      state.activeId ?? 0,
      { artifactSha256: served?.artifact_sha256 ?? '', managedSha256: '' },
      state.generation + 7,
    );
    t.equal(await road.link.road.heal(road.parts.audit), 'forgotten', 'no node serves it');
    t.match(await readState(database.sql), { pendingId: null, activeId: state.activeId });
    const status = await node.status();
    await markPending(
      database.sql,
      state.activeId ?? 0,
      { artifactSha256: String(status['ruleset']), managedSha256: '' },
      Number(status['generation']),
    );
    t.equal(await road.link.road.heal(road.parts.audit), 'finished', 'a node serves it already');
    t.match(await readState(database.sql), { pendingId: null });
    t.equal(await road.link.road.heal(road.parts.audit), 'nothing');
    await clearPending(database.sql);
  });

  await t.test('a rollback takes the same road', async (t) => {
    await road.patch({ custom_rules: [rule(1_000_001, 'frotz')] });
    const first = await road.apply();
    await road.patch({ custom_rules: [rule(1_000_001, 'blorb')] });
    await road.apply();
    t.same([await ask(node, '/?q=frotz'), await ask(node, '/?q=blorb')], [200, 403]);
    const back = await road.call('POST', '/api/config/rollback', {
      token: road.admin,
      body: { version: first.body['version'] },
    });
    t.match(
      back,
      {
        status: 200,
        body: {
          changed: true,
          apply: { applied: true, artifact_sha256: first.body['artifact_sha256'], nodes: [{ state: 'active' }] },
        },
      },
      back.text,
    );
    t.same([await ask(node, '/?q=frotz'), await ask(node, '/?q=blorb')], [403, 200]);
    t.match((await road.call('GET', '/api/audit/verify', { token: road.admin })).body, { ok: true });
  });

  await t.test('two who apply at once take turns', async (t) => {
    const before = Number((await node.status())['generation']);
    const replies = await Promise.all([
      road.apply(),
      road.apply(),
      road.patch({ inbound_threshold: 4 }).then(() => road.apply()),
      road.apply('?dry_run=true'),
    ]);
    t.same(
      replies.map(({ status }) => status),
      [200, 200, 200, 200],
    );
    t.ok(Number((await node.status())['generation']) <= before + 1, 'what is served already is not served again');
    t.match(await readState(database.sql), { pendingId: null });
  });

  await t.test('artifacts lie under their hash, without leftovers', async (t) => {
    const names = await readdir(join(road.data, 'artifacts'));
    t.ok(names.length >= 5);
    t.same(
      names.filter((name) => !/^[0-9a-f]{64}$/.test(name)),
      [],
    );
  });
}

async function severalNodes(t: Test, database: Database): Promise<void> {
  const upstream = await startUpstream(t);
  const port = await freePort();
  const [one, dataDir] = [await startNode(t, { upstream }), await makeDirectory(t, 'away')];
  const away = `http://127.0.0.1:${port}`;
  const road = await startRoad(t, database, upstream, [one.url, away]);
  const nodes = async (): Promise<Record<string, unknown>[]> =>
    (await road.call('GET', '/api/nodes', { token: road.admin })).body['items'];

  await road.patch({ custom_rules: [rule(1_000_001, 'plugh')] });
  const reply = await road.apply();
  t.match(
    reply,
    {
      status: 200,
      body: {
        nodes: [
          { url: one.url, state: 'active' },
          { url: away, state: 'unreachable' },
        ],
      },
    },
    reply.text,
  );
  let two = await startNode(t, { upstream, adminPort: port, dataDir });
  t.match(
    await road.link.road.reconcile(road.parts.audit),
    new RegExp(`2 of 2 nodes answer; ${away} now serves version 2`),
  );
  t.equal(await ask(two, '/?q=plugh'), 403, 'a node that was away catches up');
  t.equal(await road.link.road.reconcile(road.parts.audit), '2 of 2 nodes answer', 'and is left alone then');
  t.match(await nodes(), [
    { state: 'active', version: 2 },
    { state: 'active', version: 2 },
  ]);

  await two.stop();
  await road.patch({ custom_rules: [rule(1_000_001, 'xyzzy')] });
  await road.apply();
  t.match(
    (await nodes()).find((node) => node['url'] === away),
    { state: 'unreachable', version: 2 },
  );
  two = await startNode(t, { upstream, adminPort: port, dataDir, resume: true });
  t.equal(await ask(two, '/?q=plugh'), 403, 'it resumes what it had');
  await road.link.road.reconcile(road.parts.audit);
  t.same([await ask(two, '/?q=plugh'), await ask(two, '/?q=xyzzy')], [200, 403]);

  await two.stop();
  await one.stop();
  await road.patch({ custom_rules: [] });
  const failed = await road.apply();
  t.match(failed, { status: 502, body: { code: 'apply_failed', detail: /no data-plane node answers/ } });
  t.match(await readState(database.sql), { pendingId: null });
}

/**
 * An artifact that no program of today reads, under its own hash: what an update finds of the version that was active.
 */
async function makeForeign(road: Road): Promise<string> {
  const directory = join(road.data, 'artifacts');
  const { activeId } = await readState(road.parts.database.sql);
  const active = await findVersion(road.parts.database.sql, activeId ?? 0);
  const bytes = await readFile(join(directory, active?.artifactSha256 ?? ''));
  bytes[7] = 0; // the version of the format
  const foreign = createHash('sha256').update(bytes).digest('hex');
  await writeFile(join(directory, foreign), bytes);
  await road.parts.database.sql`update settings_versions set artifact_sha256 = ${foreign} where id = ${activeId}`;
  return foreign;
}

async function afterUpdate(t: Test, database: Database): Promise<void> {
  const upstream = await startUpstream(t);
  const port = await freePort();
  const before = await startNode(t, { upstream, adminPort: port });
  const road = await startRoad(t, database, upstream, [before.url]);
  await road.patch({ custom_rules: [rule(1_000_001, 'plugh')] });
  t.match(await road.apply(), { status: 200 });
  const samples = [
    {
      request_id: 'r1',
      at_ms: Date.now(),
      site: 'customer',
      method: 'GET',
      uri: '/?q=xyzzy',
      protocol: 'HTTP/1.1',
      headers: ['Host', 'shop'],
      body: null,
      client_ip: '192.0.2.7',
    },
  ];
  const stored = await road.call('POST', '/api/dataplane/samples', {
    token: road.parts.nodeToken,
    body: { node: 'n1', samples },
  });
  t.match(stored, { status: 200, body: { stored: 1 } }, stored.text);
  const foreign = await makeForeign(road);
  await road.patch({ custom_rules: [rule(1_000_001, 'xyzzy')] });
  const dry = await road.apply('?dry_run=true');
  t.match(dry, { status: 200, body: { impact: null } }, `there is nothing to hold it against: ${dry.text}`);
  await before.stop();
  const after = await startNode(t, { upstream, adminPort: port });
  t.match(
    await road.link.road.reconcile(road.parts.audit),
    /now serves version 2/,
    'what was refused is compiled anew',
  );
  t.equal(await ask(after, '/?q=plugh'), 403);
  t.not((await findVersion(database.sql, 2))?.artifactSha256, foreign, 'and is the version’s artifact from now on');
  t.match((await road.apply('?dry_run=true')).body, { impact: { newly_blocked: 1 } });
  t.match(await road.apply(), { status: 200, body: { unchanged: false, impact: { newly_blocked: 1 } } });
}

t.test('the road of a change', (t) => onBothDatabases(t, 'the road', wholeRoad));
t.test('several nodes', (t) => onBothDatabases(t, 'several nodes', severalNodes));
t.test('after an update', (t) => onBothDatabases(t, 'artifacts of another release', afterUpdate));
