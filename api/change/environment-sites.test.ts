// Sites that the settings leave to the environment follow it: another UPSTREAM_* at the start of the control plane
// reaches every node, once, and the audit log has it. Sites of the settings do not move.
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { startTestApp, type Reply } from '../testing/app.js';
import { onBothDatabases } from '../testing/databases.js';
import { nodeToken, startNode, startUpstream, type TestNode } from '../testing/data-plane.js';
import { writeRuleSet } from '../testing/rule-set.js';
import { makeDataDirectory } from '../testing/temporary.js';
import { connectDataPlane } from '../nodes/link.js';

interface Control {
  readonly reconcile: () => Promise<string>;
  readonly call: (method: 'GET' | 'POST' | 'PATCH', path: string, body?: object) => Promise<Reply>;
  readonly stop: () => Promise<void>;
}

async function environmentChanges(t: Test, database: Database): Promise<void> {
  const [first, second, third] = [
    await startUpstream(t, 'first'),
    await startUpstream(t, 'second'),
    await startUpstream(t, 'third'),
  ];
  const dataDirectory = await makeDataDirectory(t, 'road');
  const crsDirectory = await writeRuleSet(t);
  const node: TestNode = await startNode(t, { upstream: first });
  let starts = 0;
  const startControl = async (payment: string): Promise<Control> => {
    const env = {
      dataAdminToken: nodeToken,
      dataAdminUrls: [node.url],
      dataDirectory,
      crsDirectory,
      upstreams: { customer: first, payment },
      settingsEncryptionSecret: 'b'.repeat(40),
    };
    const link = await connectDataPlane({ env, database, now: Date.now });
    const at = await startTestApp(database, { applySettings: link.applySettings, expectedOf: link.expectedOf });
    await link.start(at.parts);
    const admin = await at.user('admin', `admin-of-start-${++starts}@example.org`);
    return {
      reconcile: () => link.road.reconcile(at.parts.audit),
      call: (method, path, body) =>
        at.call(method, path, { token: admin.token, ...(body === undefined ? {} : { body }) }),
      stop: async () => {
        await at.close();
        await link.close();
      },
    };
  };
  const payment = async (): Promise<string> =>
    (await fetch(`http://127.0.0.1:${node.http}/payment`, { headers: { connection: 'close' } })).text();
  const reconciled = async (control: Control): Promise<string[]> => {
    const { items } = (await control.call('GET', '/api/audit')).body as {
      items: { action: string; summary: string }[];
    };
    return items.filter(({ action }) => action === 'nodes.reconcile').map(({ summary }) => summary);
  };

  let control = await startControl(first);
  t.match(await control.call('POST', '/api/apply'), { status: 200, body: { unchanged: false } });
  t.equal(await payment(), 'first');
  t.equal(await control.reconcile(), '1 of 1 nodes answer', 'the same environment: nothing to do');
  t.equal((await node.status())['sitesFrom'], 'environment');
  await control.stop();

  control = await startControl(second);
  t.equal(await payment(), 'first', 'the node resumed what it had');
  const node1 = async () => ((await control.call('GET', '/api/nodes')).body['items'] as object[])[0];
  t.match(
    await node1(),
    { state: 'behind', version: 1, detail: /environment/ },
    'and is not called active, though its version is',
  );
  t.match(await control.reconcile(), /now serves version 1 as generation/);
  t.match(await node1(), { state: 'active', version: 1, detail: '' });
  t.equal(await payment(), 'second');
  t.match(
    await reconciled(control),
    [`sites of the environment: customer ${first}, payment ${second}`],
    'the audit log says what changed',
  );
  t.equal(await control.reconcile(), '1 of 1 nodes answer', 'once');
  t.match(await control.call('POST', '/api/apply'), { body: { unchanged: true } });
  await control.stop();

  control = await startControl(third);
  t.match(
    await control.call('POST', '/api/apply'),
    { status: 200, body: { unchanged: false } },
    'an apply before the reconciliation is no "unchanged"',
  );
  t.equal(await payment(), 'third');
  await control.call('PATCH', '/api/settings', { sites: [{ name: 'all', prefix: '/', upstream: second }] });
  t.match(await control.call('POST', '/api/apply'), { status: 200, body: { unchanged: false } });
  t.equal((await node.status())['sitesFrom'], 'settings');
  await control.stop();

  control = await startControl(first);
  t.equal(await control.reconcile(), '1 of 1 nodes answer', 'sites of the settings win');
  t.equal(await payment(), 'second');
  t.equal((await reconciled(control)).length, 1);
  await control.stop();
}

t.test('another UPSTREAM_* at the start', (t) => onBothDatabases(t, 'upstreams', environmentChanges));
