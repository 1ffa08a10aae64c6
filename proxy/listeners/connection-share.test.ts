// R6: how kept connections are spread over workers, and spread again when one has too many.
import { Agent, get } from 'node:http';
import { connect, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { dataPlaneDefaults } from '#settings';
import { freePort, until } from '../e2e/waiting.js';
import { createConnectionShares, crowdedBeyond, forgetShare, shareOf } from './connection-share.js';
import { onUnreadable } from './contract/echo.contract.js';
import { canSharePort, listen, type Listener, type ListenerKind } from './index.js';
import { openTogether } from './net/shared-port.js';

const { limits, timeouts } = dataPlaneDefaults();
const isLinux = process.platform === 'linux';

t.test('R6: a worker is crowded when chance does not explain what it has', (t) => {
  for (const [total, workers, atMost] of [
    [0, 2, 1],
    [8, 2, 8],
    [32, 2, 24],
    [100, 2, 65],
    [100, 4, 37],
    [10_000, 2, 5150],
  ] as const)
    t.equal(Math.floor(crowdedBeyond(total, workers)), atMost, `${total} connections, ${workers} workers`);
  let nowMs = 0;
  const shares = createConnectionShares(3);
  const own = shareOf(shares, 0, () => nowMs);
  const other = shareOf(shares, 1, () => nowMs);
  for (let count = 0; count < 20; count += 1) own.opened();
  t.ok(own.isCrowded(), '20 here, none there; the third worker is away and does not count');
  t.notOk(own.isCrowded(), 'one at a time');
  nowMs += 1000;
  t.ok(own.isCrowded());
  t.notOk(other.isCrowded(), 'the other one is not');
  forgetShare(shares, 1);
  nowMs += 1000;
  t.notOk(own.isCrowded(), 'who serves alone is never');
  const again = shareOf(shares, 1, () => nowMs);
  for (let count = 0; count < 15; count += 1) again.opened();
  nowMs += 1000;
  t.notOk(own.isCrowded(), '20 and 15 are chance');
  again.leave();
  again.closed();
  t.equal(new Int32Array(shares)[1], -1, 'who has left counts no more');
  t.end();
});

function listenOn(
  t: Test,
  kind: ListenerKind,
  port: number,
  shares: SharedArrayBuffer,
  worker: number,
  socket: number | null = null,
): Promise<Listener> {
  const begun = listen(kind, {
    host: '127.0.0.1',
    port,
    sharedPort: true,
    socket,
    share: shareOf(shares, worker, () => performance.now()),
    limits: () => limits,
    timeouts,
    handler: { onRequest: (exchange) => exchange.respond(200, [], String(worker), false), onUnreadable },
  });
  t.teardown(async () => (await begun).stop(0));
  return begun;
}

async function spread(t: Test, kind: ListenerKind): Promise<void> {
  const shares = createConnectionShares(2);
  const counts = new Int32Array(shares);
  const { port } = await listenOn(t, kind, 0, shares, 0);
  const agent = new Agent({ keepAlive: true, maxSockets: 40 });
  let answered = 0;
  let failed = 0;
  let isOver = false;
  const ask = (): void => {
    const again = (): void => void (isOver || setTimeout(ask, 5));
    get({ port, host: '127.0.0.1', agent }, (response) => {
      response.resume();
      response.on('end', () => {
        answered += 1;
        again();
      });
    }).on('error', () => {
      failed += 1;
      again();
    });
  };
  t.teardown(() => {
    isOver = true;
    agent.destroy();
  });
  for (let client = 0; client < 40; client += 1) ask();
  t.ok(await until(() => answered > 400), 'forty clients keep their connections');
  t.equal(counts[0], 40, 'all with the worker that listens');
  await listenOn(t, kind, port, shares, 1);
  t.ok(await until(() => (counts[1] ?? 0) >= 40 - crowdedBeyond(40, 2)), 'another begins, and gets its share');
  t.ok(await until(() => (counts[0] ?? 0) <= crowdedBeyond(40, 2)), `${counts[0]} and ${counts[1]}`);
  t.equal(failed, 0, 'no request failed for it');
}

for (const kind of ['net', 'node'] as const) {
  const skip = canSharePort(kind) ? false : `${kind} cannot share a port here`;
  t.test(`R6: ${kind}: connections that clients keep are spread over a worker that comes later`, { skip }, (t) =>
    spread(t, kind),
  );
}

const opened = async (port: number): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket)).on('error', reject);
  });

for (const kind of ['net', 'node'] as const)
  t.test(`R6: ${kind}: who waits for a start is dealt to all workers`, { skip: !isLinux }, async (t) => {
    const workers = 3;
    const port = await freePort();
    const sockets = openTogether('127.0.0.1', port, workers);
    if (sockets === null) throw new Error('the addon opens no sockets');
    t.equal(new Set(sockets).size, workers);
    // All of them come before any worker takes one.
    const clients = await Promise.all(Array.from({ length: 90 }, () => opened(port)));
    const shares = createConnectionShares(workers);
    for (const [worker, socket] of sockets.entries())
      t.equal((await listenOn(t, kind, port, shares, worker, socket)).port, port);
    const counts = new Int32Array(shares);
    const sum = (): number => counts.reduce((all, count) => all + count, 0);
    t.ok(await until(() => sum() === clients.length), `${sum()} of ${clients.length} were taken`);
    const most = crowdedBeyond(clients.length, workers) + 15; // two more standard deviations: chance, as good as never
    t.ok(Math.max(...counts) <= most, `${counts.join(', ')}: the one that began first has no more than its share`);
    for (const client of clients) client.destroy();
  });

t.test('R6: where one socket cannot be opened, none is', { skip: !isLinux }, async (t) => {
  const port = await freePort();
  const first = openTogether('127.0.0.1', port, 1);
  t.equal(first?.length, 1);
  const shares = createConnectionShares(1);
  const listener = await listenOn(t, 'net', port, shares, 0, first?.[0]);
  await listener.stop(0);
  const alone = await listen('net', {
    host: '127.0.0.1',
    port,
    sharedPort: false,
    limits: () => limits,
    timeouts,
    handler: { onRequest: (exchange) => exchange.respond(200, [], '', true), onUnreadable },
  });
  t.teardown(() => alone.stop(0));
  t.throws(() => openTogether('127.0.0.1', port, 3), { code: 'EADDRINUSE' });
});
