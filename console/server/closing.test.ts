// A console that ends while clients ask: what was let in is answered, streams of events are ended.
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { startConsole } from './server.js';

async function stage(t: Test) {
  const asked = new Map<string, ServerResponse>();
  const api = createServer((request, response) => {
    asked.set(request.url ?? '', response);
    api.emit('asked');
  });
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  const webDirectory = mkdtempSync(join(tmpdir(), 'gatehouse-console-'));
  writeFileSync(join(webDirectory, 'index.html'), '<p>{{brand}}</p>');
  const console = await startConsole({
    webDirectory,
    apiUrl: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
    token: '',
    host: '127.0.0.1',
    port: 0,
    branding: { brand: 'Gatehouse', brandSub: '', tagline: '' },
  });
  t.teardown(() => {
    api.closeAllConnections();
    api.close();
    rmSync(webDirectory, { recursive: true, force: true });
  });
  const forwarded = async (path: string): Promise<ServerResponse> => {
    for (;;) {
      const response = asked.get(path);
      if (response !== undefined) return response;
      await once(api, 'asked');
    }
  };
  return { console, forwarded };
}

const answerTo = (url: string): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => get(url, { agent: false }, resolve).on('error', reject));

t.test('a request that waits for the control plane is answered', async (t) => {
  const { console, forwarded } = await stage(t);
  const answer = answerTo(`${console.url}/api/slow`);
  const response = await forwarded('/api/slow');
  const closed = console.close();
  setImmediate(() => response.end('late'));
  const got = await answer;
  t.equal(got.statusCode, 200);
  t.equal(String((await once(got, 'data'))[0]), 'late');
  await closed;
});

t.test('a client that is let in and has not asked yet is answered', async (t) => {
  const { console } = await stage(t);
  const { port, hostname } = new URL(console.url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  // accepted for certain: one that came after it was
  (await answerTo(console.url)).resume();
  const closed = console.close();
  socket.write('GET / HTTP/1.1\r\nHost: gatehouse.example\r\n\r\n');
  t.match(String((await once(socket, 'data'))[0]), /^HTTP\/1\.1 200 [^]*<p>Gatehouse/);
  await closed;
});

t.test('a stream of events is ended at once', async (t) => {
  const { console, forwarded } = await stage(t);
  const answer = answerTo(`${console.url}/api/stream`);
  const response = await forwarded('/api/stream');
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write('data: 1\n\n');
  const stream = await answer;
  await once(stream, 'data');
  const broken = once(stream, 'close').catch((error: Error) => error);
  stream.on('error', () => undefined);
  const beganMs = performance.now();
  await console.close();
  await broken;
  t.ok(performance.now() - beganMs < 9000, 'it is not waited for');
});
