// The upstream client against scripted servers: reuse, retries, time limits, and what a broken upstream leads to.
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { until } from '../e2e/waiting.js';
import type { ProxyError } from '../contract/errors.js';
import type { UpstreamExchange, UpstreamHandler, UpstreamOptions, UpstreamRequest } from './exchange.js';
import { UpstreamPool } from './pool.js';
import type { UpstreamHead } from './response-head.js';

interface Result {
  head: UpstreamHead | null;
  body: string;
  error: ProxyError | null;
}

async function serve(
  t: Test,
  onRequest: (socket: Socket, request: string, nth: number) => void,
): Promise<{ port: number; server: Server; sockets: Socket[] }> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    let nth = 0;
    let text = '';
    socket.on('error', () => {}); // the client cuts connections on purpose
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      while (text.includes('\r\n\r\n')) {
        const end = text.indexOf('\r\n\r\n') + 4;
        const length = Number(/content-length: (\d+)/i.exec(text.slice(0, end))?.[1] ?? 0);
        if (text.length < end + length) return;
        nth += 1;
        onRequest(socket, text.slice(0, end + length), nth);
        text = text.slice(end + length);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, server, sockets };
}

/** Patient, but for the times that `changes` shortens because they are to pass. */
function poolTo(t: Test, port: number, changes: Partial<UpstreamOptions> = {}): UpstreamPool {
  const pool = new UpstreamPool({
    host: '127.0.0.1',
    port,
    tls: false,
    serverName: 'x',
    verifyCertificate: true,
    connectionsMax: 4,
    waitersMax: 4,
    connectTimeoutMs: 60_000,
    headTimeoutMs: 60_000,
    bodyIdleTimeoutMs: 60_000,
    keepAliveMs: 60_000,
    maxAgeMs: 600_000,
    resolveMs: 60_000,
    ...changes,
  });
  t.teardown(() => pool.close());
  return pool;
}

function ask(
  pool: UpstreamPool,
  changes: Partial<UpstreamRequest> = {},
  during: (exchange: UpstreamExchange, heard: Result) => void = () => {},
): Promise<Result> {
  return new Promise((resolve) => {
    const result: Result = { head: null, body: '', error: null };
    const handler: UpstreamHandler = {
      onInterim: () => {},
      onHead: (head) => {
        result.head = head;
      },
      onData: (chunk) => {
        result.body += chunk.toString('latin1');
      },
      onEnd: () => resolve(result),
      onError: (error) => {
        result.error = error;
        resolve(result);
      },
      onDrain: () => {},
    };
    const method = changes.method ?? 'GET';
    const length =
      changes.body === undefined || changes.body === null ? '' : `Content-Length: ${changes.body.length}\r\n`;
    during(
      pool.dispatch(
        {
          method,
          head: `${method} / HTTP/1.1\r\nHost: x\r\n${length}\r\n`,
          body: null,
          isStreaming: false,
          ...changes,
        },
        handler,
      ),
      result,
    );
  });
}

const ok = (body: string): string => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

t.test('connections are kept and used again', async (t) => {
  const { port, sockets } = await serve(t, (socket, request, nth) => socket.write(ok(`${nth}:${request.slice(-3)}`)));
  const pool = poolTo(t, port);
  t.equal((await ask(pool)).body.slice(0, 2), '1:');
  t.equal((await ask(pool, { method: 'POST', body: Buffer.from('abc') })).body, '2:abc');
  t.equal((await ask(pool, { method: 'POST', body: Buffer.alloc(100_000, 'x') })).body, '3:xxx');
  t.equal(sockets.length, 1);
  await Promise.all([ask(pool), ask(pool), ask(pool)]);
  t.equal(sockets.length, 3, 'one request at a time on each');
});

t.test('no more connections than allowed: others wait, or are told so', async (t) => {
  let open = 0;
  let most = 0;
  const { port } = await serve(t, (socket) => {
    open += 1;
    most = Math.max(most, open);
    setTimeout(() => {
      open -= 1;
      socket.write(ok('x'));
    }, 20);
  });
  const pool = poolTo(t, port, { connectionsMax: 2, waitersMax: 3 });
  const results = await Promise.all(Array.from({ length: 8 }, () => ask(pool)));
  t.equal(most, 2);
  t.equal(results.filter(({ error }) => error?.code === 'PXY_UPSTREAM_BUSY').length, 3);
  t.equal(results.filter(({ body }) => body === 'x').length, 5);
});

