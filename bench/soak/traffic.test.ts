import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { p99Within } from './probe.js';
import { createTarget, keepPace, send, type Target } from './traffic.js';

async function targetOf(t: Test, onRequest: (url: string, reply: ServerResponse) => void): Promise<Target> {
  const server = createServer((request, reply) => {
    request.resume();
    onRequest(request.url ?? '', reply);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const target = createTarget((server.address() as AddressInfo).port, 8);
  t.teardown(() => {
    target.agent.destroy();
    server.close();
  });
  return target;
}

t.test('an answer with another status than the request stands for is a failed request', async (t) => {
  const target = await targetOf(t, (_, reply) => reply.writeHead(200).end());
  await send(target, 0);
  t.equal(target.tally.failures.size, 0, 'an ordinary one is answered 200');
  await send(target, 9);
  t.same([...target.tally.failures], [['200 instead of 403', 1]], 'an attack is to be refused');
  t.equal(target.tally.answered, 2, 'both are answers, and both have a record');
});

t.test('a connection that ends without an answer is a failed request', async (t) => {
  const target = await targetOf(t, (_, reply) => void reply.destroy());
  await send(target, 0);
  t.equal(target.tally.answered, 0);
  t.equal(
    [...target.tally.failures.values()].reduce((sum, n) => sum + n, 0),
    1,
  );
});

t.test('a target that stands still gets no backlog, and everything that was due is accounted for', async (t) => {
  const held: ServerResponse[] = [];
  const ending = new AbortController();
  const target = await targetOf(t, (_, reply) => {
    if (ending.signal.aborted) return void reply.end();
    held.push(reply);
    if (held.length < 8) return;
    ending.abort();
    for (const one of held) one.end();
  });
  const { due, leftOut } = await keepPace([target], 1e9, ending.signal);
  t.ok(leftOut > 0, 'what it had no room for is left out, and told');
  t.equal(target.tally.answered, due - leftOut, 'the rest is answered');
  t.ok(due - leftOut <= 500, 'which is no more than may wait at once');
});

t.test('latencies beside an apply are told apart from the others by when they were due', async (t) => {
  const samples = [10, 20, 30].map((dueMs) => ({ dueMs, tookMs: dueMs === 20 ? 7 : 1 }));
  const probed = { samples, answered: 3, failures: new Map<string, number>() };
  t.same(p99Within(probed, [{ fromMs: 15, toMs: 25 }]), { within: 7, beside: 1 });
});
