// SIGTERM as a service manager sends it: what is open is finished, what was seen is on disk, the exit code is 0, and
// none of that waits for clients that hold idle connections.
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { configOf, listenerKinds, startBackend, testMsMax, until } from './harness.js';
import { bodyOf, sendRaw, statusOf } from './raw-client.js';

t.setTimeout(testMsMax);

/** Whether nobody listens there any more. */
function isRefused(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', () => resolve(true)); // refused, which is asked for
  });
}

for (const kind of listenerKinds) {
  t.test(`${kind}: SIGTERM ends with code 0 after the flush, with idle connections open`, async (t) => {
    let answer: (() => void) | null = null;
    const backend = await startBackend(t, (_request, response) => (answer = () => response.end('slow but whole')));
    const dataDir = await mkdtemp(join(tmpdir(), 'gatehouse-signal-'));
    t.teardown(() => rm(dataDir, { recursive: true, force: true }));
    const config = configOf({
      sites: [{ name: 'shop', prefix: '/', upstream: backend.url, protected: true }],
      timeouts: { drain_ms: 120_000 },
    });
    const child = spawn(
      process.execPath,
      [
        fileURLToPath(new URL('./plane-process.js', import.meta.url)),
        JSON.stringify({ listener: kind, dataDir, config }),
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    t.teardown(() => child.kill('SIGKILL'));
    const ended = new Promise<number | string | null>((resolve) =>
      child.once('close', (code, signal) => resolve(code ?? signal)),
    );
    const { http } = await new Promise<{ http: number }>((resolve) =>
      child.stdout.once('data', (line: Buffer) => resolve(JSON.parse(line.toString()) as { http: number })),
    );

    const idle = connect(http, '127.0.0.1');
    idle.on('error', () => {}); // cut at the end, which is what this is about
    await new Promise<void>((resolve) => idle.once('connect', () => resolve()));
    idle.write('GET / HTTP/1.1\r\nHost: ');
    // no idle timeout ever ends it: who waits for it waits for ever
    const dribble = setInterval(() => idle.write('a'), 1000);
    t.teardown(() => {
      clearInterval(dribble);
      idle.destroy();
    });
    t.equal(
      statusOf((await sendRaw(http, 'GET /?EVIL HTTP/1.1\r\nHost: a\r\n\r\n')).text),
      403,
      'an attack, to be found in the log',
    );
    const slow = sendRaw(http, 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n');
    t.ok(await until(() => answer !== null), 'a request is open');
    child.kill('SIGTERM');
    t.ok(await until(() => isRefused(http)), 'no new connections');
    (answer as (() => void) | null)?.();
    t.equal(bodyOf((await slow).text), 'slow but whole', 'the open request is finished');
    t.equal(await ended, 0, 'exit code');
    t.match(await readFile(join(dataDir, 'log/audit.jsonl'), 'utf8'), /EVIL/, 'the audit log is written to its end');
  });
}
