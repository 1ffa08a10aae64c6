import t from 'tap';
import { spawn } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { completeEnvFile } from './env.js';
import { copyEmbeddedTemplate } from './testing/databases.js';
import { freePort } from './testing/free-port.js';

t.setTimeout(120_000);

/** Starts the server process in `directory` and waits for its last line. */
async function start(directory: string): Promise<{ output: () => string; end(signal: NodeJS.Signals): Promise<number | null> }> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('./server.js', import.meta.url))], { cwd: directory, env: { PATH: process.env['PATH'] ?? '' } });
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => { output += chunk.toString(); });
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  await new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('Control plane:')) resolve();
    });
    child.once('exit', () => resolve());
  });
  return { output: () => output, async end(signal) { child.kill(signal); return exited; } };
}

t.test('a fresh start, a crash in the middle of writes, and a restart that has lost nothing', async (t) => {
  const data = join(await copyEmbeddedTemplate(), '..');
  // the template is the database directory of this installation
  const port = await freePort();
  const env = completeEnvFile(`API_PORT=${port}\nDATA_DIR=.\nLOG_LEVEL=silent\nADMIN_EMAIL=root@example.org\n`);
  await writeFile(join(data, '.env'), env.text);
  const { rename } = await import('node:fs/promises');
  await rename(join(data, 'd'), join(data, 'db'));
  const first = await start(data);
  t.match(first.output(), `First login: root@example.org ${env.generated['ADMIN_INITIAL_PASSWORD']}`);
  const base = `http://127.0.0.1:${port}`;
  const post = (path: string, body: object, token = '', method = 'POST') => fetch(`${base}${path}`, { method, headers: { 'content-type': 'application/json', ...(token === '' ? {} : { authorization: `Bearer ${token}` }) }, body: JSON.stringify(body) });
  const login = async (password: string) => ((await (await post('/api/login', { email: 'root@example.org', password })).json()) as { token: string }).token;
  const initial = env.generated['ADMIN_INITIAL_PASSWORD'] ?? '';
  const token = await login(initial);
  t.equal((await post('/api/account/password', { current: initial, password: 'Quiet-river-stone-41' }, token)).status, 204);
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
  const second = await start(data);
  t.notMatch(second.output(), /First login/, 'printed once');
  const again = await login('Quiet-river-stone-41');
  const settings = (await (await fetch(`${base}/api/settings`, { headers: { authorization: `Bearer ${again}` } })).json()) as { rl_events: number };
  t.ok(settings.rl_events === acknowledged || settings.rl_events === acknowledged + 1, `${settings.rl_events} after ${acknowledged} acknowledged`);
  t.match(await (await fetch(`${base}/api/audit/verify`, { headers: { authorization: `Bearer ${again}` } })).json(), { ok: true });
  const third = await start(data);
  t.match(third.output(), /in use by process/, 'a second server on the same directory is refused with a reason');
  t.equal(await second.end('SIGTERM'), 0, 'SIGTERM ends it cleanly');
  await rm(data, { recursive: true, force: true });
});

t.test('a broken environment is named and nothing is opened', async (t) => {
  const data = join(await copyEmbeddedTemplate(), '..');
  await writeFile(join(data, '.env'), 'API_PORT=abc\n');
  const server = await start(data);
  t.match(server.output(), /API_PORT must be a port number/);
  t.match(server.output(), /AUTH_SESSION_SECRET is missing/);
  await rm(data, { recursive: true, force: true });
});
