// Damaged requests and damaged responses, many of them: no worker dies, and an ordinary request passes afterwards.
import { connect, createServer, type AddressInfo } from 'node:net';
import fc from 'fast-check';
import t from 'tap';
import { isInFlight, listenerKinds, metricsWith, startBackend, startPlane, testMsMax, until } from './harness.js';
import { sendRaw, statusOf } from './raw-client.js';

t.setTimeout(testMsMax);

const requests = [
  'GET /a?b=c HTTP/1.1\r\nHost: h\r\nAccept: */*\r\nCookie: a=b\r\n\r\n',
  'POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nContent-Type: text/plain\r\n\r\nhello',
  'POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
  'GET /chat HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
    'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
];
const responses = [
  'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Type: text/html\r\n\r\nhello',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n' +
    'Content-Type: text/html\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n\x81\x02hi',
  'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n\r\nto the end',
];

const edit = fc.record({
  at: fc.nat(250),
  cut: fc.nat(6),
  insert: fc.oneof(
    fc.constantFrom(
      '\r\n',
      '\n',
      '\0',
      ' ',
      ':',
      ',',
      '\xff',
      'Content-Length: 1\r\n',
      'Transfer-Encoding: chunked\r\n',
      '-',
      '99999999999999999999',
      '%',
      ';',
    ),
    fc.stringMatching(/^[ -~]{0,8}$/),
  ),
});

function damage(text: string, edits: readonly { at: number; cut: number; insert: string }[]): string {
  let result = text;
  for (const { at, cut, insert } of edits) {
    const start = at % (result.length + 1);
    result = result.slice(0, start) + insert + result.slice(start + cut);
  }
  return result;
}

const samples = (of: readonly string[], count: number): string[] =>
  fc.sample(
    fc
      .tuple(fc.constantFrom(...of), fc.array(edit, { minLength: 1, maxLength: 4 }))
      .map(([text, edits]) => damage(text, edits)),
    { numRuns: count, seed: 20261121 },
  );

for (const kind of listenerKinds) {
  t.test(`${kind}: 400 damaged requests`, async (t) => {
    const backend = await startBackend(t, (request, response) => {
      request.resume();
      request.on('end', () => response.end('ok'));
    });
    const plane = await startPlane(t, kind, {
      sites: [
        { name: 'shop', prefix: '/', upstream: backend.url, protected: true },
        { name: 'free', prefix: '/free', upstream: backend.url, protected: false },
      ],
    });
    const wires = samples(requests, 400);
    let ran = 0;
    for (let start = 0; start < wires.length; start += 50) {
      await Promise.all(
        wires.slice(start, start + 50).map(async (wire) => {
          await sendRaw(plane.ports.http, wire, 60);
          ran += 1;
        }),
      );
    }
    t.equal(ran, 400);
    t.equal((await plane.status())['restarts'], 0);
    t.equal(statusOf((await sendRaw(plane.ports.http, requests[0] as string)).text), 200);
    t.ok(await until(async () => isInFlight(plane, 0)), 'nothing is left in flight');
  });

  t.test(`${kind}: 300 damaged responses`, async (t) => {
    const wires = samples(responses, 300);
    let nth = 0;
    const server = createServer((socket) => {
      socket.on('error', () => {}); // the proxy cuts what it does not accept
      socket.on('data', () => {
        const wire = wires[nth % wires.length] as string;
        nth += 1;
        socket.end(Buffer.from(wire, 'latin1'));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.teardown(() => server.close());
    const plane = await startPlane(
      t,
      kind,
      {
        sites: [
          {
            name: 'shop',
            prefix: '/',
            upstream: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
            protected: true,
          },
        ],
      },
      { plan: { seesResponses: true, responseNeedle: 'LEAK' } },
    );
    for (let round = 0; round < 6; round += 1)
      await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          sendRaw(plane.ports.http, (index % 5 === 0 ? requests[3] : requests[index % 3]) as string),
        ),
      );
    t.ok(nth >= 300, 'every request got one, and every client its end');
    t.equal((await plane.status())['restarts'], 0);
    t.ok(await until(async () => isInFlight(plane, 0)), 'nothing is left in flight');
  });
}

for (const kind of listenerKinds) {
  t.test(`${kind}: large uploads that never end take no more memory than they may`, async (t) => {
    const backend = await startBackend(t, (request, response) => request.resume().on('end', () => response.end('ok')));
    const plane = await startPlane(t, kind, {
      sites: [{ name: 'shop', prefix: '/', upstream: backend.url, protected: true }],
      limits: { held_body_bytes_max: 1_000_000, request_body_bytes_max: 1_000_000 },
      timeouts: { drain_ms: 300 },
    });
    const post = (path: string): string => `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n`;
    const unfinished = connect(plane.ports.http, '127.0.0.1');
    unfinished.on('error', () => {}); // destroyed below
    unfinished.write(post('/unfinished') + 'x'.repeat(700_000));
    t.ok(await until(async () => isInFlight(plane, 1)), 'the first is on its way');
    // Each answer is a turn of the worker's loop, and in each turn it reads what the kernel has: fifty turns are
    // plenty.
    for (let turn = 0; turn < 50; turn += 1) await sendRaw(plane.ports.http, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const [tooMuch, small] = await Promise.all([
      sendRaw(plane.ports.http, post('/second') + 'x'.repeat(900_000)),
      sendRaw(plane.ports.http, 'POST /small HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello'),
    ]);
    // A client that is still sending may see the reset before the answer.
    t.ok(
      statusOf(tooMuch.text) === 503 || (tooMuch.text === '' && tooMuch.isClosed),
      `the one too many is refused (${statusOf(tooMuch.text)})`,
    );
    t.match(
      await metricsWith(plane, 'waap_refused_total{status="503"} 1'),
      'waap_refused_total{status="503"} 1',
      'that one, for what all hold together',
    );
    t.equal(statusOf(small.text), 200, 'a small one is not');
    unfinished.destroy();
    t.ok(await until(async () => isInFlight(plane, 0)), 'the first has gone');
    t.equal(
      statusOf((await sendRaw(plane.ports.http, post('/third') + 'x'.repeat(900_000))).text),
      200,
      'what an aborted one held is free again',
    );
  });
}
