// A data plane that may open few files: clients that hold connections do not take the last descriptors, so that who is
// connected is served, upstreams are reached, the health check and the metrics answer; and it goes on when they leave.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { clientDescriptorsMax, readDescriptorLimit } from '../listeners/descriptors.js';
import { configOf, startBackend, testMsMax, until } from './harness.js';

t.setTimeout(testMsMax);

const all = 320;
const program = fileURLToPath(new URL('./plane-process.js', import.meta.url));
const skip = readDescriptorLimit() === null ? 'limits of a process are read from /proc' : false;

async function startPlane(t: Test, config: object): Promise<{ http: number; admin: number; said: () => string }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'gatehouse-descriptors-'));
  t.teardown(() => rm(dataDir, { recursive: true, force: true }));
  const given = JSON.stringify({ listener: 'net', dataDir, config, logLevel: 'warn' });
  const child = spawn('sh', ['-c', `ulimit -n ${all}; exec "$@"`, 'sh', process.execPath, program, given], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { ...(JSON.parse(line.toString()) as { http: number; admin: number }), said: () => said };
}

/** A client that stays; `isCut` when the other side ended it. */
function hold(port: number): { readonly socket: Socket; isCut: boolean } {
  const held = { socket: connect(port, '127.0.0.1'), isCut: false };
  held.socket.on('error', () => (held.isCut = true)).on('close', () => (held.isCut = true));
  held.socket.on('end', () => (held.isCut = true));
  return held;
}

async function ask(socket: Socket): Promise<string> {
  socket.write('GET /in HTTP/1.1\r\nHost: a\r\n\r\n');
  const [text] = (await once(socket, 'data')) as [Buffer];
  return text.toString('latin1').split('\r\n')[0] ?? '';
}

t.test('26.9: clients leave descriptors to upstreams, logs and the health check', { skip }, async (t) => {
  const backend = await startBackend(t, (_request, response) => response.end('here'));
  const plane = await startPlane(
    t,
    configOf({
      flood_connections_enabled: false,
      sites: [{ name: 'shop', prefix: '/', upstream: backend.url, protected: true }],
    }),
  );
  t.match(plane.said(), `may open ${all} files`, 'a low limit is told at the start');
  const held = Array.from({ length: all + 80 }, () => hold(plane.http));
  t.teardown(() => held.forEach(({ socket }) => socket.destroy()));
  t.ok(
    await until(() => held.filter(({ isCut }) => isCut).length >= all + 80 - clientDescriptorsMax(all)),
    'some are cut',
  );
  const kept = held.filter(({ isCut }) => !isCut);
  t.ok(kept.length > 50, `${kept.length} are kept`);
  for (const { socket } of kept.slice(0, 20))
    t.equal(await ask(socket), 'HTTP/1.1 200 OK', 'who is connected is served');
  const at = `http://127.0.0.1:${plane.admin}`;
  t.equal((await fetch(`${at}/healthz`)).status, 200, 'the health check has a descriptor');
  const metrics = await (await fetch(`${at}/metrics`, { headers: { authorization: 'Bearer test-token' } })).text();
  t.match(metrics, /connections_refused_total\{port="plain",reason="descriptors"\} [1-9]/);
  t.match(plane.said(), /file descriptors are in use.*LimitNOFILE/, 'and the log says what to do');
  t.notMatch(plane.said(), /EMFILE/);
  for (const { socket } of held) socket.destroy();
  t.ok(
    await until(async () => {
      const next = hold(plane.http);
      const answer = await ask(next.socket).catch(() => '');
      next.socket.destroy();
      return answer === 'HTTP/1.1 200 OK';
    }),
    'when they have left, others are taken',
  );
});

t.test('26.9: what clients may take of any limit', (t) => {
  for (const [limit, max] of [
    [100, 75],
    [1024, 768],
    [20_000, 15_904],
    [1_048_576, 1_044_480],
  ] as const)
    t.equal(clientDescriptorsMax(limit), max, `${limit}`);
  t.end();
});
