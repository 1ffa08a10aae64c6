// R6: how kept connections are spread over workers, and spread again when one has too many.
import { Agent, get } from 'node:http';
import t, { type Test } from 'tap';
import { dataPlaneDefaults } from '#settings';
import { until } from '../e2e/waiting.js';
import { createConnectionShares, crowdedBeyond, forgetShare, shareOf } from './connection-share.js';
import { onUnreadable } from './contract/echo.contract.js';
import { canSharePort, listen, type Listener, type ListenerKind } from './index.js';

const { limits, timeouts } = dataPlaneDefaults();

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
): Promise<Listener> {
  const begun = listen(kind, {
    host: '127.0.0.1',
    port,
    sharedPort: true,
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
