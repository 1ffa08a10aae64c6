// What must flow: event streams, large downloads and uploads, WebSockets; and what must end when one side goes.
import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import t from 'tap';
import { WebSocket } from 'undici';
import { decodeFrame } from '../listeners/uws/websocket-frame.js';
import { isInFlight, listenerKinds, metricsWith, startBackend, startPlane, testMsMax, until } from './harness.js';
import { bodyOf, sendRaw, statusOf } from './raw-client.js';
import { startWebSocketServer } from './websocket-server.js';

t.setTimeout(testMsMax);
const site = (upstream: string, isProtected = true): object => ({
  sites: [{ name: 'shop', prefix: '/', upstream, protected: isProtected }],
});

for (const kind of listenerKinds) {
  t.test(`${kind}: an event arrives before the stream ends`, async (t) => {
    let finish: (() => void) | null = null;
    let isGone = false;
    const backend = await startBackend(t, (request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write('data: one\n\n');
      finish = () => response.end('data: two\n\n');
      request.on('close', () => (isGone = true));
    });
    const plane = await startPlane(t, kind, site(backend.url), { plan: { seesResponses: true } });
    const reply = await sendRaw(plane.ports.http, 'GET /events HTTP/1.1\r\nHost: a\r\n\r\n', undefined, (text) =>
      text.includes('data: one'),
    );
    t.match(reply.text, 'data: one');
    t.ok(await until(() => isGone), 'a client that leaves ends the stream upstream');
    finish = null;
    const whole = sendRaw(plane.ports.http, 'GET /events HTTP/1.1\r\nHost: a\r\n\r\n', undefined, (text) =>
      text.includes('data: two'),
    );
    t.ok(await until(() => finish !== null), 'the second request arrived');
    (finish as (() => void) | null)?.();
    t.match((await whole).text, 'data: two');
  });

  t.test(`${kind}: 450 megabytes down to a slow reader, in constant memory`, async (t) => {
    // Node.js 24 lets garbage grow to 160 MB, whatever the size; what is held would be all of it
    const bytes = 450_000_000;
    const backend = await startBackend(t, (_request, response) => {
      response.writeHead(200, { 'Content-Length': bytes, 'Content-Type': 'application/octet-stream' });
      let sent = 0;
      const more = (): void => {
        while (sent < bytes) {
          const size = Math.min(64_000, bytes - sent);
          sent += size;
          if (!response.write(Buffer.alloc(size, sent % 251))) return;
        }
        response.end();
      };
      response.on('drain', more);
      more();
    });
    const plane = await startPlane(t, kind, site(backend.url));
    const before = process.memoryUsage().rss;
    let most = before;
    const received = await new Promise<number>((resolve) => {
      const socket = connect(plane.ports.http, '127.0.0.1');
      let got = 0;
      let pauses = 0;
      socket.write('GET /big HTTP/1.1\r\nHost: a\r\n\r\n');
      socket.on('data', (chunk) => {
        got += chunk.length;
        most = Math.max(most, process.memoryUsage.rss());
        if (got > 40_000_000 * (pauses + 1) && pauses < 3) {
          pauses += 1;
          socket.pause();
          setTimeout(() => socket.resume(), 100);
        }
        if (got >= bytes) {
          socket.destroy();
          resolve(got);
        }
      });
      socket.on('close', () => resolve(got));
    });
    t.ok(received >= bytes, `${received} bytes arrived`);
    t.ok(most - before < 300_000_000, `memory grew by ${Math.round((most - before) / 1e6)} MB`);
  });

  t.test(`${kind}: an upload waits for a slow application`, async (t) => {
    const bytes = 20_000_000;
    const hash = createHash('sha256');
    const backend = await startBackend(t, (request, response) => {
      let chunks = 0;
      request.on('data', (chunk: Buffer) => {
        hash.update(chunk);
        chunks += 1;
        if (chunks % 50 === 0) {
          request.pause();
          setTimeout(() => request.resume(), 5);
        }
      });
      request.on('end', () => response.end(hash.digest('hex')));
    });
    const plane = await startPlane(t, kind, site(backend.url, false));
    const body = Buffer.alloc(bytes);
    for (let index = 0; index < bytes; index += 997) body[index] = index % 256;
    const reply = await new Promise<string>((resolve) => {
      const socket = connect(plane.ports.http, '127.0.0.1');
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString('latin1');
        if (bodyOf(text).length >= 64) {
          socket.destroy();
          resolve(bodyOf(text));
        }
      });
      socket.write(`POST /up HTTP/1.1\r\nHost: a\r\nContent-Length: ${bytes}\r\n\r\n`);
      socket.write(body);
    });
    t.equal(reply, createHash('sha256').update(body).digest('hex'));
  });

  t.test(`${kind}: a client that goes in the middle of its body leaves nothing behind`, async (t) => {
    let arrived = 0;
    let aborted = 0;
    const backend = await startBackend(t, (request) => {
      arrived += 1;
      request.on('data', () => {});
      request.on('error', () => (aborted += 1));
    });
    for (const isProtected of [true, false]) {
      const plane = await startPlane(t, kind, site(backend.url, isProtected));
      const client = connect(plane.ports.http, '127.0.0.1');
      client.on('error', () => {}); // cut below
      client.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n${'x'.repeat(100_000)}`);
      t.ok(await until(async () => isInFlight(plane, 1)), 'on the way');
      if (!isProtected) t.ok(await until(() => arrived === 1), 'the application has the beginning of it');
      client.destroy();
      t.ok(await until(async () => isInFlight(plane, 0)), 'nothing in flight');
    }
    t.equal(arrived, 1, 'half a body that is to be inspected goes nowhere');
    t.ok(await until(() => aborted === 1), 'and the application heard of the one it had');
  });

  t.test(`${kind}: WebSockets pass after their head was inspected`, async (t) => {
    const backend = await startWebSocketServer(t);
    const plane = await startPlane(t, kind, site(backend.url));
    const url = `ws://127.0.0.1:${plane.ports.http}`;
    const heard: string[] = [];
    const socket = new WebSocket(`${url}/chat?room=1`, ['chat']);
    const closed = new Promise<number>((resolve) => socket.addEventListener('close', (event) => resolve(event.code)));
    socket.addEventListener('message', (event) => heard.push(String(event.data)));
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', () => reject(new Error('no WebSocket')));
    });
    t.equal(socket.protocol, 'chat');
    socket.send('hello');
    socket.send('x'.repeat(5000));
    t.ok(await until(() => heard.length === 3));
    t.strictSame(
      heard.map((text) => text.slice(0, 7)),
      ['welcome', 'hello', 'xxxxxxx'],
    );
    t.equal(heard[2]?.length, 5000);
    socket.send('bye');
    t.equal(await closed, 4001, "the application's close code");
    t.match(backend.heads[0], /X-Request-Id: \w{26}\r\n/i);
    for (const [path, why] of [
      ['/x?EVIL', 'an attack in the handshake'],
      ['/refused', "the application's own refusal"],
    ] as const) {
      const refused = new WebSocket(`${url}${path}`);
      const isOpen = await new Promise((resolve) => {
        refused.addEventListener('open', () => resolve(true));
        refused.addEventListener('error', () => resolve(false));
      });
      t.equal(isOpen, false, why);
    }
    t.equal(backend.heads.filter((head) => head.includes('EVIL')).length, 0);
    t.ok(await until(async () => isInFlight(plane, 0)), 'nothing in flight');
  });
}

