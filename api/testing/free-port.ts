// Ports of the loopback interface for programs that must be told theirs, and that may be stopped and come back to it.
// A port that the system hands out by itself (Linux: from 32768) could meanwhile become that of any connection, and two
// test processes could be handed the same one. So it is taken from below, and a UDP socket on the same number, which
// nothing here uses and which goes with the process, keeps it from other test processes.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { randomInt } from 'node:crypto';

const portMin = 10_000;
const portMax = 32_000;

/** Free now, and reserved among tests until this process ends. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(portMin, portMax);
    if ((await isReserved(port)) && (await isFree(port))) return port;
  }
}

async function isReserved(port: number): Promise<boolean> {
  const mark = createSocket('udp4');
  try {
    mark.bind({ port, address: '127.0.0.1', exclusive: true });
    await once(mark, 'listening'); // rejects with the socket's error
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return false;
  }
  mark.unref();
  return true;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
