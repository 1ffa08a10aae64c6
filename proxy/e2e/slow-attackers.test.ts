// 2: what floods of connections and slow clients may hold: caps of connections, and each of the four waiting times of
// flood_timeouts_enabled, on both listeners that can; others are served meanwhile.
import { createHash } from 'node:crypto';
import t from 'tap';
import type { DataPlane } from '../main/data-plane.js';
import { admin, configOf, metricsWith, standardPlan, startBackend, startPlane, testMsMax, until } from './harness.js';
import { doubleArtifact } from './inspection-double.js';
import { sendRaw, statusOf } from './raw-client.js';
import { dribble, slowClient, type SlowClient } from './slow-client.js';

t.setTimeout(testMsMax);
const kinds = ['net', 'node'] as const;

const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
const isServed = async (port: number): Promise<boolean> =>
  statusOf((await sendRaw(port, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')).text) === 200;
const ask = async ({ socket, isClosed }: SlowClient): Promise<boolean> =>
  !isClosed &&
  new Promise((resolve) => {
    socket.once('data', () => resolve(true));
    socket.once('close', () => resolve(false));
    socket.write(get);
  });

async function change(plane: DataPlane, settings: object): Promise<number> {
  const bytes = Buffer.from(doubleArtifact(standardPlan));
  const body = JSON.stringify({
    id: 0,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    artifactPath: '',
    artifactBase64: bytes.toString('base64'),
    config: configOf(settings),
  });
  return (await admin(plane, '/generation', { method: 'PUT', body })).status;
}

const timeouts = (over: object): object => ({
  flood_timeouts_enabled: true,
  flood_read_header: '60s',
  flood_read_body: '60s',
  flood_write: '60s',
  flood_idle: '60s',
  ...over,
});

for (const kind of kinds) {
  t.test(`2: ${kind}: a client has as many connections as it may have, and others have theirs`, async (t) => {
    const backend = await startBackend(t, (_request, response) => response.end('ok'));
    const sites = { sites: [{ name: 'shop', upstream: backend.url }] };
    const capped = { ...sites, flood_connections_enabled: true, flood_connections_max: 5 };
    const plane = await startPlane(t, kind, capped, { workers: kind === 'net' ? 2 : 1 });
    const port = plane.ports.http;
    const clients = Array.from({ length: 12 }, () => slowClient(t, port));
    t.ok(await until(() => clients.filter(({ isClosed }) => isClosed).length === 7), 'seven of twelve are cut');
    const open = clients.filter(({ isClosed }) => !isClosed);
    t.strictSame(await Promise.all(open.map(ask)), [true, true, true, true, true], 'the others are served');
    t.ok(await ask(slowClient(t, port, { localAddress: '127.0.0.2' })), 'another client, too');
    t.match(await metricsWith(plane, 'connections_capped_total'), 'connections_capped_total{outcome="enforced"} 7');
    for (const { socket } of open.slice(0, 2)) socket.destroy();
    t.ok(await until(async () => await ask(slowClient(t, port))), 'whoever closes one may open one');
    t.equal(await change(plane, { ...capped, flood_dry_run: true }), 200);
    const more = Array.from({ length: 8 }, () => slowClient(t, port));
    t.strictSame(new Set(await Promise.all(more.map(ask))), new Set([true]), 'a dry run refuses nobody');
    t.equal(await change(plane, { ...capped, rl_trust_proxy: true, rl_trusted_proxies: ['127.0.0.0/8'] }), 200);
    const behind = Array.from({ length: 8 }, () => slowClient(t, port));
    t.strictSame(new Set(await Promise.all(behind.map(ask))), new Set([true]), 'a trusted proxy has no cap');
  });

  t.test(`2: ${kind}: slow heads are cut at flood_read_header, by hundreds, and others are served`, async (t) => {
    const backend = await startBackend(t, (_request, response) => response.end('ok'));
    const sites = [{ name: 'shop', upstream: backend.url }];
    const plane = await startPlane(t, kind, { sites, ...timeouts({ flood_read_header: '1s' }) });
    const attackers = Array.from({ length: 300 }, () => slowClient(t, plane.ports.http));
    for (const attacker of attackers) {
      attacker.socket.write('GET / HTTP/1.1\r\nHost: a\r\nX: ');
      dribble(attacker, 'a', 100);
    }
    t.ok(await isServed(plane.ports.http));
    t.ok(await until(() => attackers.every(({ isClosed }) => isClosed)), 'all of them are cut');
    t.ok(attackers.every(({ text }) => text === '' || text.startsWith('HTTP/1.1 408 ')));
    t.ok(await isServed(plane.ports.http));
  });

  t.test(
    `2: ${kind}: bodies, answers and idling have their limits; a change counts for open connections`,
    async (t) => {
      const backend = await startBackend(t, (request, response) => {
        request.resume();
        if (request.url === '/large') response.end(Buffer.alloc(40_000_000, 'x'));
        else request.on('end', () => response.end('ok'));
      });
      const sites = [{ name: 'shop', upstream: backend.url }];
      const plane = await startPlane(t, kind, { sites, ...timeouts({}) });
      const port = plane.ports.http;
      const idle = slowClient(t, port);
      t.ok(await ask(idle));
      t.equal(
        await change(plane, { sites, ...timeouts({ flood_idle: '1s', flood_write: '1s', flood_read_body: '1s' }) }),
        200,
      );
      const body = slowClient(t, port);
      body.socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc');
      const reader = slowClient(t, port);
      reader.socket.pause();
      reader.socket.write('GET /large HTTP/1.1\r\nHost: a\r\n\r\n');
      const idling = slowClient(t, port);
      t.ok(await ask(idling));
      t.ok(await until(() => body.isClosed && idling.isClosed), 'the body that stands still, and the idle one');
      t.match(body.text, /^HTTP\/1\.1 408 /);
      t.ok(await ask(slowClient(t, port)));
      t.match(
        await metricsWith(plane, /action="aborted"} [1-9]/),
        /action="aborted"} [1-9]/,
        'the one that reads nothing',
      );
    },
  );
}
