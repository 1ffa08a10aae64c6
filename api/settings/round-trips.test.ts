import t, { type Test } from 'tap';
import fc from 'fast-check';
import { toCanonicalJson } from '../audit/canonical-json.js';
import type { Database } from '../db/client.js';
import { startTestApp, type TestApp } from '../testing/app.js';
import { arbitraryChange } from '../testing/arbitrary-settings.js';
import { onBothDatabases } from '../testing/databases.js';
import { headId, storedBody } from '../testing/settings.js';
import { applyMergePatch } from './merge-patch.js';
import { settingNames } from '#settings';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_121) });

const text = toCanonicalJson;
const get = async (at: TestApp, token: string) => at.call('GET', '/api/settings', { token });

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
      body: { rl_events: 77, paranoia_level: 1, auth_alg: 'HS256', auth_secret: `kept${'-'.repeat(32)}` },
    });
    const before = await headId(database);
    const put = await at.call('PUT', '/api/settings', { token, body: { paranoia_level: 3 } });
    t.match(put, { status: 200, body: { rl_events: 77, paranoia_level: 3, auth_secret: '********' } });
    t.equal(await headId(database), before + 1);
    for (const [body, status, path] of [
      [{ paranoia_level: 9, mode: 'On' }, 400, '/paranoia_level'],
      [{ rl_events: 5, nope: 1 }, 400, '/nope'],
      [{ rl_events: 5, ai_risk_threshold: 0 }, 400, '/ai_risk_threshold'],
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
  t.match(await at.parts.audit.verify(database.sql), { ok: true });
  await at.close();
}

t.test('round trips', (t) => onBothDatabases(t, 'settings', roundTrips));
