// 3: one limit of two nodes through Redis: together just what the limit allows (until 22 November 2026 it was up to
// half as much again, because nodes told each other afterwards; now they lease places before they give them away); each
// its fair share while Redis is away, and nobody gets a 5xx; one limit again when it is back.
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent, get, request, type IncomingMessage } from 'node:http';
import t, { type Test } from 'tap';
import { redisAddressOf } from '#settings/environment';
import type { DataPlane } from '../main/data-plane.js';
import { admin, listenerKinds, metricsWith, startBackend, startPlane, testMsMax, until } from './harness.js';
import { startRedis, withoutRedis } from './redis-server.js';

t.setTimeout(testMsMax);

interface Sharing {
  readonly state: string;
  readonly nodes: number;
}

const agent = new Agent({ keepAlive: true, maxSockets: 32 });

function ask({ ports }: DataPlane, key: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: ports.http, path: '/', agent, headers: { 'x-key': key } };
    get(options, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    }).on('error', reject);
  });
}

const sharingOf = async (plane: DataPlane): Promise<Sharing> =>
  ((await (await admin(plane, '/gates')).json()) as { sharing: Sharing }).sharing;

async function isShared(planes: readonly DataPlane[]): Promise<boolean> {
  const all = await Promise.all(planes.map(sharingOf));
  return all.every(({ state, nodes }) => state === 'shared' && nodes === planes.length);
}

/** `count` requests with this key to all nodes in turn, a few at a time; how often each status came. */
async function flood(planes: readonly DataPlane[], key: string, count: number): Promise<Map<number, number>> {
  const seen = new Map<number, number>();
  let sent = 0;
  const one = async (): Promise<void> => {
    while (sent < count) {
      const plane = planes[sent % planes.length] as DataPlane;
      sent += 1;
      const status = await ask(plane, key);
      seen.set(status, (seen.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: 8 }, one));
  return seen;
}

/** Two nodes with one limit of forty an hour by key. */
async function twoNodes(t: Test, redisUrl: string | null): Promise<DataPlane[]> {
  const backend = await startBackend(t, (_request, response) => response.end('ok'));
  const zone = { name: 'key', match_path: '/', key: 'header:X-Key', events: 40, window: '1h' };
  const settings = {
    sites: [{ name: 'shop', upstream: backend.url }],
    rl_enabled: true,
    rl_events: 1_000_000,
    rl_distributed: true,
    rl_zones: [zone],
  };
  const redis = redisUrl === null ? null : { address: redisAddressOf(redisUrl), prefix: null };
  const start = () => startPlane(t, 'net', settings, { redis });
  return [await start(), await start()];
}

t.test(
  '3: two nodes share a limit, also while Redis is killed and started again',
  { skip: withoutRedis },
  async (t) => {
    const redis = await startRedis(t);
    const planes = await twoNodes(t, redis.url);
    const [first, second] = planes as [DataPlane, DataPlane];
    t.ok(await until(() => isShared(planes)), 'both know of each other');

    const together = await flood(planes, 'both', 400);
    const allowed = together.get(200) ?? 0;
    t.equal(allowed, 40, 'all of it through both at once, and no more');
    t.equal(allowed + (together.get(429) ?? 0), 400, 'the others are refused with 429, and nothing else');

    const spent = (await flood([first], 'first', 200)).get(200) ?? 0;
    t.equal(spent, 40, 'through one, too');
    t.equal(await ask(first, 'first'), 429);
    t.ok(
      await until(async () => (await ask(second, 'first')) === 429),
      'whoever has used it up at one node has at the other',
    );

    await redis.kill();
    const away = await flood(planes, 'away', 400);
    t.strictSame([...away.keys()].sort(), [200, 429], 'no 5xx while Redis is away');
    t.equal(away.get(200), 40, 'each node gives its fair share');
    t.match(await metricsWith(first, /^gatehouse_rate_sharing_degraded 1$/m), /^gatehouse_rate_sharing_degraded 1$/m);

    await redis.start();
    const startedMs = performance.now();
    t.ok(await until(() => isShared(planes)));
    t.comment(`shared again after ${Math.round(performance.now() - startedMs)} ms`);
    const after = (await flood(planes, 'after', 400)).get(200) ?? 0;
    t.equal(after, 40, 'when it is back');
    t.match(await metricsWith(first, /^gatehouse_rate_sharing_degraded 0$/m), /^gatehouse_rate_sharing_degraded 0$/m);
    t.ok(
      await until(async () => (await ask(first, 'away')) === 429 && (await ask(second, 'away')) === 429),
      'what was taken meanwhile is not forgotten',
    );

    await second.stop();
    t.ok(await until(async () => (await sharingOf(first)).nodes === 1), 'a node that leaves is not waited for');
    const alone = (await flood([first], 'alone', 100)).get(200);
    t.equal(alone, 40, 'and the one that stays has all of it');
  },
);

for (const listener of listenerKinds)
  t.test(
    `10.2: ${listener}: a request with a body waits for its place and loses no byte`,
    { skip: withoutRedis },
    async (t) => {
      const redis = await startRedis(t);
      const backend = await startBackend(t, (request, response) => {
        const sum = createHash('sha256');
        request.on('data', (chunk: Buffer) => sum.update(chunk)).on('end', () => response.end(sum.digest('hex')));
      });
      const settings = {
        sites: [{ name: 'shop', upstream: backend.url }],
        rl_enabled: true,
        rl_events: 30,
        rl_window: '1h',
        rl_distributed: true,
        rl_zones: [{ name: 'key', match_path: '/', key: 'header:X-Key', events: 1000, window: '1h' }],
        endpoint_limits: [{ path: '/up', method: '*', events: 2000, window: '1h' }],
      };
      const planes = [
        await startPlane(t, listener, settings, { redis: { address: redisAddressOf(redis.url), prefix: null } }),
      ];
      t.ok(await until(() => isShared(planes)));
      const plane = planes[0] as DataPlane;
      const send = async (bytes: number, isChunked: boolean): Promise<[number, string, string]> => {
        const body = randomBytes(bytes);
        const headers = isChunked ? {} : { 'content-length': String(bytes) };
        const asked = request({
          host: '127.0.0.1',
          port: plane.ports.http,
          path: '/up',
          method: 'POST',
          agent,
          headers,
        });
        asked.end(body);
        const [response] = (await once(asked, 'response')) as [IncomingMessage];
        let text = '';
        for await (const chunk of response) text += String(chunk);
        return [response.statusCode ?? 0, text, createHash('sha256').update(body).digest('hex')];
      };
      for (const bytes of [1, 1000, 100_000, 3_000_000])
        for (const isChunked of [false, true]) {
          const [status, text, expected] = await send(bytes, isChunked);
          t.equal(status, 200, `${bytes} bytes`);
          t.equal(text, expected);
        }
      const seen = await Promise.all(Array.from({ length: 60 }, () => send(5000, true)));
      t.equal(seen.filter(([status]) => status === 200).length, 22, 'thirty in all');
      t.ok(seen.every(([status]) => status === 200 || status === 429));
    },
  );

t.test('3: without a store each node limits alone, and says so', async (t) => {
  const [first, second] = (await twoNodes(t, null)) as [DataPlane, DataPlane];
  t.equal((await flood([first], 'k', 100)).get(200), 40);
  t.equal((await flood([second], 'k', 100)).get(200), 40);
  t.match(await sharingOf(first), { state: 'no-store' });
  t.match(await metricsWith(first, /^gatehouse_rate_sharing_degraded 1$/m), /^gatehouse_rate_sharing_degraded 1$/m);
});
t.teardown(() => agent.destroy());
