// What an apply would change, and what brings a change back: a dry run, an activation that was interrupted, a rollback.
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { clearPending, markPending, readState } from '../settings/state.js';
import { ask, attack, blockWord, startRoad } from '../testing/change-road.js';
import { startNode, startUpstream } from '../testing/data-plane.js';
import { onBothDatabases } from '../testing/databases.js';

async function thereAndBack(t: Test, database: Database): Promise<void> {
  const upstream = await startUpstream(t);
  const node = await startNode(t, { upstream });
  const road = await startRoad(t, database, upstream, [node.url]);
  t.equal((await road.apply()).status, 200);

  await t.test(
    'a dry run shows whom it would hit and touches nothing; U14: without an impact it says why',
    async (t) => {
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
      const stored = await database.sql<{ body: string }[]>`select body from request_samples`;
      t.notMatch(
        stored.map((row) => Buffer.from(row.body, 'base64').toString()).join(),
        /hunter2|abc123/,
        'nothing sensitive is stored',
      );
      const before = await node.status();
      await road.patch({ custom_rules: [blockWord(1_000_001, 'grue')], categories: { sqli: { enabled: false } } });
      const dry = await road.apply('?dry_run=true');
      t.match(
        dry.body,
        {
          applied: false,
          dry_run: true,
          generation: null,
          impact: { replayed: 24, newly_blocked: 2, newly_allowed: 1 },
        },
        dry.text,
      );
      const { newly_blocked_examples: blocked, newly_allowed_examples: allowed } = dry.body['impact'];
      t.same(blocked.map((row: { request_id: string }) => row.request_id).sort(), ['r2', 'r4']);
      t.match(blocked[0].rule_ids, [1_000_001]);
      t.match(allowed, [{ request_id: 'r3', rule_ids: [942_100] }]);
      t.notMatch(dry.text, /hunter2/);
      t.equal((await node.status())['generation'], before['generation']);
      const ofActive = async (sha256: string | null) => {
        const { activeId } = await readState(database.sql);
        const [was] = await database.sql<{ artifact_sha256: string }[]>`
        select artifact_sha256 from settings_versions where id = ${activeId}`;
        await database.sql`update settings_versions set artifact_sha256 = ${sha256} where id = ${activeId}`;
        return was?.artifact_sha256 ?? null;
      };
      t.equal(dry.body['impact_missing'], null);
      const kept = await ofActive('0'.repeat(64));
      t.match((await road.apply('?dry_run=true')).body, {
        impact: null,
        impact_missing: /gone, damaged or of another/,
      });
      await ofActive(null);
      t.match((await road.apply('?dry_run=true')).body, { impact: null, impact_missing: /older program/ });
      await ofActive(kept);
      t.match((await road.apply()).body, { impact: { newly_blocked: 2, newly_allowed: 1 }, impact_missing: null });
      await road.patch({ custom_rules: [], categories: { sqli: { enabled: true } } });
      await road.apply();
    },
  );

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
    await road.patch({ custom_rules: [blockWord(1_000_001, 'frotz')] });
    const first = await road.apply();
    await road.patch({ custom_rules: [blockWord(1_000_001, 'blorb')] });
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
}

t.test('there and back', (t) => onBothDatabases(t, 'there and back', thereAndBack));
