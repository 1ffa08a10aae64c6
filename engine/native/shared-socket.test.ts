// Sockets of one port for several listeners, opened by the addon.
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import t, { type Test } from 'tap';
import { nativeAddon, openSharedSocket } from './addon.js';

function listenOn(t: Test, where: object): Promise<Server> {
  const server = createServer((socket) => socket.end());
  t.teardown(() => server.close());
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, () => resolve(server));
  });
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

t.test('several sockets listen on one port', async (t) => {
  const first = await listenOn(t, { fd: openSharedSocket('127.0.0.1', 0, 16) });
  const second = await listenOn(t, { fd: openSharedSocket('127.0.0.1', portOf(first), 16) });
  t.equal(portOf(second), portOf(first));
  let seen = 0;
  for (const server of [first, second]) server.on('connection', () => (seen += 1));
  for (let client = 0; client < 20; client += 1)
    await new Promise((resolve) => connect(portOf(first), '127.0.0.1').resume().on('close', resolve));
  t.equal(seen, 20, 'each client is somewhere');
});

t.test('an address of IPv6, and one that takes both', { skip: process.platform !== 'linux' }, async (t) => {
  const both = await listenOn(t, { fd: openSharedSocket('::', 0, 16) });
  await new Promise((resolve) => connect(portOf(both), '127.0.0.1').resume().on('close', resolve));
  t.pass('IPv4 clients reach it');
});

t.test('what cannot be opened says why', async (t) => {
  const taken = await listenOn(t, { host: '127.0.0.1', port: 0, exclusive: true });
  t.throws(() => openSharedSocket('127.0.0.1', portOf(taken), 16), {
    code: 'EADDRINUSE',
    message: /127\.0\.0\.1:\d+: /,
  });
  t.throws(() => openSharedSocket('192.0.2.1', 0, 16), { code: 'EADDRNOTAVAIL' }, 'an address of nobody here');
  const { openSharedSocket: open } = nativeAddon() as unknown as { openSharedSocket(...values: unknown[]): number };
  for (const wrong of [
    [],
    ['127.0.0.1'],
    [1, 1, 1],
    ['127.0.0.1', 65_536, 1],
    ['127.0.0.1', 1.5, 1],
    ['127.0.0.1', 1, 0],
  ])
    t.throws(() => open(...wrong), TypeError, JSON.stringify(wrong));
});