t.test('an upload that had to wait for a connection is asked for the rest of it', async (t) => {
  const holder: { answer: (() => void) | null } = { answer: null };
  const { port } = await serve(t, (socket, request) => {
    if (request.startsWith('GET')) holder.answer = () => socket.write(ok('first'));
    else socket.write(ok(request.slice(-4)));
  });
  const pool = poolTo(t, port, { connectionsMax: 1, connectTimeoutMs: 60_000, headTimeoutMs: 60_000 });
  const first = ask(pool);
  const upload = new Promise<string>((resolve, reject) => {
    let body = '';
    const exchange = pool.dispatch(
      {
        method: 'POST',
        head: 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n',
        body: null,
        isStreaming: true,
      },
      {
        onInterim: () => {},
        onHead: () => {},
        onData: (chunk) => (body += chunk.toString('latin1')),
        onEnd: () => resolve(body),
        onError: reject,
        onDrain: () => {
          exchange.write(Buffer.from('cd'));
          exchange.end();
        },
      },
    );
    t.equal(exchange.write(Buffer.from('ab')), false, 'nothing takes it yet');
  });
  t.ok(await until(() => holder.answer !== null), 'the first one arrived');
  holder.answer?.();
  t.equal((await first).body, 'first');
  t.equal(await upload, 'abcd');
});

t.test('a request that was given up does not keep its place in the queue', async (t) => {
  const holder: { answer: (() => void) | null } = { answer: null };
  const { port } = await serve(t, (socket, _request, nth) => {
    if (nth === 1) holder.answer = () => socket.write(ok('first'));
    else socket.write(ok('later'));
  });
  const pool = poolTo(t, port, { connectionsMax: 1, waitersMax: 1 });
  const first = ask(pool);
  void ask(pool, {}, (exchange) => exchange.abort());
  const places: Result[] = [];
  const isQueued = async (): Promise<boolean> => {
    const result = await Promise.race([
      ask(pool, {}, (_exchange, heard) => places.push(heard)),
      new Promise<null>((resolve) => setImmediate(() => resolve(null))),
    ]);
    return result === null; // a refusal comes at once
  };
  t.ok(await until(isQueued), 'there is room again');
  t.ok(await until(() => holder.answer !== null));
  holder.answer?.();
  t.equal((await first).body, 'first');
  t.ok(await until(() => places.at(-1)?.body === 'later'));
});

t.test('a kept connection that the upstream closed: again on a fresh one, where that is safe', async (t) => {
  let requests = 0;
  const { port } = await serve(t, (socket, _request, nth) => {
    requests += 1;
    if (nth === 2)
      socket.destroy(); // took the second request, answered nothing
    else socket.write(ok('fine'));
  });
  for (const [method, isRepeated] of [
    ['GET', true],
    ['HEAD', true],
    ['PUT', true],
    ['POST', false],
    ['PATCH', false],
  ] as const) {
    const pool = poolTo(t, port);
    await ask(pool);
    requests = 0;
    const { error, head } = await ask(pool, { method });
    t.equal(error?.code ?? null, isRepeated ? null : 'PXY_UPSTREAM_RESET', method);
    t.equal(head?.status ?? null, isRepeated ? 200 : null, method);
    t.equal(requests, isRepeated ? 2 : 1, method);
    t.equal(pool.retries, isRepeated ? 1 : 0, method);
  }
});

t.test('a fresh connection that dies is not tried again', async (t) => {
  let requests = 0;
  const { port } = await serve(t, (socket) => {
    requests += 1;
    socket.destroy();
  });
  t.equal((await ask(poolTo(t, port))).error?.code, 'PXY_UPSTREAM_RESET');
  t.equal(requests, 1);
});

