// A start that fails leaves nothing behind; one that succeeds opens every worker at once.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import t from 'tap';
import { listenerKinds, startBackend, startPlane, testMsMax, until, workersOf } from './harness.js';

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
  t.test(`${kind}: where the admin port is taken, the workers that listen already are stopped`, async (t) => {
    const taken = await startBackend(t, (_request, response) => response.end());
    const port = await listenOn(0);
    await t.rejects(
      startPlane(t, kind, {}, { port, adminPort: taken.port }),
      /the admin interface cannot listen on 127\.0\.0\.1:\d+/,
    );
    t.equal(await listenOn(port), port, 'the port is free again');
  });
}

t.test('R6: clients that wait for a restart are spread over all workers, because these begin together', async (t) => {
  const clients = 60;
  const port = await listenOn(0);
  const kept: Socket[] = [];
  t.teardown(() => kept.forEach((socket) => socket.destroy()));
  let isOver = false;
  /** As keep-alive clients do: again and again until somebody listens, and then for ever on that connection. */
  const comeBack = (): void => {
    const socket = connect(port, '127.0.0.1', () => void kept.push(socket));
    socket.on('error', () => {
      if (!isOver) setTimeout(comeBack, 1);
    });
  };
  for (let client = 0; client < clients; client += 1) comeBack();
  t.teardown(() => (isOver = true));
  const plane = await startPlane(t, 'net', {}, { port, workers: 2 });
  t.ok(await until(() => kept.length === clients), 'everybody is back');
  let counts: (number | null)[] = [];
  t.ok(
    await until(async () => {
      counts = (await workersOf(plane)).map(({ connections }) => connections);
      return counts.reduce<number>((sum, count) => sum + (count ?? 0), 0) === clients;
    }),
  );
  // Each client is dealt to a worker by chance: fewer than 12 of 60 happens once in a million starts.
  t.ok(Math.min(...counts.map((count) => count ?? 0)) >= 12, counts.join(' and '));
});
