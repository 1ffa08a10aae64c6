// A2 and A3: clients that take a response or send a body as slowly as they like must not keep from others what they
// hold: connections to the upstream, and memory for bodies.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { isInFlight, listenerKinds, metricsWith, startBackend, startPlane, testMsMax, until } from './harness.js';
import { sendRaw, statusOf } from './raw-client.js';

t.setTimeout(testMsMax);

/** A response larger than what the kernel takes off for a client that reads nothing. */
const largeBytes = 24 * 1024 * 1024;
const piece = Buffer.alloc(256 * 1024, 'x');

interface Upstream {
  readonly url: string;
  /** Large responses that were written to their end. */
  done(): number;
}

/** `/large`, `/chunked` and `/medium` are long, anything else is short; each is sent as fast as it is read. */
async function startUpstream(t: Test): Promise<Upstream> {
  let done = 0;
  const backend = await startBackend(t, (request, response) => {
    request.resume();
    const bytes = request.url?.startsWith('/medium') === true ? 3 * 1024 * 1024 : largeBytes;
    if (!/^\/(large|chunked|medium)/.test(request.url ?? '')) {
      response.end('short');
      return;
    }
    response.on('finish', () => (done += 1));
    if (request.url !== '/chunked') response.setHeader('Content-Length', bytes);
    let left = bytes;
    const more = (): void => {
      while (left > 0) {
        left -= piece.length;
        if (!response.write(piece)) {
          response.once('drain', more);
          return;
        }
      }
      response.end();
    };
    more();
  });
  return { url: backend.url, done: () => done };
}