t.test('what goes wrong has a code and a source', async (t) => {
  const closedPort = 1; // nobody but root could listen there, and nobody does
  t.match((await ask(poolTo(t, closedPort))).error, { code: 'PXY_UPSTREAM_CONNECT', status: 502 });

  const cases: readonly {
    why: string;
    answer: string | null;
    closes?: boolean;
    times?: Partial<UpstreamOptions>;
    code: string;
  }[] = [
    { why: 'says nothing', answer: null, times: { headTimeoutMs: 300 }, code: 'PXY_UPSTREAM_HEAD_TIMEOUT' },
    {
      why: 'says half a head',
      answer: 'HTTP/1.1 200',
      times: { headTimeoutMs: 300 },
      code: 'PXY_UPSTREAM_HEAD_TIMEOUT',
    },
    {
      why: 'stops in the body',
      answer: 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc',
      times: { bodyIdleTimeoutMs: 300 },
      code: 'PXY_UPSTREAM_BODY_TIMEOUT',
    },
    {
      why: 'closes in the body',
      answer: 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc',
      closes: true,
      code: 'PXY_UPSTREAM_RESET',
    },
    {
      why: 'closes in a chunk',
      answer: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc',
      closes: true,
      code: 'PXY_UPSTREAM_RESET',
    },
    { why: 'speaks something else', answer: 'SSH-2.0-x\r\n\r\n', code: 'PXY_UPSTREAM_MALFORMED' },
  ];
  await Promise.all(
    cases.map(async ({ why, answer, closes, times, code }) => {
      const { port } = await serve(t, (socket) => {
        if (answer !== null) socket.write(answer);
        if (closes === true) socket.end();
      });
      const { error } = await ask(poolTo(t, port, times));
      t.equal(error?.code, code, why);
    }),
  );
});

t.test('bytes that nobody asked for close the connection', async (t) => {
  const { port, sockets } = await serve(t, (socket) =>
    socket.write(`${ok('a')}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison`),
  );
  const pool = poolTo(t, port);
  t.equal((await ask(pool)).body, 'a');
  t.equal((await ask(pool)).body, 'a', 'not the poison');
  t.equal(sockets.length, 2);
});

t.test('bytes that nobody asked for are no answer to a request that waits for the connection', async (t) => {
  const endings: readonly string[] = [
    ok('a'),
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n',
    'HTTP/1.1 204 No Content\r\n\r\n',
  ];
  for (const ending of endings) {
    const asked: string[] = [];
    const { port } = await serve(t, (socket, request) => {
      const path = request.split(' ', 2)[1] as string;
      asked.push(path);
      socket.write(path === '/first' ? `${ending}${ok('poison')}` : ok(path));
    });
    const pool = poolTo(t, port, { connectionsMax: 1 });
    const get = (path: string): Promise<Result> => ask(pool, { head: `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n` });
    const [first, second, third] = await Promise.all([get('/first'), get('/second'), get('/third')]);
    t.equal(first.body, ending.includes(' 200 ') ? 'a' : '');
    t.same([second.body, third.body], ['/second', '/third'], 'not the poison');
    t.same(asked, ['/first', '/second', '/third']);
  }
});

t.test('a body is streamed up, and the response can be paused', async (t) => {
  const { port } = await serve(t, (socket, request) => socket.write(ok(`${request.length}${'z'.repeat(200_000)}`)));
  const pool = poolTo(t, port);
  const result = await ask(
    pool,
    { method: 'POST', isStreaming: true, head: 'POST / HTTP/1.1\r\nContent-Length: 6\r\n\r\n' },
    (exchange) => {
      exchange.write(Buffer.from('abc'));
      setTimeout(() => {
        exchange.write(Buffer.from('def'));
        exchange.end();
        exchange.pause();
        setTimeout(() => exchange.resume(), 50);
      }, 20);
    },
  );
  t.equal(result.body.length, 200_002);
  t.equal((await ask(pool)).error, null);
});

t.test('giving up closes the connection and says nothing more', async (t) => {
  const { port, sockets } = await serve(t, (socket) =>
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc'),
  );
  const pool = poolTo(t, port);
  let heard = 0;
  let begun: { readonly exchange: UpstreamExchange; readonly result: Result } | null = null;
  void ask(pool, {}, (exchange, result) => (begun = { exchange, result })).then(() => (heard += 1));
  const { exchange, result } = begun as unknown as { readonly exchange: UpstreamExchange; readonly result: Result };
  t.ok(await until(() => result.body === 'abc'), 'a part came');
  exchange.abort();
  t.equal(pool.openConnections, 0);
  t.ok(await until(() => sockets[0]?.destroyed === true), 'the upstream sees it');
  t.equal(heard, 0);
});
