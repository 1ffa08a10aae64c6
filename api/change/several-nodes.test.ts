// Nodes that were away, and artifacts of another release.
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { readState } from '../settings/state.js';
import { findVersion } from '../settings/store.js';
import { ask, blockWord, startRoad, type Road } from '../testing/change-road.js';
import { startNode, startUpstream } from '../testing/data-plane.js';
import { onBothDatabases } from '../testing/databases.js';
import { freePort } from '../testing/free-port.js';
import { makeDirectory } from '../testing/temporary.js';

async function severalNodes(t: Test, database: Database): Promise<void> {
  const upstream = await startUpstream(t);
  const port = await freePort();
  const [one, dataDir] = [await startNode(t, { upstream }), await makeDirectory(t, 'away')];
  const away = `http://127.0.0.1:${port}`;
  const road = await startRoad(t, database, upstream, [one.url, away]);
  const nodes = async (): Promise<Record<string, unknown>[]> =>
    (await road.call('GET', '/api/nodes', { token: road.admin })).body['items'];

  await road.patch({ custom_rules: [blockWord(1_000_001, 'plugh')] });
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
  await road.patch({ custom_rules: [blockWord(1_000_001, 'xyzzy')] });
  await road.apply();
  t.match(
    (await nodes()).find((node) => node['url'] === away),
    { state: 'unreachable', version: 2 },
  );
  two = await startNode(t, { upstream, adminPort: port, dataDir, resume: true });
  t.equal(await ask(two, '/?q=plugh'), 403, 'it resumes what it had');
  const hello = await road.call('POST', '/api/dataplane/hello', { token: road.parts.nodeToken, body: { node: 'two' } });
  t.match(hello, { status: 200, body: { nodes: /now serves version 3/ } }, 'R12: a node that says it is there');
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
  await road.patch({ custom_rules: [blockWord(1_000_001, 'plugh')] });
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
  await road.patch({ custom_rules: [blockWord(1_000_001, 'xyzzy')] });
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

t.test('several nodes', (t) => onBothDatabases(t, 'several nodes', severalNodes));
t.test('after an update', (t) => onBothDatabases(t, 'artifacts of another release', afterUpdate));
