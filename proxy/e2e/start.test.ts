// A start that fails leaves nothing behind.
import { createServer, type AddressInfo } from 'node:net';
import t from 'tap';
import { listenerKinds, startBackend, startPlane, testMsMax } from './harness.js';

t.setTimeout(testMsMax);

/** The port it got; closed again where it was only asked for. */
async function listenOn(port: number): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: '127.0.0.1', port, exclusive: true }, resolve);
  });
  const { port: got } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return got;
}

for (const kind of listenerKinds) {
  t.test(`${kind}: where the admin port is taken, nothing listens`, async (t) => {
    const taken = await startBackend(t, (_request, response) => response.end());
    const port = await listenOn(0);
    await t.rejects(
      startPlane(t, kind, {}, { port, adminPort: taken.port }),
      /the admin interface cannot listen on 127\.0\.0\.1:\d+/,
    );
    t.equal(await listenOn(port), port, 'the port is free again');
  });
}
