// A thread that stands still must not take its own delay for that of others.
import { EventEmitter, once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { expireAfter, watchEvery } from './late-timers.js';
import { UpstreamPool } from '../upstream/pool.js';
import type { UpstreamOptions } from '../upstream/exchange.js';
import { TimeLimits, type Timed } from '../listeners/net/time-limits.js';
import { ClientPace } from '../road/limits/client-pace.js';

/** The loop of this thread runs nothing for so long. */
const standStill = (ms: number): void =>
  void Atomics.wait(new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)), 0, 0, ms);

/** A server on a thread of its own, which goes on while this one stands still. Answers after `delayMs`, in pieces. */
async function serveElsewhere(t: Test, delayMs: number): Promise<number> {
  const code = `
    const { parentPort } = require('node:worker_threads');
    const server = require('node:net').createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', () => setTimeout(() => {
        socket.write('HTTP/1.1 200 OK\\r\\nContent-Length: 4\\r\\n\\r\\nab');
        setTimeout(() => socket.write('cd'), ${delayMs});
      }, ${delayMs}));
    });
    server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`;
  const worker = new Worker(code, { eval: true });
  t.teardown(() => void worker.terminate());
  const [port] = (await once(worker, 'message')) as [number];
  return port;
}

function ask(pool: UpstreamPool, heard: EventEmitter): Promise<string> {
  return new Promise((resolve) => {
    let body = '';
    pool.dispatch(
      { method: 'GET', head: 'GET / HTTP/1.1\r\nHost: x\r\n\r\n', body: null, isStreaming: false },
      {
        onInterim: () => {},
        onHead: () => heard.emit('head'),
        onData: (chunk) => {
          body += chunk.toString('latin1');
        },
        onEnd: () => resolve(body),
        onError: ({ code }) => resolve(code),
        onDrain: () => {},
      },
    );
  });
}

function poolTo(t: Test, port: number, changes: Partial<UpstreamOptions>): UpstreamPool {
  const options: UpstreamOptions = {
    host: '127.0.0.1',
    port,
    tls: false,
    serverName: 'x',
    verifyCertificate: true,
    connectionsMax: 1,
    waitersMax: 4,
    connectTimeoutMs: 60_000,
    headTimeoutMs: 60_000,
    bodyIdleTimeoutMs: 60_000,
    keepAliveMs: 60_000,
    maxAgeMs: 600_000,
    resolveMs: 60_000,
  };
  const pool = new UpstreamPool({ ...options, ...changes });
  t.teardown(() => pool.close());
  return pool;
}

t.test('soak: a thread that stood still while a connection was made has no connect timeout', async (t) => {
  const pool = poolTo(t, await serveElsewhere(t, 0), { connectTimeoutMs: 700 });
  const answer = ask(pool, new EventEmitter());
  standStill(1500);
  t.equal(await answer, 'abcd', 'the connection was there all the time');
});

t.test('soak: nor one of a request that waits for a connection', async (t) => {
  const pool = poolTo(t, await serveElsewhere(t, 50), { connectTimeoutMs: 700 });
  const answers = [ask(pool, new EventEmitter()), ask(pool, new EventEmitter())];
  standStill(1500);
  t.same(await Promise.all(answers), ['abcd', 'abcd'], 'the second had its turn');
});

t.test('soak: nor one of the response head, or of its body', async (t) => {
  const pool = poolTo(t, await serveElsewhere(t, 100), { headTimeoutMs: 700, bodyIdleTimeoutMs: 700 });
  t.equal(await ask(pool, new EventEmitter()), 'abcd', 'the connection is kept');
  const heard = new EventEmitter();
  const answer = ask(pool, heard);
  setImmediate(() => standStill(1500));
  heard.once('head', () => standStill(1500));
  t.equal(await answer, 'abcd');
});

t.test('an upstream that does not answer has its timeout all the same', async (t) => {
  const pool = poolTo(t, await serveElsewhere(t, 600_000), { headTimeoutMs: 300 });
  const answer = ask(pool, new EventEmitter());
  standStill(600);
  t.equal(await answer, 'PXY_UPSTREAM_HEAD_TIMEOUT');
});

t.test('expireAfter hears first what came while the thread stood still', async (t) => {
  const port = await serveElsewhere(t, 200);
  const socket: Socket = createConnection(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write('x');
  const order: string[] = [];
  const over = new Promise<void>((resolve) => {
    expireAfter(300, () => {
      order.push('expired');
      resolve();
    });
  });
  socket.once('data', () => order.push('data'));
  setImmediate(() => standStill(900));
  await over;
  socket.destroy();
  t.same(order, ['data', 'expired']);
});

t.test('expireAfter that is stopped, also at the last moment, expires never', async (t) => {
  let isExpired = false;
  const watch = expireAfter(20, () => {
    isExpired = true;
  });
  setTimeout(() => watch.stop(), 20);
  standStill(45); // both timers are due in one turn
  await new Promise<void>((resolve) => void expireAfter(200, resolve));
  t.equal(isExpired, false);
});

t.test('watchEvery tells for how long the thread noticed nothing', async (t) => {
  const late: number[] = [];
  let watch = { stop: (): void => {} };
  await new Promise<void>((resolve) => {
    watch = watchEvery(50, (_nowMs, stoodStillMs) => {
      late.push(stoodStillMs);
      if (late.length === 1) setImmediate(() => standStill(1000));
      if (late.some((ms) => ms > 500)) resolve();
    });
    t.teardown(() => watch.stop());
    // the watch keeps nothing alive
    const awake = setInterval(() => {}, 1000);
    t.teardown(() => clearInterval(awake));
  });
  const most = Math.max(...late);
  t.ok(most >= 850, `${most} of 1000 ms`);
});

t.test('soak: limits of client connections leave out the time in which the thread stood still', async (t) => {
  const limits = new TimeLimits<Timed>();
  t.teardown(() => limits.stop());
  const awake = setInterval(() => {}, 1000);
  t.teardown(() => clearInterval(awake));
  let isOver = false;
  const member: Timed = {
    dueMs: Number.POSITIVE_INFINITY,
    bucket: -1,
    bucketPlace: 0,
    timedOut: () => {
      isOver = true;
    },
  };
  limits.set(member, 800);
  standStill(1500);
  await new Promise<void>((resolve) => void setTimeout(() => setImmediate(() => setImmediate(resolve)), 0));
  t.equal(isOver, false, 'the client had no chance to be heard meanwhile');
  await new Promise<void>((resolve) => {
    const asking = setInterval(() => {
      if (!isOver) return;
      clearInterval(asking);
      resolve();
    }, 20);
  });
  t.ok(isOver, 'and it is over when the client goes on saying nothing');
});

t.test('soak: nor does the pace of a client count it', (t) => {
  const pace = new ClientPace(0, 0);
  pace.standStill(9000); // of the first ten seconds
  t.equal(pace.look(9900, 100, 1000), null, 'less than a second was watched');
  t.equal(pace.look(10_000, 1000, 1000), 1000, 'bytes per second that was watched');
  t.end();
});
