// Clients that take their time: the listener itself ends them, whatever they stand still in, and nobody else.
import { connect } from 'node:net';
import t, { type Test } from 'tap';
import { dataPlaneDefaults } from '#settings';
import { dribble, slowClient, type SlowClient } from '../../e2e/slow-client.js';
import { until } from '../../e2e/waiting.js';
import { onUnreadable, stream } from '../contract/echo.contract.js';
import { listen, type Exchange, type Listener } from '../index.js';

const { limits, timeouts } = dataPlaneDefaults();
const short = 300;

async function listenWith(t: Test, changes: object, onRequest: (exchange: Exchange) => void): Promise<Listener> {
  const listener = await listen('net', {
    host: '127.0.0.1',
    port: 0,
    sharedPort: false,
    limits: () => limits,
    timeouts: { ...timeouts, ...changes },
    handler: { onRequest, onUnreadable },
  });
  t.teardown(() => listener.stop(0));
  return listener;
}

t.test('a head that dribbles in is answered 408, however lively it dribbles', async (t) => {
  const listener = await listenWith(t, { clientHeadMs: short }, () => t.fail('there is no request'));
  const inLine = slowClient(t, listener.port);
  inLine.socket.write('GET /');
  dribble(inLine, 'a', 20);
  const inField = slowClient(t, listener.port);
  inField.socket.write('GET / HTTP/1.1\r\nX: ');
  dribble(inField, 'a', 20);
  const silent = slowClient(t, listener.port);
  t.ok(await until(() => inLine.isClosed && inField.isClosed && silent.isClosed));
  t.match(inLine.text, /^HTTP\/1\.1 408 [^]*X-Refused: 408\r\n[^]*Connection: close\r\n/);
  t.match(inField.text, /^HTTP\/1\.1 408 /);
  t.equal(silent.text, '', 'who never said anything gets no answer that nobody asked for');
});

t.test('a kept connection has client_idle_ms, and the time for the next head begins with its first byte', async (t) => {
  const answer = (exchange: Exchange): void => exchange.respond(200, [], 'ok', false);
  const listener = await listenWith(t, { clientIdleMs: 2 * short, clientHeadMs: short }, answer);
  const client = slowClient(t, listener.port);
  client.socket.write('GET / HTTP/1.1\r\nHost: h\r\n\r\n');
  t.ok(await until(() => client.text.endsWith('ok')));
  client.text = '';
  client.socket.write('GET / HT');
  t.ok(await until(() => client.isClosed));
  t.match(client.text, /^HTTP\/1\.1 408 /);
  const idle = slowClient(t, listener.port);
  idle.socket.write('GET / HTTP/1.1\r\nHost: h\r\n\r\n');
  t.ok(await until(() => idle.isClosed));
  t.match(idle.text, /ok$/, 'closed without a word');
});

t.test('a body that stands still is cut, also where nobody reads it', async (t) => {
  const seen: string[] = [];
  const onRequest = (exchange: Exchange): void => {
    exchange.onAbort = () => seen.push(exchange.head.uri);
    if (exchange.head.uri === '/read') exchange.readBody(() => {});
  };
  // The grace behind the road's own limit is part of the listener; only the setting is short.
  const listener = await listenWith(t, { clientBodyIdleMs: 10 }, onRequest);
  const clients = ['/read', '/unread'].map((path) => {
    const client = slowClient(t, listener.port);
    client.socket.write(`POST ${path} HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc`);
    return client;
  });
  t.ok(await until(() => clients.every(({ isClosed }) => isClosed)));
  t.strictSame(seen.sort(), ['/read', '/unread'], 'and the road hears of it');
});

t.test('a client that does not read is cut, one that reads slowly is not', async (t) => {
  let aborted = 0;
  const listener = await listenWith(t, { clientIdleMs: short }, (exchange) => {
    exchange.onAbort = () => (aborted += 1);
    stream(exchange, 60_000_000, 60_000_000);
  });
  const deaf = slowClient(t, listener.port);
  deaf.socket.pause();
  deaf.socket.write('GET / HTTP/1.1\r\nHost: h\r\n\r\n');
  t.ok(await until(() => aborted === 1), 'the one that takes nothing');
  const patient = await listenWith(t, { clientIdleMs: 10 * short }, (exchange) => {
    exchange.onAbort = () => (aborted += 1);
    stream(exchange, 60_000_000, 60_000_000);
  });
  const slow = connect(patient.port, '127.0.0.1');
  t.teardown(() => slow.destroy());
  let bytes = 0;
  let isEnded = false;
  slow.on('error', () => {});
  slow.on('close', () => (isEnded = true));
  slow.on('data', (chunk) => {
    bytes += chunk.length;
    slow.pause();
    setTimeout(() => slow.resume(), 4);
  });
  slow.write('GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n');
  t.ok(await until(() => isEnded));
  t.ok(bytes > 60_000_000, `${bytes} bytes came`);
  t.equal(aborted, 1);
});

