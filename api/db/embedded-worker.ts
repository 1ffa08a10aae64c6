// The embedded database runs here, off the API's thread: a WebAssembly query blocks its thread, and would block every
// other request with it. Speaks the PostgreSQL protocol on the unix socket given by `client.ts`.
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';

const { directory, path } = workerData as { directory: string | null; path: string };
const port = parentPort;
if (port === null) throw new Error('embedded-worker runs in a worker thread only');

try {
  const db = await PGlite.create({ dataDir: directory ?? 'memory://' });
  const server = new PGLiteSocketServer({ db, path, maxConnections: 1 });
  await server.start();
  port.once('message', async () => {
    await server.stop();
    await db.close();
    port.postMessage({ kind: 'closed' });
  });
  port.postMessage({ kind: 'ready' });
} catch (error) {
  port.postMessage({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
}