/** A client that asks and then reads `bytes` of the answer, and no more; from an address of its own, if given. */
function slowReader(t: Test, port: number, path: string, from?: string, keepAlive = true): Socket {
  const socket = connect({ port, host: '127.0.0.1', ...(from === undefined ? {} : { localAddress: from }) });
  socket.on('error', () => {}); // it is cut on purpose
  t.teardown(() => socket.destroy());
  const connection = keepAlive ? '' : 'Connection: close\r\n';
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n${connection}\r\n`);
  socket.once('data', () => socket.pause());
  return socket;
}

const site = (url: string, limits: object, timeouts: object = {}): object => ({
  sites: [{ name: 'shop', prefix: '/', upstream: url, protected: false }],
  limits,
  timeouts: { drain_ms: 200, ...timeouts },
});

const get = async (port: number): Promise<number> =>
  statusOf((await sendRaw(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')).text);

for (const kind of listenerKinds) {
  for (const path of ['/large', '/chunked'])
    t.test(`A2: ${kind}: slow readers of many addresses give way (${path})`, async (t) => {
      const upstream = await startUpstream(t);
      const plane = await startPlane(t, kind, site(upstream.url, { upstream_connections_max: 6 }));
      const { http: port } = plane.ports;
      for (let nth = 1; nth <= 12; nth += 1) slowReader(t, port, path, `127.0.1.${nth}`, nth % 2 === 0);
      t.ok(await until(() => isInFlight(plane, 12)), 'more than there are connections');
      t.same(await Promise.all([1, 2, 3].map(() => get(port))), [200, 200, 200], 'others are served meanwhile');
      await metricsWith(plane, /slow_clients_total\{side="response",reason="pressure"\} [1-9]/);
    });

  t.test(`A2: ${kind}: one client holds its share at most, and what fits the memory holds nothing`, async (t) => {
    const upstream = await startUpstream(t);
    const limits = { slow_responses_per_client_max: 3, slow_client_bytes_per_second: 0 };
    const plane = await startPlane(t, kind, site(upstream.url, limits));
    const { http: port } = plane.ports;
    for (let nth = 1; nth <= 8; nth += 1) slowReader(t, port, '/large');
    await metricsWith(plane, 'slow_clients_total{side="response",reason="share"} 5');
    t.ok(await until(() => isInFlight(plane, 3)));
    t.equal(await get(port), 200);
  });

  t.test(`A2: ${kind}: a response is read off the upstream within the budget`, async (t) => {
    const upstream = await startUpstream(t);
    const limits = { relay_buffer_bytes_max: largeBytes, relay_buffers_bytes_max: largeBytes * 16 };
    const plane = await startPlane(t, kind, site(upstream.url, limits));
    const reader = slowReader(t, plane.ports.http, '/large');
    let read = 0;
    t.ok(await until(() => reader.isPaused() && upstream.done() === 1), 'the upstream is free');
    t.ok(await isInFlight(plane, 1));
    reader.on('data', (chunk) => (read += chunk.length));
    reader.resume();
    t.ok(await until(() => read >= largeBytes - 65_536), 'and the client gets all of it');
    t.ok(await until(() => isInFlight(plane, 0)));
    const again = slowReader(t, plane.ports.http, '/chunked');
    t.ok(await until(() => again.isPaused() && upstream.done() === 2), 'also where its length is unknown');
    let text = '';
    again.on('data', (chunk: Buffer) => (text = (text + chunk.toString('latin1')).slice(-10)));
    again.resume();
    t.ok(await until(() => text.endsWith('0\r\n\r\n')));
  });

  t.test(`A2: ${kind}: below the minimum a client is cut, above it never`, async (t) => {
    const upstream = await startUpstream(t);
    const settings = site(upstream.url, { response_bytes_per_second_min: 1000 }, { client_progress_ms: 600 });
    const plane = await startPlane(t, kind, settings);
    const nothing = slowReader(t, plane.ports.http, '/large');
    const closed = new Promise((resolve) => nothing.once('close', resolve));
    await metricsWith(plane, 'slow_clients_total{side="response",reason="minimum"} 1');
    nothing.resume();
    await closed;
    const paced = slowReader(t, plane.ports.http, '/medium');
    let read = 0;
    paced.on('data', (chunk: Buffer) => {
      read += chunk.length;
      paced.pause();
      setTimeout(() => paced.resume(), 5);
    });
    paced.resume();
    t.ok(await until(() => read > 3 * 1024 * 1024), 'a slow one that goes on gets all of it');
  });

  t.test(`A3: ${kind}: uploads that trickle are ended, with and without a length`, async (t) => {
    const backend = await startBackend(t, (_request, response) => response.end('ok'));
    const settings = {
      sites: [{ name: 'shop', prefix: '/', upstream: backend.url, protected: true }],
      limits: { request_bytes_per_second_min: 2000 },
      timeouts: { client_progress_ms: 600, drain_ms: 200 },
    };
    const plane = await startPlane(t, kind, settings);
    const trickle = async (framing: string, bytes: string): Promise<number> => {
      const socket = connect(plane.ports.http, '127.0.0.1');
      t.teardown(() => socket.destroy());
      let text = '';
      socket.on('error', () => {}); // cut
      socket.on('data', (chunk) => (text += chunk.toString('latin1')));
      socket.write(`POST / HTTP/1.1\r\nHost: a\r\n${framing}\r\n\r\n`);
      const timer = setInterval(() => socket.write(bytes), 50);
      t.teardown(() => clearInterval(timer));
      await until(() => text !== '');
      clearInterval(timer);
      return statusOf(text);
    };
    t.equal(await trickle('Content-Length: 1000000', 'x'), 408);
    t.equal(await trickle('Transfer-Encoding: chunked', '1\r\nx\r\n'), 408);
    await metricsWith(plane, 'slow_clients_total{side="request",reason="minimum"} 2');
    t.equal(await get(plane.ports.http), 200);
  });

  t.test(`A3: ${kind}: the memory for bodies has a share for each client, and trickling ones give way`, async (t) => {
    const backend = await startBackend(t, (request, response) => {
      request.resume();
      request.on('end', () => response.end('ok'));
    });
    const settings = (percent: number, yieldBelow: number): object => ({
      sites: [{ name: 'shop', prefix: '/', upstream: backend.url, protected: true }],
      limits: {
        request_body_bytes_max: 1_000_000,
        held_body_bytes_max: 4_000_000,
        held_body_client_percent_max: percent,
        slow_client_bytes_per_second: yieldBelow,
      },
      timeouts: { drain_ms: 200 },
    });
    const upload = (port: number, from: string, sent: number): { socket: Socket; text: () => string } => {
      const socket = connect({ port, host: '127.0.0.1', localAddress: from });
      t.teardown(() => socket.destroy());
      let text = '';
      socket.on('error', () => {}); // cut
      socket.on('data', (chunk) => (text += chunk.toString('latin1')));
      socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n');
      socket.write(Buffer.alloc(sent, 'x'));
      return { socket, text: () => text };
    };
    const share = await startPlane(t, kind, settings(50, 0));
    const own = [1, 2, 3, 4, 5].map(() => upload(share.ports.http, '127.0.2.1', 900_000));
    t.ok(await until(() => own.some(({ text }) => statusOf(text()) === 429)), 'more than the share of one client');
    t.match(own.map(({ text }) => text()).join(''), /retry-after: \d+/i);
    t.equal(statusOf(await whole(upload(share.ports.http, '127.0.2.2', 1_000_000))), 200, 'another client has its own');

    const pressure = await startPlane(t, kind, settings(100, 16_384));
    for (let nth = 1; nth <= 4; nth += 1) upload(pressure.ports.http, `127.0.3.${nth}`, 990_000);
    t.ok(await until(() => isInFlight(pressure, 4)));
    t.ok(
      await until(async () => statusOf(await whole(upload(pressure.ports.http, '127.0.4.1', 1_000_000))) === 200),
      'those that stand still give way to one that does not',
    );
    await metricsWith(pressure, /slow_clients_total\{side="request",reason="pressure"\} [1-9]/);
  });
}

async function whole({ text }: { text: () => string }): Promise<string> {
  await until(() => /\r\n\r\n/.test(text()));
  return text();
}

t.test('A2: a body that streams to the upstream gives way as well', async (t) => {
  const requests = new Set<Socket>();
  const server = createServer((socket) => {
    requests.add(socket);
    socket.on('error', () => {}); // cut
    socket.once('data', (chunk) => {
      if (chunk.toString('latin1').startsWith('GET')) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of requests) socket.destroy();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const plane = await startPlane(t, 'node', site(url, { upstream_connections_max: 3 }));
  for (let nth = 1; nth <= 3; nth += 1) {
    const socket = connect({ port: plane.ports.http, host: '127.0.0.1', localAddress: `127.0.5.${nth}` });
    socket.on('error', () => {}); // cut
    t.teardown(() => socket.destroy());
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000000\r\n\r\nx');
  }
  t.ok(await until(() => requests.size === 3));
  t.equal(await get(plane.ports.http), 200);
});
