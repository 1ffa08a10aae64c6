// kill -9 wherever it hurts: the API during apply, a node during activation, the database under both. Afterwards one
// whole version is active, and it is the one that serves.
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { openPostgres } from '../db/client.js';
import { loadModules, migrate } from '../db/migrate.js';
import { pruneArtifacts } from './artifacts.js';
import { readState } from '../settings/state.js';
import { findVersion } from '../settings/store.js';
import { startTestApp } from '../testing/app.js';
import { copyEmbeddedTemplate, startCluster, withoutPostgres as skip } from '../testing/databases.js';
import { nodeToken, startNode, startUpstream, type TestNode } from '../testing/data-plane.js';
import { writeEnvFile } from '../testing/env-file.js';
import { writeRuleSet } from '../testing/rule-set.js';
import { connectDataPlane } from '../nodes/link.js';
import { freePort } from '../testing/free-port.js';
import { bareEnvironment, makeDirectory, nobodyAsked } from '../testing/temporary.js';
import { pause, until } from '../testing/waiting.js';

const statusOf = async (port: number, path: string): Promise<number> =>
  (await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } })).status;
const word = (round: number): string => `word${'abcdefghijklmnopqrstuvwxyz'[round] ?? 'z'}end`;
const rules = (round: number): object => ({
  custom_rules: [
    {
      id: 1_000_001,
      name: 'r',
      kind: 'visual',
      variable: 'ARGS',
      operator: 'contains',
      value: word(round),
      action: 'block',
      phase: 2,
    },
  ],
});
/** Which round's rule serves: exactly one of those given, or the answer is not whole. */
async function servedRound(port: number, candidates: readonly number[]): Promise<number[]> {
  const answers = await Promise.all(candidates.map((round) => statusOf(port, `/?q=${word(round)}`)));
  return candidates.filter((_, index) => answers[index] === 403);
}

const generationOf = async (node: TestNode): Promise<unknown> => (await node.status())['generation'];

/** Resolves when what is looked at has changed, and at the latest when the work that changes it is over. */
async function changes(look: () => unknown, work: Promise<unknown>): Promise<void> {
  let isOver = false;
  const end = (): void => void (isOver = true);
  work.then(end, end);
  const before = await look();
  while (!isOver && (await look()) === before) await pause(1);
}

/** Ends the process and waits for its exit. */
function kill(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
  });
}

async function startApi(directory: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('../server.js', import.meta.url))], {
    cwd: directory,
    env: bareEnvironment(),
  });
  let output = '';
  await new Promise<void>((resolve, reject) => {
    const hear = (chunk: Buffer): void => {
      output += chunk.toString();
      if (output.includes('Control plane:')) resolve();
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.once('exit', (code) => reject(new Error(`the API ended with ${code}: ${output}`)));
  });
  return child;
}

t.test('the API is killed during apply', async (t) => {
  const upstream = await startUpstream(t);
  const node = await startNode(t, { upstream });
  const data = join(await copyEmbeddedTemplate(t), '..');
  await rename(join(data, 'd'), join(data, 'db'));
  const port = await freePort();
  const env = await writeEnvFile(data, [
    `API_PORT=${port}`,
    'DATA_DIR=.',
    'LOG_LEVEL=silent',
    'ADMIN_EMAIL=root@example.org',
    `DATA_ADMIN_TOKEN=${nodeToken}`,
    `DATA_ADMIN_URLS=${node.url}`,
    `CRS_DIR=${await writeRuleSet(t)}`,
    `UPSTREAM_CUSTOMER=${upstream}`,
    `UPSTREAM_PAYMENT=${upstream}`,
    nobodyAsked,
  ]);
  let api = await startApi(data);
  t.teardown(() => kill(api));
  const call = (method: string, path: string, token: string, body?: object): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: {
        connection: 'close',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const login = async (password: string): Promise<string> =>
    String(
      (
        (await (await call('POST', '/api/login', '', { email: 'root@example.org', password })).json()) as {
          token: string;
        }
      ).token,
    );
  const initial = env['ADMIN_INITIAL_PASSWORD'] ?? '';
  await call('POST', '/api/account/password', await login(initial), {
    current: initial,
    password: 'Quiet-river-stone-41',
  });
  let token = await login('Quiet-river-stone-41');
  await call('PATCH', '/api/settings', token, rules(0));
  t.equal((await call('POST', '/api/apply', token)).status, 200);

  const artifacts = (): number =>
    existsSync(join(data, 'artifacts')) ? readdirSync(join(data, 'artifacts')).length : 0;
  const moments: readonly [string, (applying: Promise<unknown>) => Promise<void>][] = [
    ['at once', async () => undefined],
    ['when the artifact is being written', (applying) => changes(artifacts, applying)],
    ['when the node has just committed', (applying) => changes(() => generationOf(node), applying)],
    ['a little later', () => pause(60)],
  ];
  let served = 0;
  const seen: string[] = [];
  for (const [round, [moment, come]] of moments.entries()) {
    await call('PATCH', '/api/settings', token, rules(round + 1));
    const applying = call('POST', '/api/apply', token).then(
      (reply) => reply.status,
      () => null,
    );
    await come(applying);
    await kill(api);
    const acknowledged = (await applying) === 200;
    api = await startApi(data);
    token = await login('Quiet-river-stone-41');
    let nodes: { items: { state: string; version: number }[]; active_version: number } = {
      items: [],
      active_version: 0,
    };
    await until('the node is active', async () => {
      nodes = (await (await call('GET', '/api/nodes', token)).json()) as typeof nodes;
      return nodes.items[0]?.state === 'active';
    });
    const now = await servedRound(node.http, [served, round + 1]);
    t.equal(now.length, 1, `killed ${moment}: one whole version serves`);
    if (acknowledged) t.same(now, [round + 1], 'what was acknowledged is not lost');
    const { settings } = (await (await call('GET', `/api/config/versions/${nodes.active_version}`, token)).json()) as {
      settings: { custom_rules: { value: string }[] };
    };
    t.equal(settings.custom_rules[0]?.value, word(now[0] ?? -1), 'and it is the active one');
    t.equal((await call('POST', '/api/apply', token)).status, 200, 'applying again works');
    t.same(await servedRound(node.http, [served, round + 1]), [round + 1]);
    seen.push(`${moment}: ${now[0] === served ? 'the old one' : 'the new one'}${acknowledged ? ', acknowledged' : ''}`);
    served = round + 1;
  }
  t.comment(seen.join('; '));
  // A disk that is slow to flush has every kill fall into the writing; what such a kill leaves goes when it is an hour
  // old.
  const leftovers = (): string[] => readdirSync(join(data, 'artifacts')).filter((name) => name.endsWith('.part'));
  t.ok(leftovers().length <= moments.length, 'a kill leaves at most the one file that was being written');
  const whole = artifacts() - leftovers().length;
  pruneArtifacts(join(data, 'artifacts'), whole, new Set(), Date.now() + 3_601_000);
  t.same([leftovers(), artifacts()], [[], whole], 'and pruning removes those, not the whole ones');
});

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
  await migrate(database, await loadModules());
  const data = await makeDirectory(t, 'crash');
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
