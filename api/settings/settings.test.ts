import t, { type Test } from 'tap';
import fc from 'fast-check';
import type { Database } from '../db/client.js';
import { toCanonicalJson } from '../audit/canonical-json.js';
import { makeKeyPair, signLicence } from '../licence/vendor-sign.js';
import { arbitraryChange } from '../testing/arbitrary-settings.js';
import { activeOutcome, startTestApp, type TestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { applyMergePatch } from './merge-patch.js';
import { settingNames } from './schema.js';
import { revealSecrets } from './secrets.js';
import { readState } from './state.js';
import { findVersion } from './store.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_121) });

const text = toCanonicalJson;
const get = async (at: TestApp, token: string) => at.call('GET', '/api/settings', { token });
/** The body as stored, sealed secrets and all. */
const storedBody = async (database: Database, id: number): Promise<string> =>
  String((await database.sql`select body from settings_versions where id = ${id}`)[0]?.['body']);
const headId = async (database: Database): Promise<number> => (await readState(database.sql)).headId;

async function roundTrips(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const { token } = await at.user('admin');
  await t.test('property: PUT(GET) changes nothing, PATCH changes only its paths', async (t) => {
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(arbitraryChange, async (change) => {
        runs++;
        at.clock.nowMs += 1000;
        const before = await get(at, token);
        const patched = await at.call('PATCH', '/api/settings', { token, body: change });
        if (patched.status !== 200) throw new Error(patched.text);
        for (const name of settingNames)
          if (!(name in change) && text(patched.body[name]) !== text(before.body[name]))
            throw new Error(`PATCH changed ${name}`);
        for (const [name, value] of Object.entries(change))
          if (
            !/secret|connectors|sites|rules|zones/.test(name) &&
            value !== null &&
            text(patched.body[name]) !== text(applyMergePatch(before.body[name], value))
          )
            throw new Error(`PATCH lost ${name}`);
        const id = await headId(database);
        const body = await storedBody(database, id);
        const read = await get(at, token);
        const put = await at.call('PUT', '/api/settings', {
          token,
          body: read.body,
          headers: { 'if-match': String(read.headers['etag']) },
        });
        if (put.status !== 200 || (await headId(database)) !== id || (await storedBody(database, id)) !== body)
          throw new Error(`PUT(GET) changed something: ${put.text.slice(0, 300)}`);
        if (put.headers['etag'] !== read.headers['etag']) throw new Error('the ETag changed');
        return true;
      }),
      { numRuns: 60 },
    );
    t.ok(runs >= 60);
  });
  await t.test('a PUT that knows fewer fields wipes none; an unknown or impossible one saves nothing', async (t) => {
    await at.call('PATCH', '/api/settings', {
      token,
      body: { rl_events: 77, paranoia_level: 1, auth_alg: 'HS256', auth_secret: 'kept' },
    });
    const before = await headId(database);
    const put = await at.call('PUT', '/api/settings', { token, body: { paranoia_level: 3 } });
    t.match(put, { status: 200, body: { rl_events: 77, paranoia_level: 3, auth_secret: '********' } });
    t.equal(await headId(database), before + 1);
    for (const [body, status, path] of [
      [{ paranoia_level: 9, mode: 'On' }, 400, '/paranoia_level'],
      [{ rl_events: 5, nope: 1 }, 400, '/nope'],
      [{ rl_events: 5, ai_risk_threshold: 0 }, 422, '/ai_risk_threshold'],
      [{ sso_client_secret: '********', sso_client_id: 'q' }, 422, '/sso_client_secret'],
    ] as const) {
      await at.call('PATCH', '/api/settings', { token, body: { sso_client_secret: null } });
      const [id, was] = [await headId(database), text((await get(at, token)).body)];
      const reply = await at.call('PUT', '/api/settings', { token, body });
      t.match(reply, { status, body: { errors: [{ path }] } }, reply.text.slice(0, 200));
      t.equal(await headId(database), id);
      t.equal(text((await get(at, token)).body), was, 'not even the possible half');
    }
    t.match(await at.call('PUT', '/api/settings', { token, body: [] }), { status: 400 });
    t.match(
      await at.call('PATCH', '/api/settings', { token, body: { paranoia_level: null } }),
      { status: 200, body: { paranoia_level: 1 } },
      'null restores the default',
    );
    t.equal(
      (
        await at.call('PATCH', '/api/settings', {
          token,
          body: JSON.stringify({ mode: 'On' }),
          headers: { 'content-type': 'application/merge-patch+json' },
        })
      ).status,
      200,
    );
  });
  await t.test('two writers: exactly one wins, the other gets 412 and loses nothing', async (t) => {
    for (let round = 0; round < 5; round++) {
      const etag = String((await get(at, token)).headers['etag']);
      const [a, b] = await Promise.all(
        [1, 2].map((n) =>
          at.call('PATCH', '/api/settings', {
            token,
            body: { inbound_threshold: 100 * (round + 1) + n },
            headers: { 'if-match': etag },
          }),
        ),
      );
      t.same([a?.status, b?.status].sort(), [200, 412]);
      const [won, lost] = a?.status === 200 ? [a, b] : [b, a];
      const now = await get(at, token);
      t.equal(now.body['inbound_threshold'], won?.body['inbound_threshold']);
      t.equal(lost?.headers['etag'], now.headers['etag'], 'the loser learns the current ETag');
    }
    await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        at.call('PATCH', '/api/settings', {
          token,
          body: { [`flood_${['global', 'burst'][i % 2]}_events`]: 1000 + i },
        }),
      ),
    );
    const both = (await get(at, token)).body;
    t.ok(
      both['flood_global_events'] >= 1000 && both['flood_burst_events'] >= 1000,
      'without If-Match patches of different fields both stay',
    );
  });
  await t.test('secrets never leave: not in answers, versions, diffs, audit or the stored text', async (t) => {
    await at.call('PATCH', '/api/settings', {
      token,
      body: {
        auth_secret: 'Very-Secret-1',
        siem_connectors: [{ name: 'hec', kind: 'webhook', target: 'https://x.example', token: 'Very-Secret-2' }],
      },
    });
    await at.call('PATCH', '/api/settings', { token, body: { auth_secret: 'Very-Secret-3' } });
    const id = await headId(database);
    for (const url of [
      '/api/settings',
      '/api/config/versions',
      `/api/config/versions/${id}`,
      `/api/config/diff?from=${id - 1}&to=${id}`,
      '/api/audit',
      '/api/audit/export',
    ])
      t.notMatch((await at.call('GET', url, { token })).text, /Very-Secret|sealed:/, url);
    t.match(
      (await at.call('GET', `/api/config/diff?from=${id - 1}&to=${id}`, { token })).body['changes'],
      [{ path: '/auth_secret', kind: 'changed' }],
      'but a changed secret shows as changed',
    );
    t.notMatch(JSON.stringify(await database.sql`select * from settings_versions`), /Very-Secret/);
  });
  await t.test('governance by field', async (t) => {
    const operator = await at.user('operator');
    const read = await get(at, operator.token);
    t.equal(
      (await at.call('PUT', '/api/settings', { token: operator.token, body: { ...read.body, paranoia_level: 4 } }))
        .status,
      200,
      'the whole object back with a tuned field',
    );
    const denied = await at.call('PUT', '/api/settings', {
      token: operator.token,
      body: {
        ...read.body,
        paranoia_level: 2,
        retention_audit_days: 1,
        sites: [],
        siem_webhook_url: 'https://evil.example',
      },
    });
    t.match(denied, { status: 403, body: { code: 'field_denied' } });
    t.same(
      (denied.body['errors'] as { path: string }[])
        .map((e) => e.path)
        .sort()
        .filter((p) => p !== '/sites'),
      ['/retention_audit_days', '/siem_webhook_url'],
    );
    t.equal((await get(at, token)).body['paranoia_level'], 4, 'the tuned half was not saved either');
  });
  t.match(await at.parts.audit.verify(database.sql), { ok: true });
  await at.close();
}

