// Clients that hold what they hold, a process of its own: what each kind of them sends, and how long its connections
// last.
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { attackersNice, given, isPart, startPart, tellAndEnd, untilFinish } from './part.js';
import { inFlight, type Stage } from './stage.js';

const connections = 5000;
/** Of the settings that the node has; see slow-clients.ts. */
export const limits = { headMs: 6000, bodyIdleMs: 4000, writeMs: 4000, progressMs: 4000 };
/** A worker that has thousands of handshakes to do comes to its timers late, and what it stood still does not count. */
export const slackMs = 3000;
/** Connections of somebody who is served meanwhile. */
export const othersAtOnce = 8;
/** As many connections come at a time; the kernel's queue of a listening socket is finite. */
const atOnce = 100;

/** The node as its attackers see it. */
type Target = Pick<Stage, 'tlsPort'> & { readonly system: Pick<Stage['system'], 'port' | 'admin'> };

export interface Attack {
  readonly name: string;
  readonly connections: number;
  /** When each has to be gone at the latest, from when it was connected. */
  readonly limitMs: number;
  open(stage: Target, from: string): Socket;
  /** What it sends when it is connected, and every second from then on. */
  readonly first: string;
  readonly drip: string;
  /** It takes nothing of its answer. */
  readonly isDeaf?: boolean;
}

const plain = ({ system }: Target, from: string): Socket =>
  connect({ port: system.port, host: '127.0.0.1', localAddress: from });
const head = 'Host: bench.example.org\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) bench\r\nAccept: */*\r\n';

export const attacks: readonly Attack[] = [
  {
    ...{ name: 'slowloris', connections, limitMs: limits.headMs },
    open: plain,
    first: `GET / HTTP/1.1\r\n${head}`,
    drip: 'X-More: 1\r\n',
  },
  {
    ...{ name: 'slowloris over TLS', connections, limitMs: limits.headMs },
    open: ({ tlsPort }, from) =>
      connectTls({
        socket: connect({ port: tlsPort, host: '127.0.0.1', localAddress: from }),
        // gatehouse:ignore tls-not-verified the certificate is our own, made for the run
        rejectUnauthorized: false,
        ALPNProtocols: ['http/1.1'],
      }),
    first: `GET / HTTP/1.1\r\n${head}`,
    drip: 'X-More: 1\r\n',
  },
  {
    // a record of a handshake with 512 bytes, of which one comes every second
    ...{ name: 'handshakes that never end', connections, limitMs: limits.headMs },
    open: ({ tlsPort }, from) => connect({ port: tlsPort, host: '127.0.0.1', localAddress: from }),
    first: '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    drip: '\x00',
  },
  {
    // the pace is measured over whole windows, of which the first may have begun before
    ...{ name: 'slow bodies', connections: 500, limitMs: 2 * limits.progressMs },
    open: plain,
    first: `POST /cart HTTP/1.1\r\n${head}Content-Type: text/plain\r\nContent-Length: 100000\r\n\r\n`,
    drip: 'a',
  },
  {
    ...{ name: 'slow readers', connections: 100, limitMs: limits.writeMs + limits.progressMs },
    open: plain,
    first: `GET /big HTTP/1.1\r\n${head}\r\n`,
    drip: '',
    isDeaf: true,
  },
];

/** Milliseconds from now until the node has no more requests than others send. */
async function untilGone({ system }: Target, { limitMs }: Attack): Promise<number[]> {
  const startedMs = performance.now();
  while (performance.now() - startedMs < limitMs + slackMs + 30_000) {
    if ((await inFlight(system)) <= othersAtOnce) return [performance.now() - startedMs];
    await pause(100);
  }
  return [Number.POSITIVE_INFINITY];
}

async function wave(stage: Target, attack: Attack): Promise<number[]> {
  const lasted: Promise<number>[] = [];
  const sockets = new Set<Socket>();
  const drip = setInterval(() => {
    if (attack.drip !== '') for (const socket of sockets) socket.write(attack.drip, 'latin1');
  }, 1000);
  const begin = (n: number): Promise<void> =>
    new Promise((resolve) => {
      const socket = attack.open(stage, `127.0.1.${1 + (n % 250)}`);
      lasted.push(
        new Promise((tell) => {
          let startedMs = performance.now();
          const isTls = 'getCipher' in socket;
          socket.once(isTls ? 'secureConnect' : 'connect', () => {
            startedMs = performance.now();
            sockets.add(socket);
            socket.write(attack.first, 'latin1');
            if (attack.isDeaf !== true) socket.resume();
            resolve();
          });
          socket.on('error', () => {}); // "close" follows
          socket.once('close', () => {
            sockets.delete(socket);
            tell(performance.now() - startedMs);
            resolve();
          });
        }),
      );
    });
  for (let n = 0; n < attack.connections; n += atOnce)
    await Promise.all(Array.from({ length: Math.min(atOnce, attack.connections - n) }, (_, at) => begin(n + at)));
  const patience = pause(attack.limitMs + slackMs + 30_000, null, { ref: false });
  // Whoever reads nothing does not see its end either: the node tells how many requests it still has.
  const gone = attack.isDeaf === true ? untilGone(stage, attack) : Promise.all(lasted);
  const ended = await Promise.race([gone, patience]);
  clearInterval(drip);
  for (const socket of sockets) socket.destroy();
  return ended ?? [Number.POSITIVE_INFINITY];
}

interface Given {
  readonly target: Target;
  readonly attack: string;
}

/**
 * One wave of an attack: milliseconds that each connection lasted; Infinity = it was still there half a minute after
 * its limit and `slackMs`.
 */
export async function attackIn(stage: Stage, { name }: Pick<Attack, 'name'>): Promise<readonly number[]> {
  const { port, admin } = stage.system;
  const attackOf: Given = { target: { tlsPort: stage.tlsPort, system: { port, admin } }, attack: name };
  return (await startPart<{ readonly lasted: readonly number[] }>(import.meta.url, attackOf, attackersNice).told)
    .lasted;
}

async function run({ target, attack: name }: Given): Promise<{ readonly lasted: readonly number[] }> {
  untilFinish();
  const found = attacks.find((attack) => attack.name === name);
  if (found === undefined) throw new Error(`there is no attack ${name}`);
  return { lasted: await wave(target, found) };
}

if (isPart(import.meta.url)) tellAndEnd(await run(given<Given>()));
