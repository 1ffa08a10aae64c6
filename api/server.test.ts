import t, { type Test } from 'tap';
import { spawn } from 'node:child_process';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeToken } from './testing/data-plane.js';
import { copyEmbeddedTemplate } from './testing/databases.js';
import { writeEnvFile } from './testing/env-file.js';
import { freePort } from './testing/free-port.js';
import { bareEnvironment, makeDirectory, nobodyAsked } from './testing/temporary.js';

/** Starts the server process in `directory` and waits for its last line, or for its end. */
async function start(
  t: Test,
  directory: string,
): Promise<{ output: () => string; end(signal: NodeJS.Signals): Promise<number | null> }> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('./server.js', import.meta.url))], {
    cwd: directory,
    env: bareEnvironment(),
  });
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  // with all that it said
  const exited = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  t.teardown(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  await new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('Control plane:')) resolve();
    });
    void exited.then(() => resolve());
  });
  return {
    output: () => output,
    async end(signal) {
      child.kill(signal);
      return exited;
    },
  };
}

t.test('a fresh start, a crash in the middle of writes, and a restart that has lost nothing', async (t) => {
  const data = join(await copyEmbeddedTemplate(t), '..');
  // the template is the database directory of this installation
  const port = await freePort();
  const env = await writeEnvFile(data, [
    `API_PORT=${port}`,
    'DATA_DIR=.',
    'LOG_LEVEL=silent',
    'ADMIN_EMAIL=root@example.org',
    `DATA_ADMIN_TOKEN=${nodeToken}`,
    nobodyAsked,
  ]);
  await rename(join(data, 'd'), join(data, 'db'));
  const first = await start(t, data);
  t.match(first.output(), `First login: root@example.org ${env['ADMIN_INITIAL_PASSWORD']}`);
  const base = `http://127.0.0.1:${port}`;
  const post = (path: string, body: object, token = '', method = 'POST') =>
    fetch(`${base}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...(token === '' ? {} : { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
    });
  const login = async (password: string) =>
    ((await (await post('/api/login', { email: 'root@example.org', password })).json()) as { token: string }).token;
  const initial = env['ADMIN_INITIAL_PASSWORD'] ?? '';
  const token = await login(initial);
  t.equal(
    (await post('/api/account/password', { current: initial, password: 'Quiet-river-stone-41' }, token)).status,
    204,
  );
  let acknowledged = 0;
  const writing = (async () => {
    for (let n = 1; n < 10_000; n++) {
      const reply = await post('/api/settings', { rl_events: n }, token, 'PATCH').catch(() => null);
      if (reply?.status !== 200) return;
      acknowledged = n;
      if (n === 20) void first.end('SIGKILL');
    }
  })();
  await writing;
  t.ok(acknowledged >= 20);
  const second = await start(t, data);
  t.notMatch(second.output(), /First login/, 'printed once');
  const again = await login('Quiet-river-stone-41');
  const settings = (await (
    await fetch(`${base}/api/settings`, { headers: { authorization: `Bearer ${again}` } })
  ).json()) as { rl_events: number };
  t.ok(
    settings.rl_events === acknowledged || settings.rl_events === acknowledged + 1,
    `${settings.rl_events} after ${acknowledged} acknowledged`,
  );
  t.match(await (await fetch(`${base}/api/audit/verify`, { headers: { authorization: `Bearer ${again}` } })).json(), {
    ok: true,
  });
  const third = await start(t, data);
  t.match(third.output(), /in use by process/, 'a second server on the same directory is refused with a reason');
  t.equal(await second.end('SIGTERM'), 0, 'SIGTERM ends it cleanly');
});

t.test('a broken environment is named and nothing is opened', async (t) => {
  const data = await makeDirectory(t, 'server');
  await writeFile(join(data, '.env'), 'API_PORT=abc\n');
  const server = await start(t, data);
  t.match(server.output(), /API_PORT must be a port number/);
  t.match(server.output(), /AUTH_SESSION_SECRET is missing/);
});
