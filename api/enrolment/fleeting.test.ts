// Nodes that come and go: tokens for several nodes, the shared secret, leaving, being forgotten and coming back.
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { authorityProof } from '#proxy/contract';
import type { Database } from '../db/client.js';
import { ask, blockWord } from '../testing/change-road.js';
import { planeModule, startUpstream } from '../testing/data-plane.js';
import { onBothDatabases, onOneDatabase } from '../testing/databases.js';
import { enrol, startEnrolled, startFleetPlane, type FleetPlane } from '../testing/servers/fleet.js';
import { makeDirectory } from '../testing/temporary.js';
import { until } from '../testing/waiting.js';
import { createForgetJob } from './fleeting.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 12) });
const minuteMs = 60_000;
const secret = 'of-the-whole-installation-0123456789';
type Token = string | { readonly secret: string };

async function joiner(t: Test, plane: FleetPlane) {
  const { IdentityStore, joinFleet, leaveFleet, isStillMember } = await planeModule();
  return {
    async join(name: string, token: Token, at = plane) {
      const dataDir = await makeDirectory(t, name);
      await joinFleet({ dataDir, addresses: [at.address], token, name, labels: {} });
      const identity = () => {
        const found = IdentityStore.read(dataDir);
        if (found === null) throw new Error(`${name} has no identity`);
        return found;
      };
      return {
        leave: () => leaveFleet(dataDir, identity()),
        isMember: () => isStillMember(identity()),
        hasIdentity: () => IdentityStore.read(dataDir) !== null,
      };
    },
  };
}

const namesAt = async (plane: FleetPlane): Promise<unknown[]> => {
  const { body } = await plane.call('GET', '/api/nodes/enrolled', { token: plane.admin });
  return (body['items'] as { name: unknown }[]).map(({ name }) => name);
};

async function several(t: Test, database: Database): Promise<void> {
  const plane = await startFleetPlane(t, database, await startUpstream(t));
  const { join } = await joiner(t, plane);
  const token = await plane.makeToken({ nodes_max: 2, labels: { ring: 'main' }, expires_in_minutes: 20_000 });
  await join('pod-a', token);
  const second = await join('pod-b', token);
  await t.rejects(join('pod-c', token), { message: /2 nodes belong to the fleet by this token, and it is for 2/ });
  t.match((await plane.call('GET', '/api/nodes/enrolled', { token: plane.admin })).body['items'], [
    { name: 'pod-a', labels: { ring: 'main' }, comes_and_goes: true },
    { name: 'pod-b', comes_and_goes: true },
  ]);
  t.match((await plane.call('GET', '/api/nodes/tokens', { token: plane.admin })).body['items'], [
    { nodes_max: 2, nodes: 2, used_at: null, forget_after_minutes: null },
  ]);
  t.equal(await second.leave(), true);
  t.equal(second.hasIdentity(), false, 'who left is none any more');
  t.same(await namesAt(plane), ['pod-a'], 'its place is free');
  await join('pod-c', token);
  t.same(await namesAt(plane), ['pod-a', 'pod-c']);

  const own = await join('machine', await plane.makeToken());
  t.equal(await own.leave(), false, 'a node that an operator added stays');
  t.equal(own.hasIdentity(), true);
  t.equal(await own.isMember(), true);
  await plane.call('POST', '/api/nodes/enrolled/machine/revoke', { token: plane.admin });
  t.equal(await own.isMember(), false, 'a revoked node learns it at its next start');
  const actions = await database.sql<{ action: string }[]>`
    select action from audit_entries where action in ('nodes.leave', 'nodes.join')`;
  t.equal(actions.filter(({ action }) => action === 'nodes.leave').length, 1);

  const made = (body: object) => plane.call('POST', '/api/nodes/tokens', { token: plane.admin, body });
  for (const [what, body, status] of [
    ['forgetting without several nodes', { forget_after_minutes: 10 }, 422],
    ['two weeks for one node', { expires_in_minutes: 20_000 }, 422],
    ['more than a year', { nodes_max: 2, expires_in_minutes: 525_601 }, 400],
    ['no node', { nodes_max: 0 }, 400],
    ['too many', { nodes_max: 1001 }, 400],
    ['forgetting at once', { nodes_max: 2, forget_after_minutes: 1 }, 400],
  ] as const)
    t.match(await made(body), { status }, what);
}

