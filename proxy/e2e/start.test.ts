// A start that fails leaves nothing behind.
import { createServer, type AddressInfo } from 'node:net';
import t from 'tap';
import { configOf, listenerKinds, startBackend, startPlane, testMsMax } from './harness.js';

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

const withHeaders = { proxy_protocol: true, rl_trust_proxy: true, rl_trusted_proxies: ['127.0.0.1'] };
for (const kind of listenerKinds)
  t.test(
    `PROXY header: ${kind}: a listener that cannot read it is refused, and told apart from one that can`,
    async (t) => {
      const port = await listenOn(0);
      const dataDir = t.testdir({});
      if (kind === 'net') {
        const plane = await startPlane(t, kind, withHeaders, { port, dataDir });
        t.equal(plane.ports.http, port);
        return;
      }
      const refusal = new RegExp(
        `cannot start: /config/proxyProtocol asks .*DATA_LISTENER=${kind} cannot read.*DATA_LISTENER=auto, or turn`,
      );
      await t.rejects(startPlane(t, kind, withHeaders, { port, dataDir }), refusal);
      t.equal(await listenOn(port), port, 'nothing listens');
      const plane = await startPlane(t, kind, {}, { port, dataDir });
      const reply = await plane.activate({ id: 0, sha256: '', artifactPath: '', config: configOf(withHeaders) });
      t.match(
        reply,
        { outcome: 'refused', problems: [{ path: '/config/proxyProtocol', fix: /DATA_LISTENER=auto/ }] },
        'nor is it applied',
      );
    },
  );

t.test('PROXY header: auto is a listener that can', async (t) => {
  const plane = await startPlane(t, 'auto', withHeaders);
  t.equal(plane.listener, 'net');
});
