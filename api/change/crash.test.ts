// kill -9 wherever it hurts: a node during activation, the database under both (of the API: api-crash.test.ts).
// Afterwards one whole version is active, and it is the one that serves.
import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { openPostgres } from '../db/client.js';
import { allModules } from '../app.js';
import { migrate } from '../db/migrate.js';
import { connectDataPlane } from '../nodes/link.js';
import { readState } from '../settings/state.js';
import { findVersion } from '../settings/store.js';
import { startTestApp } from '../testing/app.js';
import { changes, generationOf, kill, rules, servedRound, word } from '../testing/crashes.js';
import { nodeToken, startNode, startUpstream, type TestNode } from '../testing/data-plane.js';
import { startCluster, withoutPostgres as skip } from '../testing/databases.js';
import { freePort } from '../testing/free-port.js';
import { writeRuleSet } from '../testing/rule-set.js';
import { makeDataDirectory, makeDirectory } from '../testing/temporary.js';
import { pause, until } from '../testing/waiting.js';

interface NodeProcess {
  readonly child: ChildProcess;
  readonly http: number;
}

async function startNodeProcess(options: object): Promise<NodeProcess> {
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('../testing/processes/node-process.js', import.meta.url)), JSON.stringify(options)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const ports = await new Promise<{ http: number }>((resolve, reject) => {
    child.stdout?.once('data', (chunk: Buffer) => resolve(JSON.parse(chunk.toString()) as { http: number }));
    child.once('exit', (code) => reject(new Error(`the node ended with ${code}`)));
  });
  return { child, http: ports.http };
}

async function startRoadOnCluster(t: Test, urls: readonly string[], upstream: string) {
  const cluster = await startCluster(t);
  const database = openPostgres(await cluster.create());
  await migrate(database, await allModules());
  const data = await makeDataDirectory(t, 'crash');
  const env = {
    dataAdminToken: nodeToken,
    dataAdminUrls: urls,
    dataDirectory: data,
    crsDirectory: await writeRuleSet(t),
    upstreams: { customer: upstream, payment: upstream },
    settingsEncryptionSecret: 'b'.repeat(40),
  };
  const link = await connectDataPlane({ env, database, now: Date.now });
  const at = await startTestApp(database, { applySettings: link.applySettings });
  t.teardown(async () => {
    await at.close();
    await link.close();
    await database.close();
  });
  await link.start(at.parts);
  const { token } = await at.user('admin');
  const apply = async (round: number) => {
    await at.call('PATCH', '/api/settings', { token, body: rules(round) });
    return at.call('POST', '/api/apply', { token });
  };
  const activeWord = async (): Promise<string | undefined> => {
    const { activeId } = await readState(database.sql);
    return (await findVersion(database.sql, activeId ?? 0))?.settings.custom_rules[0]?.value;
  };
  return { cluster, database, link, at, token, apply, activeWord };
}

t.test('a node is killed during activation', { skip }, async (t) => {
  const upstream = await startUpstream(t);
  const [port, adminPort, dataDir] = [await freePort(), await freePort(), await makeDirectory(t, 'killed')];
  const options = { upstream, dataDir, adminPort, port, token: nodeToken };
  let node = await startNodeProcess(options);
  t.teardown(() => kill(node.child));
  const road = await startRoadOnCluster(t, [`http://127.0.0.1:${adminPort}`], upstream);
  t.equal((await road.apply(0)).status, 200);
  for (const [round, delayMs] of [
    [1, 0],
    [2, 40],
    [3, 90],
  ] as const) {
    const applying = road.apply(round);
    await pause(delayMs);
    await kill(node.child);
    const restarting = startNodeProcess(options);
    const reply = await applying;
    node = await restarting;
    await until('the node serves the active version', async () =>
      /^1 of 1 nodes answer$/.test(await road.link.road.reconcile(road.at.parts.audit)),
    );
    const [now] = [
      await servedRound(
        node.http,
        [0, 1, 2, 3].filter((one) => one <= round),
      ),
    ];
    t.equal(now.length, 1, 'one whole version serves');
    t.equal(await road.activeWord(), word(now[0] ?? -1), 'the active one');
    if (reply.status === 200) t.same(now, [round], 'what was acknowledged is not lost');
    t.match(reply.status, /^(200|502)$/);
    t.comment(`killed after ${delayMs} ms: ${reply.status}, ${now[0] === round ? 'new' : 'old'} serves`);
  }
});

t.test('the database is killed during apply', { skip }, async (t) => {
  const upstream = await startUpstream(t);
  const node: TestNode = await startNode(t, { upstream });
  const road = await startRoadOnCluster(t, [node.url], upstream);
  t.equal((await road.apply(0)).status, 200);
  const applying = road.apply(1);
  await changes(() => generationOf(node), applying);
  await road.cluster.crash();
  const reply = await applying;
  t.match(reply.status, /^(200|500|503)$/);
  await road.cluster.start();
  await until('the database answers', () =>
    road.database.sql`select 1`.then(
      () => true,
      () => false,
    ),
  );
  await road.link.road.reconcile(road.at.parts.audit);
  await road.link.road.reconcile(road.at.parts.audit);
  const now = await servedRound(node.http, [0, 1]);
  t.equal(now.length, 1);
  t.equal(await road.activeWord(), word(now[0] ?? -1), 'the active version is the one that serves');
  t.match(await readState(road.database.sql), { pendingId: null });
  t.comment(`apply answered ${reply.status}; round ${now[0]} serves`);
});
