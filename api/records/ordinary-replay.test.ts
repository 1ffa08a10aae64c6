// From an ordinary request on a node to the warning that a new rule would have blocked it: a real data plane, a real
// compile process, a real database.
import t, { type Test } from 'tap';
import type { Database } from '../db/client.js';
import { connectDataPlane } from '../nodes/link.js';
import { startTestApp, testEnv } from '../testing/app.js';
import { nodeToken, startNode, startUpstream } from '../testing/data-plane.js';
import { onBothDatabases } from '../testing/databases.js';
import { writeRuleSet } from '../testing/rule-set.js';
import { findSamples } from './samples.js';
import { freePort } from '../testing/free-port.js';
import { makeDataDirectory } from '../testing/temporary.js';
import { until } from '../testing/waiting.js';

async function suite(t: Test, database: Database): Promise<void> {
  const port = await freePort();
  const upstream = await startUpstream(t);
  const node = await startNode(t, { upstream, controlUrl: `http://127.0.0.1:${port}` });
  const data = await makeDataDirectory(t, 'replay');
  const settingsEncryptionSecret = 'b'.repeat(40);
  const link = await connectDataPlane({
    env: {
      dataAdminToken: nodeToken,
      dataAdminUrls: [node.url],
      dataDirectory: data,
      crsDirectory: await writeRuleSet(t),
      upstreams: { customer: upstream, payment: upstream },
      settingsEncryptionSecret,
    },
    database,
    now: Date.now,
  });
  const at = await startTestApp(database, {
    applySettings: link.applySettings,
    env: { ...testEnv, settingsEncryptionSecret, dataAdminToken: nodeToken },
  });
  at.clock.nowMs = Date.now();
  t.teardown(async () => {
    await at.close();
    await link.close();
  });
  await link.start(at.parts);
  const { token } = await at.user('admin');
  await at.app.listen({ host: '127.0.0.1', port });
  const patch = (body: object) => at.call('PATCH', '/api/settings', { token, body });
  const ask = async (path: string, body?: string): Promise<number> =>
    (
      await fetch(`http://127.0.0.1:${node.http}${path}`, {
        headers: {
          connection: 'close',
          ...(body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
        },
        ...(body === undefined ? {} : { method: 'POST', body }),
      })
    ).status;
  const kept = async (kind: string): Promise<number> =>
    (await database.sql<{ n: number }[]>`select count(*) as n from request_samples where kind = ${kind}`)[0]?.n ?? 0;

  t.equal((await patch({ replay_sampling: { every: 1, per_second_max: 100 } })).status, 200);
  t.match(await at.call('POST', '/api/apply', { token }), {
    status: 200,
    body: { applied: true, not_enforced_yet: [] },
  });
  await ask('/warm');
  await until(
    'records arrive',
    async () => (await at.call('GET', '/api/requests', { token })).body['items'].length > 0,
  ); // from now on samples are taken
  t.same(
    [
      await ask('/search?q=lamp&password=hunter2'),
      await ask('/form', 'comment=a+grue+in+the+dark'),
      await ask('/plain'),
    ],
    [200, 200, 200],
    'ordinary requests',
  );
  t.equal(await ask('/?id=1%27%20OR%20%271%27=%271'), 403, 'and an attack');
  await until('they are kept', async () => (await kept('ordinary')) >= 3 && (await kept('event')) === 1);

  await patch({
    custom_rules: [
      {
        id: 1_000_001,
        name: 'lamps',
        kind: 'visual',
        variable: 'ARGS',
        operator: 'contains',
        value: 'lamp',
        action: 'block',
        phase: 2,
      },
      {
        id: 1_000_002,
        name: 'grues',
        kind: 'visual',
        variable: 'ARGS',
        operator: 'contains',
        value: 'grue',
        action: 'block',
        phase: 2,
      },
    ],
  });
  const dry = await at.call('POST', '/api/apply?dry_run=true', { token });
  t.match(dry.body, { applied: false, impact: { newly_blocked: 2, newly_allowed: 0 } }, dry.text);
  const examples = (dry.body['impact'].newly_blocked_examples as { uri: string; rule_ids: number[] }[]).sort((a, b) =>
    a.uri < b.uri ? 1 : -1,
  );
  t.match(
    examples,
    [
      { uri: '/search?q=lamp&password=xxxxxxx', rule_ids: [1_000_001] },
      { uri: '/form', rule_ids: [1_000_002] },
    ],
    'with the rules that would do it',
  );
  t.equal(await ask('/search?q=lamp'), 200, 'a dry run blocks nobody');

  // what was sampled, in the order it was sent
  const targets = async (): Promise<string[]> => (await findSamples(database.sql, 1000)).map(({ uri }) => uri);
  const sampling = async (every: number, path: string): Promise<void> => {
    await patch({ custom_rules: [], replay_sampling: { every } });
    t.match(await at.call('POST', '/api/apply', { token }), { status: 200, body: { applied: true } });
    await ask(path); // the flush behind it tells the worker's ring
    await until(
      `the record of ${path} arrives`,
      async () => (await at.call('GET', `/api/requests?q=${path}`, { token })).body['items'].length > 0,
    );
  };
  await sampling(0, '/off');
  for (let n = 0; n < 10; n++) await ask(`/quiet/${n}`);
  await sampling(1, '/on');
  await ask('/again');
  await until('/again is kept', async () => (await targets()).includes('/again'));
  t.same(
    (await targets()).filter((uri) => uri.startsWith('/quiet')),
    [],
    'switched off and on by the settings, live',
  );
}

t.test('replays of ordinary requests', (t) => onBothDatabases(t, 'ordinary-replay', suite));
