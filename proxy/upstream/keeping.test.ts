// R10 and R11: how long an upstream connection is kept and used again, and when it has to lead elsewhere.
import { createServer, type AddressInfo, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { until } from '../e2e/waiting.js';
import { Addresses, type Resolved } from './addresses.js';
import type { UpstreamOptions } from './exchange.js';
import { IdleTime } from './idle-time.js';
import { UpstreamPool } from './pool.js';

t.test('R10: what the upstream announces, and what it was seen to do', async (t) => {
  const announced = new IdleTime(60_000);
  t.equal(announced.limitMs(true, 0), 60_000);
  announced.announced(5);
  t.equal(announced.limitMs(true, 0), 4000, 'a second for the way');
  announced.announced(1);
  t.equal(announced.limitMs(false, 0), 500, 'half of a short time');
  announced.announced(0);
  t.equal(announced.limitMs(true, 0), 0);

  const observed = new IdleTime(60_000);
  observed.closedAfter(2000, 1000);
  observed.closedAfter(70_000, 1000);
  observed.closedAfter(9000, 1000);
  t.equal(observed.limitMs(false, 1000), 1000, 'half of the shortest');
  t.equal(observed.limitMs(true, 1000), 60_000, 'what may be sent again is');
  t.equal(observed.limitMs(false, 700_000), 60_000, 'not for ever');

  const raced = new IdleTime(60_000);
  raced.raced(50, 0);
  t.ok(raced.limitMs(false, 59_000) < 0, 'fresh connections for a while');
  t.equal(raced.limitMs(false, 61_000), 25);
  raced.raced(50, 61_000);
  t.ok(raced.limitMs(false, 180_000) < 0, 'for longer the second time');
});

interface Upstream {
  readonly port: number;
  readonly sockets: Socket[];
}

async function serve(t: Test, onRequest: (socket: Socket) => void, host = '127.0.0.1', port = 0): Promise<Upstream> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {}); // the client leaves when it likes
    socket.on('data', () => onRequest(socket));
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, sockets };
}

function poolTo(t: Test, port: number, changes: Partial<UpstreamOptions> = {}): UpstreamPool {
  const long = { connectTimeoutMs: 60_000, headTimeoutMs: 60_000, bodyIdleTimeoutMs: 60_000, keepAliveMs: 60_000 };
  const pool = new UpstreamPool({
    ...{ host: '127.0.0.1', port, tls: false, serverName: 'x', verifyCertificate: true },
    ...{ connectionsMax: 4, waitersMax: 4, ...long, maxAgeMs: 600_000, resolveMs: 60_000 },
    ...changes,
  });
  t.teardown(() => pool.close());
  return pool;
}

/** Resolves with the status, or 0 when it failed. */
function ask(pool: UpstreamPool, method = 'GET'): Promise<number> {
  return new Promise((resolve) => {
    let status = 0;
    pool.dispatch(
      { method, head: `${method} / HTTP/1.1\r\nHost: x\r\n\r\n`, body: null, isStreaming: false },
      {
        onInterim: () => {},
        onHead: (head) => (status = head.status),
        onData: () => {},
        onEnd: () => resolve(status),
        onError: () => resolve(0),
        onDrain: () => {},
      },
    );
  });
}

const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n';

t.test('R10: Keep-Alive of the upstream ends an idle connection in time', async (t) => {
  const { port, sockets } = await serve(t, (socket) => socket.write(`${answer}Keep-Alive: max=9, timeout=1\r\n\r\n`));
  const pool = poolTo(t, port);
  t.equal(await ask(pool), 200);
  t.equal(await ask(pool, 'POST'), 200);
  t.equal(sockets.length, 1, 'used again while it is young');
  t.ok(await until(() => pool.openConnections === 0), 'closed by us, before the upstream does');
  const never = await serve(t, (socket) => socket.write(`${answer}keep-alive: timeout=0\r\n\r\n`));
  const fresh = poolTo(t, never.port);
  t.equal(await ask(fresh), 200);
  t.ok(await until(() => fresh.openConnections === 0));
});