async function forgetting(t: Test, database: Database): Promise<void> {
  const plane = await startFleetPlane(t, database, await startUpstream(t));
  const { join } = await joiner(t, plane);
  const token = await plane.makeToken({ nodes_max: 1, forget_after_minutes: 5 });
  const pod = await join('pod-a', token);
  await join('machine', await plane.makeToken());
  const { audit } = plane.parts;
  const begun = Date.now();
  const run = (sinceMs: number, nowMs: number): Promise<string> =>
    createForgetJob({ database, audit, now: () => sinceMs }).run({ nowMs, signal: AbortSignal.timeout(60_000) });
  t.equal(await run(begun, begun + 4 * minuteMs), 'every node was heard of');
  t.equal(
    await run(begun + 10 * minuteMs, begun + 11 * minuteMs),
    'every node was heard of',
    'the leader was away, too',
  );
  t.match(await run(begun, begun + 6 * minuteMs), /forgot 1 nodes .*pod-a/);
  t.same(await namesAt(plane), ['machine'], 'only nodes that come and go are forgotten');
  const [row] = await database.sql<{ summary: string }[]>`
    select summary from audit_entries where action = 'nodes.forget'`;
  t.match(row?.summary, /pod-a/);
  t.equal(await pod.isMember(), true, 'one that comes back');
  t.same(await namesAt(plane), ['machine', 'pod-a'], 'belongs again');
  await run(begun, begun + 60 * minuteMs);
  await join('pod-a', token);
  t.same(await namesAt(plane), ['machine', 'pod-a'], 'a machine that is made anew gets its name back');
  t.equal(await pod.isMember(), false, 'and what it was before is none any more');
  await run(begun, begun + 40 * 24 * 60 * minuteMs);
  const rows = await database.sql<{ name: string }[]>`select name from enrolled_nodes order by name`;
  t.same(
    rows.map(({ name }) => name),
    ['machine', 'pod-a'],
    'what ended long ago is cleared away',
  );
}

async function sharing(t: Test, database: Database): Promise<void> {
  const upstream = await startUpstream(t);
  const shared = { secret, nodesMax: 2, forgetAfterMinutes: 30 };
  const plane = await startFleetPlane(t, database, upstream, { shared });
  const { join } = await joiner(t, plane);
  await join('pod-a', { secret });
  t.match((await plane.call('GET', '/api/nodes/tokens', { token: plane.admin })).body['items'], [
    { id: 'shared-secret', nodes_max: 2, forget_after_minutes: 30, nodes: 1, created_by: 'NODES_JOIN_SECRET' },
  ]);
  const wrong = { secret: secret.replace('o', 'O') };
  await t.rejects(join('pod-b', wrong), { message: /did not prove that it knows NODES_JOIN_SECRET/ });
  const next = { ...shared, secret: `${secret}-next` };
  const second = await startFleetPlane(t, database, upstream, { shared: next });
  await join('pod-b', { secret: next.secret }, second);
  await t.rejects(
    join('pod-c', { secret }),
    { message: /unknown, expired/ },
    'a new secret takes the place of the old',
  );
  await t.rejects(join('pod-c', { secret: next.secret }, second), { message: /raise NODES_JOIN_MAX/ });
  const without = await startFleetPlane(t, database, upstream);
  await t.rejects(join('pod-d', { secret }, without), { message: /NODES_JOIN_SECRET is not set/ });
  t.same(await namesAt(plane), ['pod-a', 'pod-b'], 'who joined stays');
}

async function firstNode(t: Test, database: Database): Promise<void> {
  const upstream = await startUpstream(t);
  const plane = await startFleetPlane(t, database, upstream, { isOnlyWay: true });
  const node = await startEnrolled(t, upstream, await enrol(t, plane, 'pod-a'));
  await until('the first node serves without an apply', async () => (await ask(node, '/?q=x')) === 200);
  await plane.patch({ custom_rules: [blockWord(1_000_001, 'plugh')] });
  const second = await startEnrolled(t, upstream, await enrol(t, plane, 'pod-b'));
  await until('the second one gets the same', async () => (await ask(second, '/?q=plugh')) === 200);
  t.equal(await ask(second, '/?q=plugh'), 200, 'what is saved and not applied is not in force');
  const applied = await database.sql<{ actor: string }[]>`
    select actor from audit_entries where action = 'config.apply'`;
  t.same(applied, [{ actor: 'system' }]);
}

t.test('the first node', (t) => onOneDatabase(t, 'a first node', firstNode));
t.test('tokens for several nodes', (t) => onBothDatabases(t, 'tokens for several nodes', several));
t.test('forgetting', (t) => onOneDatabase(t, 'nodes that are away are forgotten', forgetting));
t.test('the shared secret', (t) => onOneDatabase(t, 'nodes join by a secret', sharing));

t.test('a proof is worth something for one secret, one nonce and one CA', async () => {
  const word = fc.string({ minLength: 32, maxLength: 64 });
  fc.assert(
    fc.property(word, word, fc.nat(2), (one, other, at) => {
      fc.pre(one !== other);
      const given = [one, randomBytes(32).toString('base64url'), randomBytes(32).toString('base64url')] as const;
      const changed = given.map((part, index) => (index === at ? other : part)) as [string, string, string];
      return (
        authorityProof(...given) === authorityProof(...given) && authorityProof(...given) !== authorityProof(...changed)
      );
    }),
    { numRuns: 50 },
  );
});
