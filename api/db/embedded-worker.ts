// The embedded database runs here, off the API's thread: a WebAssembly query blocks its thread, and would block every
// other request with it. Speaks the PostgreSQL protocol on the unix socket given by `client.ts`.
import { parentPort, workerData } from 'node:worker_threads';
import { PGlite } from '@electric-sql/pglite';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';
import { copyFiles, type CopyRequest } from './embedded-copy.js';

const { directory, path } = workerData as { directory: string | null; path: string };
const port = parentPort;
if (port === null) throw new Error('embedded-worker runs in a worker thread only');

/**
 * PostgreSQL's own cache of pages. Its default of 128 MB lies beside the operating system's, which holds the same
 * pages: with half of it the process takes 76 MB less, and filling and asking a table of 60 MB is no slower (1.31
 * against 1.45 s).
 */
const sharedBuffers = '64MB';

try {
  const startParams = [...PGlite.defaultStartParams, '-c', `shared_buffers=${sharedBuffers}`];
  const db = await PGlite.create({ dataDir: directory ?? 'memory://', startParams });
  const server = new PGLiteSocketServer({ db, path, maxConnections: 1 });
  await server.start();
  port.on('message', async (message: 'close' | CopyRequest) => {
    if (message !== 'close') return port.postMessage(copyFiles(directory, message));
    await server.stop();
    await db.close();
    port.postMessage({ kind: 'closed' });
  });
  port.postMessage({ kind: 'ready' });
} catch (error) {
  port.postMessage({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
}