t.test('frames', async (t) => {
  t.equal(decodeFrame(Buffer.from([0x81])), 'more');
  t.equal(decodeFrame(Buffer.from([0x81, 0x85, 0, 0])), 'invalid', 'a server must not mask');
  t.equal(decodeFrame(Buffer.from([0xc1, 0])), 'invalid', 'reserved bits');
  t.equal(decodeFrame(Buffer.from([0x89, 126, 0, 200])), 'invalid', 'a long ping');
  t.match(decodeFrame(Buffer.from([0x81, 2, 0x68, 0x69, 0xff])), { isFinal: true, opcode: 1, usedBytes: 4 });
});

for (const kind of listenerKinds) {
  t.test(`${kind}: A2 WebSockets and event streams leave the upstream's connections to others`, async (t) => {
    const backend = await startBackend(t, (request, response) => {
      if (request.url !== '/events') return void response.end('served');
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write('data: one\n\n');
    });
    const chat = await startWebSocketServer(t);
    const limits = { upstream_connections_max: 1, streams_max: 12 };
    const sites = [
      { name: 'chat', prefix: '/chat', upstream: chat.url },
      { name: 'shop', prefix: '/', upstream: backend.url },
    ];
    const plane = await startPlane(t, kind, { sites, limits });
    const open = (path: string, isUpgrade: boolean): Promise<number> => {
      const upgrade =
        'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
      const socket = connect(plane.ports.http, '127.0.0.1');
      t.teardown(() => socket.destroy());
      socket.on('error', () => {});
      socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n${isUpgrade ? upgrade : ''}\r\n`);
      return new Promise((resolve) => socket.once('data', (bytes) => resolve(statusOf(bytes.toString('latin1')) ?? 0)));
    };
    t.equal(await open('/events', false), 200);
    t.equal(await open('/chat', true), 101);
    t.equal(await open('/chat/refused', false), 403, 'a request beside a WebSocket');
    t.equal(await open('/', false), 200, 'a request beside an event stream');
    t.equal(await open('/events', false), 200, 'the third place of this client');
    t.equal(await open('/events', false), 503, 'a quarter of all places is for one client');
    t.equal(await open('/chat', true), 503);
    t.equal(await open('/', false), 200);
    t.match(await metricsWith(plane, 'reason="streams"'), /refused_total\{[^}]*reason="streams"[^}]*\} 2\b/);
  });
}
