// Nodes on other machines: enrolment, tunnels, applies over tunnels, revocation, several control planes.
import { once } from 'node:events';
import { request } from 'node:https';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { ask, blockWord } from '../testing/change-road.js';
import { planeModule, startUpstream } from '../testing/data-plane.js';
import { onBothDatabases, onOneDatabase } from '../testing/databases.js';
import { enrol, publicKeyPem, startEnrolled, startFleetPlane } from '../testing/servers/fleet.js';
import { freePort } from '../testing/free-port.js';
import { makeDirectory } from '../testing/temporary.js';
import { until } from '../testing/waiting.js';

interface Asking {
  readonly method?: string;
  readonly body?: unknown;
  readonly tls?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The status of one request to the port of nodes; 0: the connection was refused or cut. */
function askDoor(address: string, path: string, { method = 'POST', body, tls = {}, headers = {} }: Asking = {}) {
  return new Promise<{ status: number; text: string }>((resolve) => {
    const asked = request(new URL(path, address), {
      method,
      agent: false,
      rejectUnauthorized: false,
      headers: { 'content-type': 'application/json', ...headers },
      ...tls,
    });
    asked.once('error', (error) => resolve({ status: 0, text: error.message }));
    asked.once('response', (response) => {
      let text = '';
      response.on('data', (piece: Buffer) => (text += piece.toString()));
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    asked.end(body === undefined ? '' : JSON.stringify(body));
  });
}

async function oneNode(t: Test, database: Database): Promise<void> {
  const upstream = await startUpstream(t);
  const plane = await startFleetPlane(t, database, upstream);
  const nodes = async (): Promise<Record<string, unknown>[]> =>
    (await plane.call('GET', '/api/nodes', { token: plane.admin })).body['items'];
  await plane.patch({ custom_rules: [blockWord(1_000_001, 'plugh')] });
  const dataDir = await enrol(t, plane, 'edge-1');
  const node = await startEnrolled(t, upstream, dataDir);
  await until('the node is connected', () => plane.isConnected('edge-1'));

  t.match(await plane.apply(), { status: 200, body: { nodes: [{ url: 'node:edge-1', state: 'active' }] } });
  t.same([await ask(node, '/?q=plugh'), await ask(node, '/?q=xyzzy')], [403, 200], 'an apply arrives over the tunnel');
  t.match(await nodes(), [{ url: 'node:edge-1', state: 'active', version: 2 }]);
  t.match((await plane.call('GET', '/api/nodes/enrolled', { token: plane.admin })).body, {
    enabled: true,
    items: [{ name: 'edge-1', url: 'node:edge-1', connected: true, labels: {} }],
  });

  const ban = { addresses: ['203.0.113.7'], reason: 'tested' };
  const listed = await plane.call('POST', '/api/threat-intel', { token: plane.admin, body: ban });
  t.ok(listed.status < 300, `the deny list goes the same way: ${listed.text}`);
  await plane.parts.measuresChanged();
  await until('the node has the deny list', async () =>
    JSON.stringify((await node.status())['threats']).includes('"networks":1'),
  );

  const drain = (isDraining: boolean) =>
    plane.call('POST', '/api/nodes/drain', { token: plane.admin, body: { url: 'node:edge-1', drain: isDraining } });
  const readiness = async (): Promise<number> => (await fetch(`${node.url}/readyz`)).status;
  t.equal(await readiness(), 200);
  t.match(await drain(true), { status: 200, body: { draining: true } });
  t.equal(await readiness(), 503, 'a node that is drained asks load balancers to go elsewhere');
  t.match(await nodes(), [{ url: 'node:edge-1', draining: true, state: 'active' }]);
  t.equal(await ask(node, '/?q=xyzzy'), 200, 'and serves who comes');
  t.match(await drain(false), { status: 200 });
  t.equal(await readiness(), 200);

  await node.stop();
  await until('its tunnel is gone', () => !plane.isConnected('edge-1'));
  await plane.patch({ custom_rules: [blockWord(1_000_001, 'xyzzy')] });
  t.match(await plane.apply(), { status: 502, body: { detail: /no data-plane node answers/ } });
  const other = await enrol(t, plane, 'edge-2');
  const second = await startEnrolled(t, upstream, other);
  await until('the other node is connected', () => plane.isConnected('edge-2'));
  t.match(await plane.apply(), { status: 200 });
  const again = await startEnrolled(t, upstream, dataDir);
  await until(
    'a node that was away has what was applied meanwhile',
    async () => (await ask(again, '/?q=xyzzy')) === 403,
  );
  t.equal(await ask(second, '/?q=xyzzy'), 403);

  const name = { token: plane.admin };
  t.match(await plane.call('POST', '/api/nodes/enrolled/edge-2/revoke', name), { status: 200 });
  t.notOk(plane.isConnected('edge-2'), 'a revoked node has no tunnel');
  t.match(await nodes(), [{ url: 'node:edge-1' }], 'and is none of the fleet');
  t.equal(await ask(second, '/?q=xyzzy'), 403, 'it goes on serving what it has');
  t.match(await plane.call('POST', '/api/nodes/enrolled/edge-2/revoke', name), { status: 404 });
  const { IdentityStore } = await planeModule();
  const tls = IdentityStore.read(other)?.tls ?? {};
  for (const path of ['/node/v1/renew', '/api/dataplane/records', '/api/dataplane/hello'])
    t.equal((await askDoor(plane.address, path, { body: {}, tls })).status, 401, `${path} of a revoked node`);
}

const records = (node: string) => ({ node, batch_id: `of ${node}`, requests: [], events: [] });

async function tokens(t: Test, database: Database): Promise<void> {
  const plane = await startFleetPlane(t, database, await startUpstream(t));
  const { joinFleet } = await planeModule();
  const dataDir = await makeDirectory(t, 'joining');
  const given = { dataDir, addresses: [plane.address], name: 'edge', labels: { region: 'eu', ring: 'canary' } };
  const token = await plane.makeToken({ labels: { ring: 'main' } });
  const parts = token.split('.');
  const altered = (index: number): string =>
    parts.map((part, at) => (at === index ? part.replace(/^./, (c) => (c === 'A' ? 'B' : 'A')) : part)).join('.');
  for (const [what, wrong, reason] of [
    ['a token of nothing', 'abc', /not a token/],
    ['another id', altered(1), /unknown, expired/],
    ['another secret', altered(2), /unknown, expired/],
    ['another CA', altered(3), /does not show the CA/],
  ] as const)
    await t.rejects(joinFleet({ ...given, token: wrong }), { message: reason }, what);
  await t.rejects(joinFleet({ ...given, name: 'Ä b', token }), { message: /\/name/ }, 'a name that is none');
  t.match(await joinFleet({ ...given, token }), { name: 'edge' }, 'refusals do not use a token up');
  await t.rejects(joinFleet({ ...given, token }), { message: /has joined already/ });
  const elsewhere = { ...given, dataDir: await makeDirectory(t, 'second') };
  await t.rejects(joinFleet({ ...elsewhere, token }), { message: /used by another node/ }, 'a token is for one node');
  t.match(await joinFleet({ ...elsewhere, token: await plane.makeToken() }), { name: 'edge-2' }, 'names are unique');
  const listed = await plane.call('GET', '/api/nodes/enrolled', { token: plane.admin });
  t.match(listed.body['items'], [
    { name: 'edge', labels: { region: 'eu', ring: 'main' } },
    { name: 'edge-2', labels: { region: 'eu', ring: 'canary' } },
  ]);
  t.notMatch(await readFile(join(dataDir, 'node', 'identity.json'), 'utf8'), plane.parts.nodeToken);

  const join1 = { token: await plane.makeToken(), name: 'again', labels: {}, public_key: publicKeyPem() };
  const first = await askDoor(plane.address, '/node/v1/join', { body: join1 });
  t.equal(first.status, 200, first.text);
  const repeated = await askDoor(plane.address, '/node/v1/join', { body: join1 });
  t.match(JSON.parse(repeated.text), { name: 'again' }, 'an answer that got lost is asked for again with the same key');
  const stolen = { ...join1, public_key: publicKeyPem() };
  t.equal((await askDoor(plane.address, '/node/v1/join', { body: stolen })).status, 401, 'and with no other');
  const fresh = await plane.makeToken();
  for (const [what, body, status] of [
    ['another curve', { ...join1, token: fresh, public_key: publicKeyPem('P-384') }, 422],
    ['no key', { ...join1, token: fresh, public_key: 'x' }, 422],
    ['a field too many', { ...join1, token: fresh, admin: true }, 400],
    ['labels that are none', { ...join1, token: fresh, labels: { 'a b': '1' } }, 400],
    ['no JSON object', 'x', 400],
    ['a large body', { ...join1, token: 'x'.repeat(20_000) }, 413],
  ] as const)
    t.equal((await askDoor(plane.address, '/node/v1/join', { body })).status, status, what);
  t.match(await plane.call('POST', '/api/nodes/tokens', { token: plane.admin, body: { expires_in_minutes: 0 } }), {
    status: 400,
  });
}

async function admission(t: Test, database: Database): Promise<void> {
  const plane = await startFleetPlane(t, database, await startUpstream(t));
  const dataDir = await enrol(t, plane, 'edge-1');
  const { IdentityStore } = await planeModule();
  const tls = IdentityStore.read(dataDir)?.tls ?? {};
  const foreign = await startFleetPlane(t, database, await startUpstream(t));
  t.ok(foreign.address, 'two control planes of one database issue from one CA');
  const shared = { authorization: `Bearer ${plane.parts.nodeToken}` };
  for (const [what, path, asking, status] of [
    ['a stranger renews', '/node/v1/renew', {}, 401],
    ['a stranger sends records', '/api/dataplane/records', {}, 401],
    ['the shared token is worth nothing here', '/api/dataplane/records', { headers: shared }, 401],
    ['a node says hello', '/api/dataplane/hello', { tls, body: { node: 'edge-1' } }, 200],
    ['a node at the other control plane', '/api/dataplane/hello', { tls, body: { node: 'edge-1' }, other: true }, 200],
    ['a node by its name in the list', '/api/dataplane/hello', { tls, body: { node: 'node:edge-1' } }, 200],
    ['a node in the name of another', '/api/dataplane/hello', { tls, body: { node: 'edge-2' } }, 403],
    [
      'a node in the name of one of the environment',
      '/api/dataplane/hello',
      { tls, body: { node: plane.address } },
      403,
    ],
    ['records in the name of another', '/api/dataplane/records', { tls, body: records('node:edge-2') }, 403],
    ['records in its own name', '/api/dataplane/records', { tls, body: records('edge-1') }, 200],
    ['clients in the name of another', '/api/dataplane/clients', { tls, body: { node: 'x' } }, 403],
    ['samples of another', '/api/dataplane/samples', { tls, body: { samples: [{ node: 'edge-2' }] } }, 403],
    ['observations in the name of another', '/api/dataplane/observations', { tls, body: { node: ['edge-1'] } }, 403],
    ['a node reads settings', '/api/settings', { tls, method: 'GET' }, 404],
    ['a node changes rules', '/api/dataplane/rules', { tls, body: {} }, 404],
    ['a node by a detour', '/api/dataplane/../settings', { tls, method: 'GET' }, 404],
    ['a node by an escape', '/api/dataplane/%72ecords', { tls, body: {} }, 404],
    [
      'a node with an administrator’s session',
      '/api/nodes/tokens',
      { tls, headers: { authorization: `Bearer ${plane.admin}` }, body: {} },
      404,
    ],
  ] as [string, string, Asking & { other?: true }, number][]) {
    const at = 'other' in asking ? foreign.address : plane.address;

    t.equal((await askDoor(at, path, asking)).status, status, what);
  }
  for (const role of ['viewer', 'operator'] as const) {
    const { token } = await plane.user(role);
    t.match(await plane.call('POST', '/api/nodes/tokens', { token, body: {} }), { status: 403 }, role);
    t.match(await plane.call('POST', '/api/nodes/enrolled/edge-1/revoke', { token }), { status: 403 }, role);
  }
  t.match(await plane.call('POST', '/api/nodes/tokens/local', { token: plane.admin, body: {} }), { status: 401 });
  const made = await plane.call('POST', '/api/nodes/tokens/local', { token: plane.parts.localToken, body: {} });
  t.match(made, { status: 201, body: { command: /^gatehouse node join / } });
  const gone = await plane.call('DELETE', `/api/nodes/tokens/${String(made.body['id'])}`, { token: plane.admin });
  t.equal(gone.status, 204);
}

/** Connections that say nothing keep no node out, and are closed. */
async function silence(t: Test, database: Database): Promise<void> {
  const plane = await startFleetPlane(t, database, await startUpstream(t));
  const port = Number(new URL(plane.address).port);
  let closed = 0;
  const silent = Array.from({ length: 400 }, () =>
    connect({ port, host: '127.0.0.1' })
      .on('error', () => {})
      .on('close', () => (closed += 1)),
  );
  t.teardown(() => silent.forEach((socket) => socket.destroy()));
  await until('those beyond what one address may have are closed', () => closed >= 200);
  const { joinFleet } = await planeModule();
  const dataDir = await makeDirectory(t, 'joining');
  const from = { port, host: '127.0.0.1', localAddress: '127.0.0.9' };
  const elsewhere = connectTls({ ...from, rejectUnauthorized: false });
  t.teardown(() => elsewhere.destroy());
  await once(elsewhere, 'secureConnect');
  elsewhere.on('error', () => {}).on('close', () => (closed += 1));
  elsewhere.write('POST /node/v1/join HTTP/1.1\r\nHost:'); // half a request of a stranger
  await until('and the others when they have not said hello in time', () => closed >= 400);
  const joined = { dataDir, addresses: [plane.address], name: 'edge', labels: {}, token: await plane.makeToken() };
  t.match(await joinFleet(joined), { name: 'edge' }, 'then the address is free again');
  await until('a stranger with half a request is not waited for', () => closed >= 401);
}

async function twoPlanes(t: Test, database: Database): Promise<void> {
  const upstream = await startUpstream(t);
  const port = await freePort();
  const first = await startFleetPlane(t, database, upstream, { port });
  const second = await startFleetPlane(t, database, upstream);
  const dataDir = await enrol(t, first, 'edge-1', [first.address, second.address]);
  const node = await startEnrolled(t, upstream, dataDir);
  const both = (): boolean => first.isConnected('edge-1') && second.isConnected('edge-1');
  await until('both control planes reach the node', both);
  await first.patch({ custom_rules: [blockWord(1_000_001, 'plugh')] });
  t.match(await second.apply(), { status: 200, body: { nodes: [{ url: 'node:edge-1', state: 'active' }] } });
  t.equal(await ask(node, '/?q=plugh'), 403);
  await first.crash();
  t.notOk(first.isConnected('edge-1'));
  await second.patch({ custom_rules: [blockWord(1_000_001, 'xyzzy')] });
  t.match(await second.apply(), { status: 200 }, 'the other one applies while the first is gone');
  t.equal(await ask(node, '/?q=xyzzy'), 403);
  const back = await startFleetPlane(t, database, upstream, { port });
  await until('the node connects again', () => back.isConnected('edge-1'));
  const applied = await back.apply(); // it compiles in directories of its own, and gets the same artifact
  t.match(applied, { status: 200, body: { unchanged: true, nodes: [{ url: 'node:edge-1', state: 'active' }] } });
  await until('the records of the node arrive where it enrolled or at the other one', async () => {
    await ask(node, '/?q=xyzzy');
    const [row] = await database.sql<{ count: number }[]>`select count(*)::int as count from request_records`;
    return (row?.count ?? 0) > 0;
  });
}

t.test('one node', (t) => onBothDatabases(t, 'an enrolled node', oneNode));
t.test('F18: silence on the port of nodes', (t) => onOneDatabase(t, 'silent connections', silence));
t.test('tokens', (t) => onOneDatabase(t, 'tokens', tokens));
t.test('admission', (t) => onOneDatabase(t, 'who may what on the port of nodes', admission));
t.test('two control planes', (t) => onOneDatabase(t, 'two control planes', twoPlanes));