t.test('R10: after a POST was lost in the race, POSTs get fresh connections', async (t) => {
  let isCutting = false;
  const { port, sockets } = await serve(t, (socket) => {
    if (isCutting && sockets.length === 1) socket.resetAndDestroy();
    else socket.write(`${answer}\r\n`);
  });
  const pool = poolTo(t, port);
  t.equal(await ask(pool, 'POST'), 200);
  isCutting = true;
  t.equal(await ask(pool, 'POST'), 0, 'it must not be sent again');
  for (let nth = 2; nth <= 5; nth += 1) {
    t.equal(await ask(pool, 'POST'), 200);
    t.equal(sockets.length, nth, 'a connection of its own');
  }
  t.equal(await ask(pool, 'GET'), 200);
  t.equal(sockets.length, 5, 'what may be repeated takes what is there');
});

t.test('R11: a connection that is too old takes no further request', async (t) => {
  const { port, sockets } = await serve(t, (socket) => socket.write(`${answer}\r\n`));
  const pool = poolTo(t, port, { maxAgeMs: 50 });
  t.equal(await ask(pool), 200);
  t.ok(await until(() => pool.openConnections === 0), 'it ends by itself when it idles');
  t.equal(await ask(pool), 200);
  t.equal(sockets.length, 2);
});

t.test('R11: the addresses of a name change: connections to the old ones drain', async (t) => {
  let slow: Socket | null = null;
  const one = await serve(
    t,
    (socket) => (slow === null ? (slow = socket) : socket.write(`${answer}\r\n`)),
    '127.0.0.1',
  );
  const two = await serve(t, (socket) => socket.write(`${answer}\r\n`), '127.0.0.2', one.port);
  let address = '127.0.0.1';
  let asked = 0;
  const resolve = (): Promise<Resolved> => {
    asked += 1;
    return Promise.resolve({ addresses: [{ address, family: 4 }], ttlMs: 1000 });
  };
  const pool = poolTo(t, one.port, { host: 'up.example', resolve });
  const underWay = ask(pool);
  t.ok(await until(() => slow !== null));
  t.equal(await ask(pool), 200);
  t.equal(one.sockets.length, 2);
  address = '127.0.0.2';
  t.ok(await until(() => pool.openConnections === 1), 'the idle one ends');
  t.equal(await ask(pool), 200);
  t.equal(two.sockets.length, 1, 'new ones lead to the new address');
  (slow as Socket | null)?.write(`${answer}\r\n`);
  t.equal(await underWay, 200, 'what was under way is finished');
  t.ok(await until(() => pool.openConnections === 1), 'and its connection ends behind it');
  t.ok(asked >= 2);
});

t.test('R11: while nobody answers, the last answer stands; several addresses take turns', async (t) => {
  let isAway = false;
  const changes: string[][] = [];
  const addresses = new Addresses(
    'up.example',
    10,
    (now) => changes.push([...now]),
    () =>
      isAway
        ? Promise.reject(new Error('no answer'))
        : Promise.resolve({
            addresses: ['192.0.2.1', '192.0.2.2'].map((address) => ({ address, family: 4 })),
            ttlMs: null,
          }),
  );
  const look = (): Promise<string> =>
    new Promise((resolve, reject) =>
      addresses.lookup('up.example', { all: false }, (error, address) =>
        error === null ? resolve(address as string) : reject(error),
      ),
    );
  t.same(new Set([await look(), await look()]), new Set(['192.0.2.1', '192.0.2.2']));
  isAway = true;
  addresses.refreshIfDue(performance.now() + 60_000);
  await new Promise((resolve) => setImmediate(resolve));
  t.match(await look(), /^192\.0\.2\./);
  t.same(changes, [], 'no change');
  t.ok(new Addresses('192.0.2.1', 10, () => {}).isLiteral);
});
