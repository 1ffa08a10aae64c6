// The port of a data plane that was asked for any: nobody else can get the number between its choice and the moment in
// which the workers listen.
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import t from 'tap';
import { listenerKinds, startBackend, startPlane } from '../e2e/harness.js';
import { sendRaw, statusOf } from '../e2e/raw-client.js';
import { claimPort, claimTlsPort } from './listen-port.js';

const host = '127.0.0.1';

/** What a stranger hears who would like to have it: the code of the error, or '' when it got it. */
async function tryToTake(port: number): Promise<string> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, 'listening');
    server.close();
    return '';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'no code';
  }
}

for (const kind of listenerKinds.filter((one) => one !== 'node'))
  t.test(`${kind}: a number that was chosen is nobody else's before the workers listen`, async (t) => {
    const claimed = await claimPort({ host, port: 0 }, kind, 2);
    t.not(claimed.port, 0, 'two workers are told the number');
    t.equal(claimed.isShared, true);
    t.equal(await tryToTake(claimed.port), 'EADDRINUSE', 'taken as long as it is claimed');
    const others = await Promise.all(Array.from({ length: 50 }, () => claimPort({ host, port: 0 }, kind, 2)));
    t.equal(new Set([claimed, ...others].map(({ port }) => port)).size, 51, 'every claim has a number of its own');
    await Promise.all([claimed, ...others].map(({ release }) => release()));
    t.equal(await tryToTake(claimed.port), '', 'and free behind it');
  });

t.test("TLS: a number that was chosen is nobody else's before the workers listen, of one or two", async (t) => {
  for (const workers of [1, 2]) {
    const claimed = await claimTlsPort({ host, tls: { port: 0 } }, workers);
    t.not(claimed?.port, 0, 'the number is told at once');
    t.equal(await tryToTake(claimed?.port ?? 0), 'EADDRINUSE', 'taken as long as it is claimed');
    await claimed?.release();
    t.equal(await tryToTake(claimed?.port ?? 0), '', 'and free behind it');
  }
  t.equal(await claimTlsPort({ host }, 1), null, 'without an edge there is none');
});

t.test('an only worker asks for 0 itself', async (t) => {
  t.match(await claimPort({ host, port: 0 }, 'net', 1), { port: 0, isShared: false });
});

t.test('a port that was asked for by number and is taken is told as before', async (t) => {
  const server = createServer();
  server.listen(0, host);
  await once(server, 'listening');
  t.teardown(() => void server.close());
  const { port } = server.address() as AddressInfo;
  await t.rejects(claimPort({ host, port }, 'net', 2), { message: /another program uses this port; stop it or set/ });
  await t.rejects(claimPort({ host: '192.0.2.1', port: 0 }, 'net', 1), {
    message: /^cannot listen on 192\.0\.2\.1:0: /,
  });
});

for (const kind of listenerKinds)
  for (const workers of kind === 'node' ? [1] : [1, 2])
    t.test(
      `${kind}: planes that start beside each other with ${workers} worker(s) have ports of their own`,
      async (t) => {
        const backend = await startBackend(t, (_request, response) => response.end('ok'));
        const sites = [{ name: 'shop', prefix: '/', upstream: backend.url, protected: true }];
        const planes = await Promise.all(Array.from({ length: 4 }, () => startPlane(t, kind, { sites }, { workers })));
        t.equal(new Set(planes.map(({ ports }) => ports.http)).size, 4);
        for (const { ports } of planes) {
          t.not(ports.http, 0);
          const asked = Array.from({ length: 8 }, () => sendRaw(ports.http, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'));
          t.same(
            new Set((await Promise.all(asked)).map(({ text }) => statusOf(text))),
            new Set([200]),
            'all are served',
          );
        }
      },
    );
