// E1 of issue 10: what one turn of the event loop reads of large replies is bounded, for one connection and for all.
import { createServer, type AddressInfo, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { until } from '../e2e/waiting.js';
import type { UpstreamExchange } from './exchange.js';
import { UpstreamPool } from './pool.js';
import { connectionTurnBytes, largeReadBytes, ReadTurns, threadTurnBytes, turnsGrantedMax } from './read-turns.js';

const receiveBytes = 64 * 1024;
const untilNextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A reader of ReadTurns without a socket. */
class Reader {
  readTurn = 0;
  readBytes = 0;
  isOutOfTurn = false;
  granted = 0;
  takeTurn(): void {
    this.granted += 1;
  }
}

t.test(
  'E1: a reader has its bytes of a turn, all of them have those of the thread, and the others wait in line',
  async (t) => {
    const turns = new ReadTurns();
    const [greedy, second, small] = [new Reader(), new Reader(), new Reader()];
    let reads = 0;
    while (turns.mayGoOn(greedy, receiveBytes)) reads += 1;
    t.equal((reads + 1) * receiveBytes, connectionTurnBytes);
    t.ok(turns.mayGoOn(second, receiveBytes), 'another reader has its own');
    t.ok(turns.mayGoOn(small, largeReadBytes - 1), 'what is small is not counted');
    await untilNextTurn();
    t.equal(greedy.granted, 1);
    t.equal(second.granted, 0, 'who was not stopped is not begun anew');
    t.ok(turns.mayGoOn(greedy, receiveBytes), 'the next turn counts from nothing');
    await untilNextTurn();

    const many = Array.from({ length: 5 * turnsGrantedMax }, () => new Reader());
    const stopped = many.filter((reader) => !turns.mayGoOn(reader, receiveBytes));
    t.equal(many.length - stopped.length, threadTurnBytes / receiveBytes - 1);
    const served: Reader[] = [];
    for (let turn = 0; served.length < stopped.length && turn < 100; turn += 1) {
      await untilNextTurn();
      const now = stopped.filter(({ granted }) => granted === 1).slice(served.length);
      t.ok(now.length <= turnsGrantedMax, 'few at a time');
      served.push(...now);
      if (now.length === 0) break;
    }
    t.strictSame(served, stopped, 'each in its turn, whoever was stopped first is first');
  },
);

interface Large {
  readonly port: number;
  readonly body: Buffer;
}

/** Every request is answered with the whole body, as fast as it is taken. */
async function serveLarge(t: Test, bytes: number): Promise<Large> {
  const body = Buffer.alloc(bytes);
  for (let at = 0; at < bytes; at += 4) body.writeUInt32LE(at, at);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}); // the reader leaves when it likes
    socket.on('data', () => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\n\r\n`);
      socket.write(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, body };
}

function poolTo(t: Test, port: number): UpstreamPool {
  const long = { connectTimeoutMs: 60_000, headTimeoutMs: 60_000, bodyIdleTimeoutMs: 60_000, keepAliveMs: 60_000 };
  const pool = new UpstreamPool({
    ...{ host: '127.0.0.1', port, tls: false, serverName: 'x', verifyCertificate: false },
    ...{ connectionsMax: 64, waitersMax: 64, ...long, maxAgeMs: 600_000, resolveMs: 60_000 },
  });
  t.teardown(() => pool.close());
  return pool;
}

interface Download {
  readonly exchange: UpstreamExchange;
  /** null: under way; '' = it came as it was sent. */
  fault: string | null;
  bytes: number;
  bytesOfTurn: number;
}

/** Counts what comes between two turns' ends, for each download and for all. */
class TurnCounts {
  readonly downloads: Download[] = [];
  ofOneMax = 0;
  ofAllMax = 0;
  private isOver = false;
  private readonly look = (): void => {
    let all = 0;
    for (const one of this.downloads) {
      all += one.bytesOfTurn;
      this.ofOneMax = Math.max(this.ofOneMax, one.bytesOfTurn);
      one.bytesOfTurn = 0;
    }
    this.ofAllMax = Math.max(this.ofAllMax, all);
    if (!this.isOver) setImmediate(this.look);
  };

  constructor() {
    setImmediate(this.look);
  }

  begin(pool: UpstreamPool, body: Buffer, onData: (download: Download) => void = () => {}): Download {
    let isRight = true;
    const exchange = pool.dispatch(
      { method: 'GET', head: 'GET / HTTP/1.1\r\nHost: x\r\n\r\n', body: null, isStreaming: false },
      {
        onInterim: () => {},
        onHead: () => {},
        onData: (chunk) => {
          const at = download.bytes;
          download.bytes += chunk.length;
          isRight &&= chunk.equals(body.subarray(at, download.bytes));
          download.bytesOfTurn += chunk.length;
          onData(download);
        },
        onEnd: () => (download.fault = isRight && download.bytes === body.length ? '' : 'other bytes'),
        onError: (error) => (download.fault = String(error)),
        onDrain: () => {},
      },
    );
    const download: Download = { exchange, fault: null, bytes: 0, bytesOfTurn: 0 };
    this.downloads.push(download);
    return download;
  }

  stop(): void {
    this.isOver = true;
  }
}

t.test('E1: large replies are read in bounded turns, and come whole over connections that are kept', async (t) => {
  const { port, body } = await serveLarge(t, 16_000_000);
  const pool = poolTo(t, port);
  const counts = new TurnCounts();
  t.teardown(() => counts.stop());
  for (const round of [1, 2]) {
    const downloads = Array.from({ length: 6 }, () => counts.begin(pool, body));
    t.ok(await until(() => downloads.every(({ fault }) => fault !== null)));
    t.ok(
      downloads.every(({ fault }) => fault === ''),
      `round ${round}: not a byte is lost or changed`,
    );
  }
  t.equal(pool.opened, 6, 'the second round went over the connections of the first');
  t.comment(`most in a turn: ${counts.ofOneMax} of one, ${counts.ofAllMax} of all`);
  t.ok(counts.ofOneMax <= connectionTurnBytes, `one connection: ${counts.ofOneMax}`);
  t.ok(counts.ofAllMax < threadTurnBytes + 6 * receiveBytes, `all: ${counts.ofAllMax}, a read of each beyond theirs`);
});

t.test('E1: who was stopped stays paused, and whoever is resumed gets the rest', async (t) => {
  const { port, body } = await serveLarge(t, 8_000_000);
  const pool = poolTo(t, port);
  const counts = new TurnCounts();
  t.teardown(() => counts.stop());
  const pauseAt = 4_000_000;
  const hadPause = new Set<Download>();
  const isPaused = new Set<Download>();
  const downloads = Array.from({ length: 4 }, () =>
    counts.begin(pool, body, (download) => {
      if (isPaused.has(download)) t.fail('bytes came to one that had paused');
      if (download.bytes < pauseAt || hadPause.has(download)) return;
      hadPause.add(download);
      isPaused.add(download);
      download.exchange.pause();
    }),
  );
  t.ok(await until(() => isPaused.size === downloads.length));
  for (let turn = 0; turn < 50; turn += 1) await untilNextTurn();
  isPaused.clear();
  for (const { exchange } of downloads) exchange.resume();
  t.ok(await until(() => downloads.every(({ fault }) => fault !== null)));
  t.ok(downloads.every(({ fault }) => fault === ''));
});
