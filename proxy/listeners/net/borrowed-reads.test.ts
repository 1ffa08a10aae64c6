// Many connections of one thread read into one buffer: what has to wait must be nobody else's meanwhile.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { dataPlaneDefaults } from '#settings';
import { until } from '../../e2e/waiting.js';
import { onUnreadable } from '../contract/echo.contract.js';
import { listen, type Exchange } from '../index.js';
import { BorrowedReads } from './borrowed-reads.js';

const { limits, timeouts } = dataPlaneDefaults();

interface Client {
  readonly socket: Socket;
  text: string;
}

function clientOf(t: Test, port: number): Client {
  const client: Client = { socket: connect({ port, host: '127.0.0.1' }), text: '' };
  t.teardown(() => client.socket.destroy());
  client.socket.on('error', () => {});
  client.socket.on('data', (chunk) => (client.text += chunk.toString('latin1')));
  return client;
}

t.test('8: the socket of a server hands over what it stands on, and the server counts on', async (t) => {
  let taken: BorrowedReads | null = null;
  const came: string[] = [];
  let ends = 0;
  const server = createServer({ allowHalfOpen: true }, (accepted) => {
    taken = BorrowedReads.of(accepted);
    if (taken === null) return;
    taken.onBytes = (chunk) => came.push(chunk.toString('latin1'));
    taken.socket.on('end', () => (ends += 1));
    t.equal(BorrowedReads.of(accepted), null, 'only once');
  });
  t.teardown(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = clientOf(t, (server.address() as AddressInfo).port);
  client.socket.write('one');
  t.ok(await until(() => came.join('') === 'one'), 'this Node.js can do it');
  const { socket } = taken as unknown as BorrowedReads;
  t.equal(socket.remotePort, client.socket.localPort);
  socket.pause();
  client.socket.write('two');
  let isClosed = false;
  server.close(() => (isClosed = true));
  socket.write('answer');
  t.ok(await until(() => client.text === 'answer'));
  t.equal(came.join(''), 'one', 'paused');
  t.equal(isClosed, false, 'the server waits for its connection');
  socket.resume();
  t.ok(await until(() => came.join('') === 'onetwo'));
  client.socket.end();
  t.ok(await until(() => ends === 1), 'the end of the other side is told');
  socket.destroy();
  t.ok(await until(() => isClosed));
});

t.test('8: requests that wait for their turn are not overwritten by what other clients send', async (t) => {
  const open: Exchange[] = [];
  const listener = await listen('net', {
    host: '127.0.0.1',
    port: 0,
    sharedPort: false,
    limits: () => limits,
    timeouts,
    handler: { onRequest: (exchange) => open.push(exchange), onUnreadable },
  });
  t.teardown(() => listener.stop(0));
  const clients = Array.from({ length: 8 }, () => clientOf(t, listener.port));
  const request = (client: number, nth: number): string =>
    `GET /${client}/${nth}${'x'.repeat(client * 37)} HTTP/1.1\r\nHost: h${client}\r\n\r\n`;
  // Two and a half at once from each: the second waits for the first, and half a head for its end.
  for (const [nth, { socket }] of clients.entries())
    socket.write(request(nth, 0) + request(nth, 1) + request(nth, 2).slice(0, 9));
  t.ok(await until(() => open.length === clients.length));
  for (const [nth, { socket }] of clients.entries()) socket.write(request(nth, 2).slice(9));
  const seen: string[] = [];
  t.ok(
    await until(() => {
      const exchange = open.shift();
      if (exchange !== undefined) {
        seen.push(`${exchange.head.uri} ${exchange.head.headers.join()}`);
        exchange.respond(200, [], 'ok', false);
      }
      return seen.length === clients.length * 3;
    }),
  );
  const wanted = clients.flatMap((_, client) =>
    [0, 1, 2].map((nth) => `/${client}/${nth}${'x'.repeat(client * 37)} Host,h${client}`),
  );
  t.strictSame(seen.sort(), wanted.sort());
});
