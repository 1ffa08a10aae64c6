// Clients that are denied while a WebSocket or an event stream of theirs is open: gates are asked as it begins.
import { connect, type Socket } from 'node:net';
import t from 'tap';
import {
  admin,
  isInFlight,
  listenerKinds,
  metricsWith,
  startBackend,
  startPlane,
  testMsMax,
  until,
} from './harness.js';
import { startWebSocketServer } from './websocket-server.js';

t.setTimeout(testMsMax);
const upgrade =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';

for (const kind of listenerKinds) {
  t.test(`${kind}: issue 22: a denial ends the WebSockets and event streams of its client`, async (t) => {
    const events = await startBackend(t, (_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.write('data: one\n\n');
    });
    const chat = await startWebSocketServer(t);
    const of = (name: string, prefix: string, upstream: string, more: object = {}): object => {
      return { name, prefix, upstream, protected: true, ...more };
    };
    const plane = await startPlane(t, kind, {
      sites: [
        of('chat', '/chat', chat.url),
        of('watched', '/watched', chat.url, { mode: 'DetectionOnly' }),
        of('open', '/open', chat.url, { protected: false }),
        of('news', '/', events.url),
      ],
      ws_inspect: { enabled: true },
      rl_trust_proxy: true,
      rl_trusted_proxies: ['127.0.0.1'],
    });
    const begin = async (path: string, ip: string): Promise<Socket> => {
      const socket = connect(plane.ports.http, '127.0.0.1');
      t.teardown(() => socket.destroy());
      socket.on('error', () => {});
      const fields = `Host: a\r\nX-Forwarded-For: ${ip}\r\n${path === '/news' ? '' : upgrade}`;
      socket.write(`GET ${path} HTTP/1.1\r\n${fields}\r\n`);
      const head = await new Promise<Buffer>((resolve) => socket.once('data', resolve));
      t.match(head.toString('latin1'), /^HTTP\/1\.1 (?:101|200) /, path);
      socket.resume();
      return socket;
    };
    const abuser = '203.0.113.9';
    const ended = [await begin('/chat', abuser), await begin('/news', abuser)];
    const kept = [
      await begin('/chat', '203.0.114.9'),
      await begin('/news', '203.0.114.9'),
      await begin('/watched', abuser),
      await begin('/open', abuser),
    ];
    const states = (sockets: readonly Socket[]): boolean[] => sockets.map((socket) => socket.closed);
    const denied = await admin(plane, '/threats', { method: 'PUT', body: '203.0.113.0/24' });
    t.equal(denied.status, 200);
    t.ok(await until(() => !states(ended).includes(false)), 'those of the denied client end');
    t.strictSame(
      states(kept),
      kept.map(() => false),
      'others, and where nothing is enforced, go on',
    );
    t.ok(await until(async () => isInFlight(plane, kept.length)), 'nothing is left of those that ended');
    t.match(await metricsWith(plane, 'reason="gate"'), /refused_total\{[^}]*reason="gate"[^}]*\} 2\b/);
    for (const socket of kept) socket.destroy();
    t.ok(await until(async () => isInFlight(plane, 0)));
  });
}