async function versions(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const { token } = await at.user('admin');
  const patch = (body: object) => at.call('PATCH', '/api/settings', { token, body });
  await t.test('apply: active only after success, dry run and refusals change nothing', async (t) => {
    await patch({ paranoia_level: 2, auth_secret: 'plain' });
    const dry = await at.call('POST', '/api/apply?dry_run=true', { token });
    t.match(dry, { status: 200, body: { applied: false, dry_run: true, generation: null, version: 2 } });
    t.match(await readState(database.sql), { activeId: null, pendingId: null, generation: 0 });
    at.nextOutcome = async (request) => {
      await request.markPending({ artifactSha256: 'cd'.repeat(32), managedSha256: '' });
      return { kind: 'failed', reason: 'node 2 refused', nodes: [] };
    };
    t.match(await at.call('POST', '/api/apply', { token }), { status: 502, body: { code: 'apply_failed', nodes: [] } });
    t.match(await readState(database.sql), { activeId: null, pendingId: null });
    at.nextOutcome = async () => ({
      kind: 'refused',
      reason: 'rule 1000000 does not parse',
      diagnostics: [{ severity: 'error', code: 'X', message: 'm', file: 'custom', line: 1, column: 2, excerpt: 'e' }],
    });
    t.match(await at.call('POST', '/api/apply', { token }), {
      status: 422,
      body: { code: 'apply_refused', diagnostics: [{ line: 1 }] },
    });
    at.nextOutcome = null;
    t.match(await at.call('POST', '/api/apply', { token }), { status: 200, body: { applied: true, version: 2 } });
    t.match(await readState(database.sql), { activeId: 2, pendingId: null });
    at.nextOutcome = async (request) => {
      await request.markPending({ artifactSha256: 'cd'.repeat(32), managedSha256: 'ee' });
      return { kind: 'failed', reason: 'node 2 refused', nodes: [] };
    };
    t.equal((await at.call('POST', '/api/apply', { token })).status, 502);
    t.match(
      await findVersion(database.sql, 2),
      { artifactSha256: 'ab'.repeat(32), managedSha256: '', generation: 2 },
      'applied again in vain, it stays what it was',
    );
    t.match(await readState(database.sql), {
      activeId: 2,
      pendingId: null,
      pendingArtifactSha256: null,
      pendingManagedSha256: null,
    });
    at.nextOutcome = null;
    const given = at.applied.at(-1)?.version;
    t.not(given?.settings.auth_secret, 'plain', 'the road gets secrets sealed');
    t.equal(
      given === undefined ? null : revealSecrets(given.settings, at.parts.sealing).auth_secret,
      'plain',
      'and opens them itself',
    );
    await patch({ paranoia_level: 3 });
    await at.call('POST', '/api/apply', { token });
    t.match(at.applied.at(-1), {
      active: { settings: { paranoia_level: 2 } },
      version: { settings: { paranoia_level: 3 } },
    });
    let inside = 0;
    let most = 0;
    at.nextOutcome = async () => {
      most = Math.max(most, ++inside);
      await new Promise((resolve) => setTimeout(resolve, 10));
      inside--;
      return activeOutcome;
    };
    await Promise.all([1, 2, 3].map(() => at.call('POST', '/api/apply', { token })));
    t.equal(most, 1, 'one apply at a time');
    at.nextOutcome = async (request) => {
      await request.markPending({ artifactSha256: 'ef'.repeat(32), managedSha256: '' });
      throw new Error('the process dies here');
    };
    t.equal((await at.call('POST', '/api/apply', { token })).status, 500);
    t.match(await readState(database.sql), { activeId: 3, pendingId: 3 }, 'a crash leaves the mark to heal by');
    at.nextOutcome = null;
    await at.call('POST', '/api/apply', { token });
  });
  await t.test('fifty are kept, the active one never goes, any of them comes back byte for byte', async (t) => {
    await patch({ rl_events: 1000, sites: [{ name: 'one', prefix: '/', upstream: 'http://10.0.0.1' }] });
    await at.call('POST', '/api/apply', { token });
    const active = (await readState(database.sql)).activeId ?? 0;
    for (let i = 0; i < 60; i++) await patch({ rl_events: 2000 + i, auth_secret: `secret-${i}` });
    const seen: number[] = [];
    for (let cursor: string | null = null; ; ) {
      const page: { body: Record<string, any> } = await at.call(
        'GET',
        `/api/config/versions?limit=20${cursor === null ? '' : `&cursor=${cursor}`}`,
        { token },
      );
      seen.push(...(page.body['items'] as { id: number }[]).map((v) => v.id));
      cursor = page.body['next_cursor'] as string | null;
      if (cursor === null) break;
    }
    t.equal(seen.length, 51, 'fifty newest and the active one');
    t.ok(seen.includes(active));
    t.same(
      seen,
      [...seen].sort((a, b) => b - a),
    );
    const bodies = new Map(await Promise.all(seen.map(async (id) => [id, await storedBody(database, id)] as const)));
    let restored = 0;
    for (const id of seen.slice(0, 50)) {
      const reply = await at.call('POST', '/api/config/rollback', { token, body: { version: id } });
      if (reply.status === 404) continue; // pushed out by the rollbacks before it
      if (reply.status !== 200 || (await storedBody(database, await headId(database))) !== bodies.get(id))
        t.fail(`version ${id}: ${reply.text}`);
      if ((await readState(database.sql)).activeId !== (await headId(database))) t.fail(`version ${id} is not live`);
      restored++;
    }
    t.ok(restored >= 25, `${restored} versions restored`);
    t.equal((await database.sql`select count(*) as n from settings_versions`)[0]?.['n'], 50);
    const audit = await at.call('GET', '/api/audit?action=config.rollback&limit=500', { token });
    t.ok((audit.body['items'] as unknown[]).length >= restored - 1, 'audited');
    t.equal((await at.call('POST', '/api/config/rollback', { token, body: { version: 999999 } })).status, 404);
    const operator = await at.user('operator');
    const [current] = await database.sql`select head_id from settings_state`;
    await patch({ retention_audit_days: 99 });
    t.match(
      await at.call('POST', '/api/config/rollback', { token: operator.token, body: { version: current?.['head_id'] } }),
      { status: 403, body: { code: 'field_denied' } },
      'a rollback is no way around governance',
    );
  });
  await at.close();
}

