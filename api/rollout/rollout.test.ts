// Rollouts over real nodes: a canary ring of one, and two others, all enrolled over tunnels.
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { ask, blockWord } from '../testing/change-road.js';
import { startUpstream, type TestNode } from '../testing/data-plane.js';
import { onOneDatabase } from '../testing/databases.js';
import { enrol, startEnrolled, startFleetPlane, type FleetPlane } from '../testing/servers/fleet.js';
import { testMsMax, until } from '../testing/waiting.js';

t.setTimeout(testMsMax);

const names = ['canary-1', 'main-1', 'main-2'] as const;
interface Fleet {
  readonly plane: FleetPlane;
  readonly nodes: readonly TestNode[];
  readonly upstream: string;
}

async function start(t: Test, database: Database): Promise<Fleet> {
  const upstream = await startUpstream(t);
  const plane = await startFleetPlane(t, database, upstream);
  const nodes: TestNode[] = [];
  for (const name of names) {
    const dataDir = await enrol(t, plane, name);
    nodes.push(await startEnrolled(t, upstream, dataDir));
  }
  const labels = { labels: { ring: 'canary', region: 'eu' } };
  await plane.call('PUT', '/api/nodes/enrolled/canary-1/labels', { token: plane.admin, body: labels });
  await until('all nodes are connected', () => names.every((name) => plane.isConnected(name)));
  await plane.patch({ custom_rules: [blockWord(1_000_001, 'plugh')] });
  t.match(await plane.apply(), { status: 200 });
  return { plane, nodes, upstream };
}

const answers = (nodes: readonly TestNode[], word: string): Promise<number[]> =>
  Promise.all(nodes.map((node) => ask(node, `/?q=${word}`)));

async function traffic(nodes: readonly TestNode[], count: number, path = '/?q=hello'): Promise<void> {
  for (let done = 0; done < count; done += 10)
    await Promise.all(
      nodes.flatMap((node) =>
        Array.from({ length: 10 }, async () => {
          const answer = await fetch(`http://127.0.0.1:${node.http}${path}`);
          await answer.arrayBuffer();
        }),
      ),
    );
}

const current = async ({ plane }: Fleet): Promise<Record<string, unknown>> =>
  (await plane.call('GET', '/api/rollouts', { token: plane.admin })).body['items'][0];
const actions = async ({ sql }: Database): Promise<string[]> =>
  (
    await sql<{ action: string }[]>`
      select action from audit_entries where action like 'rollout.%' or action = 'config.apply' order by id`
  ).map(({ action }) => action);

const quick = { hold_seconds: 2, requests_min: 40 };

async function badRule(t: Test, database: Database): Promise<void> {
  const fleet = await start(t, database);
  const { plane, nodes } = fleet;
  const post = (path: string, body?: object) => plane.call('POST', path, { token: plane.admin, ...(body && { body }) });
  await plane.patch({ custom_rules: [blockWord(1_000_001, 'hello')] });
  const refused = await post('/api/rollouts', { rings: ['nightly'] });
  t.match(refused, { status: 422, body: { detail: /No node has the label ring=nightly/ } });
  const started = await post('/api/rollouts', quick);
  t.match(started, { status: 201, body: { ring: 'canary', nodes: ['node:canary-1'] } }, started.text);
  t.same(await answers(nodes, 'hello'), [403, 200, 200], 'one node has it');
  t.match(await plane.apply(), { status: 409, body: { detail: /A rollout is under way/ } });
  t.match(await post('/api/rollouts', quick), { status: 409 });
  const versions = async () => (await plane.call('GET', '/api/config/versions', { token: plane.admin })).body['items'];
  const before = (await versions()) as { id: number }[];
  const back = { version: before.at(-1)?.id };
  t.match(await post('/api/config/rollback', back), { status: 409, body: { detail: /A rollout is under way/ } });
  t.same(await versions(), before, 'a rollback that is refused has changed nothing');
  const listed = await plane.call('GET', '/api/nodes', { token: plane.admin });
  t.match(listed.body['items'], [{ state: 'active' }, { state: 'active' }, { state: 'active' }]);
  t.match(await plane.link.reconcileNodes(plane.parts.audit), '3 of 3 nodes answer', 'the canary is left alone');
  t.same(await answers(nodes, 'hello'), [403, 200, 200]);

  await traffic(nodes, 100);
  await until('it is stopped', async () => (await current(fleet))['status'] === 'stopped');
  t.match(await current(fleet), { reason: /blocked: .* against .* on the other nodes/, nodes: ['node:canary-1'] });
  await until('the canary is back', async () => (await ask(nodes[0] as TestNode, '/?q=hello')) === 200);
  t.same(await answers(nodes, 'plugh'), [403, 403, 403], 'what served before serves');
  t.match(await plane.link.reconcileNodes(plane.parts.audit), '3 of 3 nodes answer', 'and nothing is left to do');
  t.same(await actions(database), ['config.apply', 'rollout.start', 'rollout.stop']);
  t.match(await post('/api/rollouts/stop'), { status: 404 });
}