t.test('a client that pipelines and does not read gets no more requests begun', async (t) => {
  let begun = 0;
  const listener = await listenWith(t, { clientIdleMs: short }, (exchange) => {
    begun += 1;
    exchange.respond(200, [], Buffer.alloc(1_000_000, 'a'), false);
  });
  const deaf = slowClient(t, listener.port);
  deaf.socket.pause();
  deaf.socket.write('GET / HTTP/1.1\r\nHost: h\r\n\r\n'.repeat(2000));
  t.ok(await until(() => begun > 0));
  t.ok(await until(() => deaf.socket.destroyed || deaf.isClosed || begun > 100 || isCut(deaf)));
  t.ok(begun < 100, `${begun} of 2000`);
});

/** A paused socket hears of its end when it writes. */
function isCut({ socket }: SlowClient): boolean {
  socket.write('x');
  return socket.destroyed;
}

t.test('an answered client that goes on sending is read away for a while, and then cut', async (t) => {
  const listener = await listenWith(t, {}, (exchange) => exchange.respond(413, [], 'too much', true));
  const client = slowClient(t, listener.port, { allowHalfOpen: true });
  client.socket.write('POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n');
  dribble(client, 'a', 20);
  t.ok(await until(() => client.text.endsWith('too much')));
  t.ok(await until(() => client.isClosed), 'not for ever');
});

t.test('8: the rest of a body behind an early answer has an end in time, however lively it comes', async (t) => {
  for (const [what, answer] of [
    ['a short answer', Buffer.from('early')],
    ['one that the client has to take', Buffer.alloc(20_000_000, 'a')],
  ] as const) {
    const listener = await listenWith(t, { clientBodyIdleMs: 30_000, clientIdleMs: 30_000 }, (exchange) =>
      exchange.respond(200, [], answer, false),
    );
    const client = slowClient(t, listener.port, { allowHalfOpen: true });
    const began = performance.now();
    client.socket.write('POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n');
    dribble(client, 'a', 20);
    t.ok(await until(() => client.isClosed), `${what}: not for ever`);
    t.ok(performance.now() - began < 25_000, `${what}: by its own time, not by that of a body that is read`);
    t.match(client.text.slice(0, 12), 'HTTP/1.1 200', 'and the client has its answer');
    t.equal(client.text.split('\r\n\r\n')[1]?.length, answer.length, 'all of it');
  }
});

t.test('8: the rest of a body behind an early answer has an end in bytes', async (t) => {
  let requests = 0;
  const onRequest = (exchange: Exchange): void => {
    requests += 1;
    exchange.respond(200, [], 'early', false);
  };
  const listener = await listenWith(t, { clientBodyIdleMs: 30_000 }, onRequest);
  for (const framing of ['Content-Length: 900000000', 'Transfer-Encoding: chunked']) {
    requests = 0;
    const client = slowClient(t, listener.port, { allowHalfOpen: true });
    let isEnded = false;
    client.socket.on('end', () => (isEnded = true));
    client.socket.write(`POST / HTTP/1.1\r\nHost: h\r\n${framing}\r\n\r\n`);
    const part = Buffer.alloc(65_536, 'a');
    const bytes = framing.startsWith('C') ? part : Buffer.concat([Buffer.from('10000\r\n'), part, Buffer.from('\r\n')]);
    let sent = 0;
    while (!isEnded && sent < 20_000_000 && !client.isClosed) {
      sent += bytes.length;
      if (!client.socket.write(bytes)) await new Promise((resolve) => setImmediate(resolve));
    }
    t.ok(await until(() => isEnded), `${framing}: the end of the connection is said after ${sent} bytes`);
    t.match(client.text, /early$/, 'behind the answer');
    client.socket.write('GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n');
    dribble(client, 'a', 20);
    t.ok(await until(() => client.isClosed));
    t.equal(requests, 1, 'nothing behind it is a request');
  }
  const kept = slowClient(t, listener.port);
  requests = 0;
  kept.socket.write(`POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 500000\r\n\r\n`);
  t.ok(await until(() => kept.text.endsWith('early')));
  kept.socket.write(`${'a'.repeat(500_000)}GET / HTTP/1.1\r\nHost: h\r\n\r\n`);
  t.ok(await until(() => requests === 2), 'a short rest is read away, and the connection is kept');
});
