// Verdicts outlive the process that made them: a server on one data directory is killed, another is started there, and
// what is stored gives the same verdicts, bit for bit.
import t, { type Test } from 'tap';
import { spawn } from 'node:child_process';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { features } from '../app.js';
import { openEmbedded } from '../db/client.js';
import { loadModules, migrate } from '../db/migrate.js';
import { nodeToken } from '../testing/data-plane.js';
import { copyMigratedTemplate } from '../testing/database-templates.js';
import { writeEnvFile } from '../testing/env-file.js';
import { freePort } from '../testing/free-port.js';
import { bareEnvironment, nobodyAsked } from '../testing/temporary.js';
import { testMsMax } from '../testing/waiting.js';
import { score, scorerVersion } from './engine/score.js';
import { saveVerdicts, type NewVerdict } from './store.js';
import { emptyVector, specified } from './testing/clients.js';

t.setTimeout(testMsMax);

const count = 40;

/** Numbers that have no short form in decimal, so that a detour by another notation would show. */
function makeVerdict(index: number): NewVerdict {
  const vector = {
    ...emptyVector,
    address: `203.0.${index >> 8}.${index & 255}`,
    requests: index + 1,
    score_max: index % 61,
    groups: { '942': index % 31, '941': index % 7 },
    deviations: [
      {
        ...({ feature: 'rate', site: 'shop', source: 'all', support: 300 } as const),
        observed: (index * 99_991) / 7,
        expected: Math.sqrt(index + 2),
        spread: 1 + index / 9,
      },
    ],
  };
  const weights = { ...specified, bot: index / 11 };
  const scored = score(vector, weights, 80);
  const measure = { enforced: null, until: null, heldBack: null };
  return { vector, scored, weights, threshold: 80, version: scorerVersion, action: 'monitor', measure };
}

async function start(t: Test, directory: string): Promise<{ kill(): Promise<void> }> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('../server.js', import.meta.url))], {
    cwd: directory,
    env: bareEnvironment(),
  });
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  t.teardown(kill);
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('Control plane:')) resolve();
    });
    void exited.then(() => reject(new Error(output)));
  });
  return { kill };
}

t.test('O12.9: stored verdicts replay bit for bit after the process was killed and started anew', async (t) => {
  const data = join(await copyMigratedTemplate(t), '..');
  await rename(join(data, 'd'), join(data, 'db'));
  const port = await freePort();
  const env = await writeEnvFile(data, [
    `API_PORT=${port}`,
    'DATA_DIR=.',
    'LOG_LEVEL=silent',
    'ADMIN_EMAIL=root@example.org',
    `DATA_ADMIN_TOKEN=${nodeToken}`,
    nobodyAsked,
  ]);
  const database = await openEmbedded(join(data, 'db'));
  await migrate(database, await loadModules(features));
  const verdicts = Array.from({ length: count }, (_, index) => makeVerdict(index));
  await database.sql.begin((tx) => saveVerdicts(tx, verdicts, new Date()));
  await database.close();

  const base = `http://127.0.0.1:${port}`;
  const ask = async (path: string, token: string): Promise<Record<string, any>> =>
    (await (await fetch(base + path, { headers: { authorization: `Bearer ${token}` } })).json()) as Record<string, any>;
  const logIn = async (password: string): Promise<string> => {
    const body = JSON.stringify({ email: 'root@example.org', password });
    const reply = await fetch(`${base}/api/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    return String(((await reply.json()) as { token: string }).token);
  };
  const readAll = async (token: string): Promise<string[]> => {
    const ids = Array.from({ length: count }, (_, index) => index + 1);
    const replays = await Promise.all(ids.map((id) => ask(`/api/ai/verdicts/${id}/replay`, token)));
    for (const [at, one] of replays.entries())
      if (one['equal'] !== true) t.fail(`verdict ${at + 1}: ${JSON.stringify(one).slice(0, 300)}`);
    return replays.map((one) => JSON.stringify(one));
  };
  const first = await start(t, data);
  const password = env['ADMIN_INITIAL_PASSWORD'] ?? '';
  let token = await logIn(password);
  const changed = await fetch(`${base}/api/account/password`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ current: password, password: 'Quiet-river-stone-41' }),
  });
  t.equal(changed.status, 204);
  token = await logIn('Quiet-river-stone-41');
  const before = await readAll(token);
  await first.kill();
  await start(t, data);
  const after = await readAll(await logIn('Quiet-river-stone-41'));
  t.equal(before.length, count);
  t.same(after, before);
});
