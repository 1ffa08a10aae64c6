// P7: a server that stands still (stopped, its host gone, packets swallowed) is told from one that has much to do.
import { createServer, type AddressInfo, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { until } from '../../testing/waiting.js';
import { openPostgres } from '../client.js';
import { findOutage } from '../outage.js';
import { createSockets } from './guarded-socket.js';
import { ServerPulses, sslRequest } from './server-pulse.js';

interface Double {
  readonly port: number;
  /** Times it was asked whether it answers at all. */
  readonly asked: number;
  /** Times that somebody began to log in. */
  readonly logins: number;
  /** It takes connections and says nothing any more, as the system does for a process that is stopped. */
  isStill: boolean;
}

/** Owes every statement its answer; whether it answers at all can be chosen. */
async function startDouble(t: Test): Promise<Double> {
  const double = { port: 0, asked: 0, logins: 0, isStill: false };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      if (!bytes.equals(sslRequest)) {
        double.logins += 1;
        return;
      }
      double.asked += 1;
      if (!double.isStill) socket.write('N');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  double.port = (server.address() as AddressInfo).port;
  return double;
}

function open(port: number, pulses: ServerPulses): Promise<Socket> {
  const sockets = createSockets({ tls: false, connectMsMax: 1000, pulses, untilTransactionsEnd: async () => {} });
  return sockets({ host: ['127.0.0.1'], port: [port] });
}

function endOf(socket: Socket): { error: Error | null; isClosed: boolean } {
  const end: { error: Error | null; isClosed: boolean } = { error: null, isClosed: false };
  socket.on('error', (error) => (end.error ??= error));
  socket.on('close', () => (end.isClosed = true));
  return end;
}

t.test('a statement may take as long as it likes while the server answers', async (t) => {
  const server = await startDouble(t);
  const socket = await open(server.port, new ServerPulses({ silentMs: 20, answerMs: 10_000, everyMs: 10 }));
  t.teardown(() => socket.destroy());
  const end = endOf(socket);
  socket.write('a long statement');
  await until('it is asked again and again', () => server.asked >= 5);
  t.strictSame(end, { error: null, isClosed: false });
});

t.test('an idle connection asks nothing', async (t) => {
  const server = await startDouble(t);
  const pulses = new ServerPulses({ silentMs: 1, answerMs: 10_000, everyMs: 1 });
  const [idle, busy] = [await open(server.port, pulses), await open(server.port, new ServerPulses())];
  t.teardown(() => [idle, busy].forEach((socket) => socket.destroy()));
  await until('a connection', () => idle.readyState === 'open');
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 1));
  t.equal(server.asked, 0);
});

t.test('a server that stands still ends its connections, refuses new ones at once, and is found again', async (t) => {
  const server = await startDouble(t);
  server.isStill = true;
  const pulses = new ServerPulses({ silentMs: 20, answerMs: 50, everyMs: 10 });
  const [waiting, idle] = [await open(server.port, pulses), await open(server.port, pulses)];
  const ends = [endOf(waiting), endOf(idle)];
  waiting.write('select 1');
  await until('all of them end, whether or not they wait', () => ends.every(({ isClosed }) => isClosed));
  for (const { error } of ends) t.equal(findOutage(error), 'unreachable');
  const next = endOf(await open(server.port, pulses));
  await until('the next one ends', () => next.isClosed);
  t.match(next.error?.message, /stands still/);
  server.isStill = false;
  await until('connections are taken again', async () => {
    const socket = await open(server.port, pulses);
    const end = endOf(socket);
    await until('its fate', () => end.isClosed || socket.readyState === 'open');
    socket.destroy();
    return end.error === null;
  });
});

t.test('a connection that was refused here at once begins its next login as ever', async (t) => {
  const server = await startDouble(t);
  server.isStill = true;
  const pulse = { silentMs: 20, answerMs: 50, everyMs: 10 };
  const database = openPostgres(`postgres://nobody@127.0.0.1:${server.port}/none`, { poolSize: 1, pulse });
  const problemOf = (): Promise<Error> =>
    database.sql`select 1`.then(
      () => new Error('answered'),
      (error: Error) => error,
    );
  for (let turn = 0; turn < 3; turn++) t.match((await problemOf()).message, /stands still/);
  server.isStill = false;
  const before = server.logins;
  const asking = setInterval(() => void problemOf(), 50);
  t.teardown(async () => {
    clearInterval(asking);
    await database.sql.end({ timeout: 0 });
  });
  await until('a login', () => server.logins > before);
});