async function licensing(t: Test, database: Database): Promise<void> {
  const vendor = makeKeyPair(2048);
  const at = await startTestApp(database, { licencePublicKey: vendor.publicKey });
  const { token } = await at.user('admin');
  const sites = (n: number) =>
    Array.from({ length: n }, (_, i) => ({
      name: `s${i}`,
      prefix: i === 0 ? '/' : `/s${i}`,
      upstream: 'http://10.0.0.1',
    }));
  const save = (n: number, over: object = {}) =>
    at.call('PATCH', '/api/settings', { token, body: { sites: sites(n).map((site) => ({ ...site, ...over })) } });
  const key = signLicence(
    {
      customer: 'Example',
      max_domains: 3,
      issued: '2026-01-01T00:00:00Z',
      expires: '2026-04-01T00:00:00Z',
      edition: 'pro',
    },
    vendor.privateKey,
  );
  t.match((await at.call('GET', '/api/license', { token })).body, {
    state: 'trial',
    used_domains: 0,
    allowed_domains: 1,
  });
  t.equal((await save(1)).status, 200);
  t.match(await save(2), { status: 403, body: { code: 'licence_allowance' } });
  const forged = signLicence(
    { customer: 'Example', max_domains: 300, issued: '2026-01-01T00:00:00Z', expires: null, edition: 'pro' },
    makeKeyPair(2048).privateKey,
  );
  t.match(await at.call('POST', '/api/license', { token, body: { key: forged } }), {
    status: 422,
    body: { code: 'licence_rejected' },
  });
  t.match((await at.call('GET', '/api/license', { token })).body, { state: 'trial' });
  t.match(await at.call('POST', '/api/license', { token, body: { key } }), {
    status: 200,
    body: { state: 'valid', allowed_domains: 3, customer: 'Example', edition: 'pro' },
  });
  t.match(await at.call('POST', '/api/license', { token, body: { key: forged } }), { status: 422 });
  t.match(
    (await at.call('GET', '/api/license', { token })).body,
    { state: 'valid' },
    'a forged key does not displace a good one',
  );
  t.equal((await save(3)).status, 200);
  t.equal((await save(4)).status, 403);
  at.clock.nowMs = Date.parse('2026-05-01T00:00:00Z');
  const later = String((await at.logIn('admin1@example.org')).body['token']);
  const put = (body: object) => at.call('PATCH', '/api/settings', { token: later, body });
  t.match((await at.call('GET', '/api/license', { token: later })).body, {
    state: 'expired',
    used_domains: 3,
    allowed_domains: 1,
  });
  t.equal((await put({ paranoia_level: 2 })).status, 200, 'everything else stays editable');
  t.equal(
    (await put({ sites: sites(3).map((s) => ({ ...s, upstream: 'http://10.0.0.2' })) })).status,
    200,
    'existing sites may change',
  );
  t.equal((await at.call('POST', '/api/apply', { token: later })).status, 200, 'and be applied');
  t.equal(at.applied.at(-1)?.version.settings.sites.length, 3, 'all three stay protected');
  t.equal((await put({ sites: sites(2) })).status, 200, 'removing is allowed');
  t.match(await put({ sites: sites(3) }), { status: 403 }, 'adding again is not');
  const versions = (await at.call('GET', '/api/config/versions', { token: later })).body['items'] as { id: number }[];
  t.match(
    await at.call('POST', '/api/config/rollback', { token: later, body: { version: versions[1]?.id } }),
    { status: 403, body: { code: 'licence_allowance' } },
    'not even by rollback',
  );
  await at.close();
}

