import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { activeOutcome, startTestApp } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { headId, storedBody } from '../testing/settings.js';
import { revealSecrets } from './secrets.js';
import { readState } from './state.js';
import { findVersion } from './store.js';

async function versions(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  const { token } = await at.user('admin');
  const patch = (body: object) => at.call('PATCH', '/api/settings', { token, body });
  await t.test('apply: active only after success, dry run and refusals change nothing', async (t) => {
    await patch({ paranoia_level: 2, auth_secret: plain });
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
    t.not(given?.settings.auth_secret, plain, 'the road gets secrets sealed');
    t.equal(
      given === undefined ? null : revealSecrets(given.settings, at.parts.sealing).auth_secret,
      plain,
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
    for (let i = 0; i < 60; i++) await patch({ rl_events: 2000 + i, auth_secret: `secret-${i}${'-'.repeat(32)}` });
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

const plain = 'plain-key-of-a-site-0123456789abcdef';

t.test('versions', (t) => onBothDatabases(t, 'versions', versions));
