// 5: a flood from one address and a client that behaves from another: the flooder is banned on every worker, the other
// is never refused.
import { connect, type Socket } from 'node:net';
import t from 'tap';
import { startBackend, startPlane, testMsMax, until } from './harness.js';
import { sendRaw, statusOf } from './raw-client.js';

t.setTimeout(testMsMax);
const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

t.test('5: a flooder on many connections is banned on all workers, and nobody else notices', async (t) => {
  const backend = await startBackend(t, (_request, response) => response.end('ok'));
  const settings = {
    sites: [{ name: 'shop', upstream: backend.url }],
    flood_burst_enabled: true,
    flood_burst_events: 100,
    flood_burst_window: '1d',
    flood_autoban_enabled: true,
    flood_autoban_threshold: 20,
    // long, so that no place drains on a slow machine
    flood_autoban_window_sec: 86_400,
  };
  const plane = await startPlane(t, 'net', settings, { workers: 2 });
  const { http: port } = plane.ports;
  const last = new Map<Socket, string>();
  const statuses = new Map<string, number>();
  let isOver = false;
  for (let count = 0; count < 16; count += 1) {
    const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.3' });
    t.teardown(() => socket.destroy());
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      for (const [, status = ''] of chunk.toString('latin1').matchAll(/HTTP\/1\.1 (\d{3})/g)) {
        last.set(socket, status);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (!isOver) socket.write(request);
      }
    });
    socket.write(request);
  }
  const behaves = async (): Promise<number> => {
    const reply = await sendRaw(port, `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    return statusOf(reply.text);
  };
  const seen: number[] = [];
  const isBanned = async (): Promise<boolean> => {
    seen.push(await behaves());
    return last.size === 16 && [...last.values()].every((status) => status === '403');
  };
  t.ok(await until(isBanned), 'every connection, on whichever worker it is, is refused');
  for (let count = 0; count < 20; count += 1) seen.push(await behaves());
  isOver = true;
  t.strictSame(new Set(seen), new Set([200]), 'the other client is served all the time');
  const limited = statuses.get('429') ?? 0;
  t.equal(statuses.get('200'), 100, 'as many as the limit allows, on both workers together');
  t.equal(limited, 19, 'the twentieth limited request is the ban');
});