async function auditRoutes(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const { token, email } = await at.user('admin');
  for (let i = 0; i < 25; i++) await at.call('PATCH', '/api/settings', { token, body: { rl_events: 100 + i } });
  await database.sql.begin((tx) =>
    at.parts.audit.record(tx, {
      actor: { id: null, name: '=cmd|calc', role: 'system', sourceIp: '2001:db8::1' },
      action: 'licence.reject',
      summary: '=HYPERLINK("http://x")\n"quoted", 100%_sure',
    }),
  );
  const ids: number[] = [];
  for (let cursor: string | null = null; ; ) {
    const page: { body: Record<string, any> } = await at.call(
      'GET',
      `/api/audit?action=settings.&limit=10${cursor === null ? '' : `&cursor=${cursor}`}`,
      { token },
    );
    ids.push(...(page.body['items'] as { id: number }[]).map((e) => e.id));
    cursor = page.body['next_cursor'] as string | null;
    if (ids.length === 10) await at.call('PATCH', '/api/settings', { token, body: { rl_events: 9999 } });
    if (cursor === null) break;
  }
  t.equal(new Set(ids).size, 25, 'an entry that arrives while paging is neither repeated nor in the way');
  const find = async (query: string) =>
    (await at.call('GET', `/api/audit?${query}`, { token })).body['items'] as Record<string, any>[];
  t.match((await find('action=login'))[0], { actor: email, role: 'admin', source_ip: '192.0.2.10' });
  t.equal((await find('source_ip=2001:db8::1')).length, 1);
  t.equal((await find('q=100%25_SURE')).length, 1, 'wildcards are taken literally');
  t.equal((await find('q=100x')).length, 0);
  t.equal((await find('role=system&from=2026-01-01&to=2026-12-31T00:00:00Z')).length, 1);
  t.equal((await find('from=2027-01-01')).length, 0);
  t.match((await find('action=settings.update&limit=1'))[0]?.['summary'], /rl_events: 124 → 9999/);
  const csv = await at.call('GET', '/api/audit/export?action=licence.reject', { token });
  t.match(csv.headers['content-type'], /text\/csv/);
  t.match(
    csv.text,
    /,'=cmd\|calc,system,2001:db8::1,licence\.reject,"'=HYPERLINK\(""http:\/\/x""\)\n""quoted"", 100%_sure"/,
  );
  t.match((await at.call('GET', '/api/audit/verify', { token })).body, { ok: true, first_broken: null });
  await database.sql`update audit_entries set summary = 'nothing' where id = 3`;
  t.match((await at.call('GET', '/api/audit/verify', { token })).body, {
    ok: false,
    first_broken: { id: 3, reason: 'the entry was changed' },
  });
  await at.close();
}

t.test('round trips', (t) => onBothDatabases(t, 'settings', roundTrips));
t.test('versions', (t) => onBothDatabases(t, 'versions', versions));
t.test('licensing', (t) => onBothDatabases(t, 'licensing', licensing));
t.test('audit', (t) => onBothDatabases(t, 'audit routes', auditRoutes));
