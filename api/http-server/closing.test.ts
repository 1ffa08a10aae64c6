// A control plane that is restarted behind a socket that stays: clients that were let in are answered while it closes.
import { connect, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import t from 'tap';
import { createInstance } from './instance.js';
import { createForwarding } from './trusted-proxies.js';

t.test('a request that comes while it closes is answered, and its connection ends', async (t) => {
  const app = createInstance({ logger: false, forwarding: createForwarding([], null) });
  app.get('/api/answer', async () => ({ answer: 42 }));
  let ask = async (): Promise<string> => 'nothing was asked';
  app.addHook('preClose', async () => {
    t.match(await ask(), /^HTTP\/1\.1 200 [^]*connection: close[^]*42/i);
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  ask = async () => {
    socket.write('GET /api/answer HTTP/1.1\r\nHost: gatehouse.example\r\n\r\n');
    return String((await once(socket, 'data'))[0]);
  };
  t.match(await ask(), /^HTTP\/1\.1 200 [^]*connection: keep-alive[^]*42/i);
  const ended = once(socket, 'end');
  await app.close();
  await ended;
});