async function goodRule(t: Test, database: Database): Promise<void> {
  const fleet = await start(t, database);
  const { plane, nodes } = fleet;
  const post = (path: string, body?: object) => plane.call('POST', path, { token: plane.admin, ...(body && { body }) });
  await plane.patch({ custom_rules: [blockWord(1_000_001, 'xyzzy')] });
  t.match(await post('/api/rollouts', quick), { status: 201 });
  t.same(await answers(nodes, 'xyzzy'), [403, 200, 200]);
  await until('it was looked at', async () => (await current(fleet))['seen'] !== null);
  t.match(await current(fleet), { status: 'running', seen: { note: /of 40 requests that a judgement needs/ } });
  await traffic(nodes, 100);
  await until('all nodes have it', async () => (await current(fleet))['status'] === 'finished');
  t.same(await answers(nodes, 'xyzzy'), [403, 403, 403]);
  const listed = await plane.call('GET', '/api/nodes', { token: plane.admin });
  t.match(listed.body, { active_version: 3, items: [{ version: 3 }, { version: 3 }, { version: 3 }] });
  t.match(await plane.apply(), { status: 200, body: { unchanged: true } });
  t.match(await post('/api/rollouts', quick), { status: 409, body: { detail: /serve the saved settings already/ } });

  await plane.patch({ custom_rules: [blockWord(1_000_001, 'frotz')] });
  t.match(await post('/api/rollouts', { hold_seconds: 3600 }), { status: 201 });
  t.match(await post('/api/rollouts/stop'), { status: 200, body: { status: 'stopped', reason: /stopped by/ } });
  t.same(await answers(nodes, 'frotz'), [200, 200, 200], 'an operator takes it back');
  t.match(await post('/api/rollouts', { hold_seconds: 3600 }), { status: 201 });
  t.match(await post('/api/rollouts/continue'), { status: 200, body: { status: 'finished' } });
  t.same(await answers(nodes, 'frotz'), [403, 403, 403], 'an operator goes on');
  t.same(await actions(database), [
    'config.apply',
    'rollout.start',
    'config.apply',
    'rollout.start',
    'rollout.stop',
    'rollout.start',
    'config.apply',
  ]);
  // what a control plane leaves that dies before the first ring has it, and while all others are given it
  await plane.patch({ custom_rules: [blockWord(1_000_001, 'zorkmid')] });
  const { version } = (await post('/api/rollouts', { hold_seconds: 3600 })).body;
  await database.sql`update rollouts set stage = -1, reached = '[]' where status = 'running'`;
  await until('the first ring has it', async () => (await current(fleet))['ring'] === 'canary');
  t.same(await answers(nodes, 'zorkmid'), [403, 200, 200]);
  await database.sql`update rollouts set stage = 1 where status = 'running'`;
  await until('another one finishes it', async () => (await current(fleet))['status'] === 'finished');
  t.same(await answers(nodes, 'zorkmid'), [403, 403, 403]);
  t.match((await plane.call('GET', '/api/nodes', { token: plane.admin })).body, { active_version: version });
  const { token } = await plane.user('viewer');
  t.match(await plane.call('POST', '/api/rollouts', { token, body: {} }), { status: 403 });
}

t.test('a rule that blocks everything', (t) => onOneDatabase(t, 'it stops at the canary ring', badRule));
t.test('a good rule', (t) => onOneDatabase(t, 'it goes on to all', goodRule));
