// Clients that want nothing but to hold what they hold: 5,000 connections whose heads never end (both ports), bodies
// that trickle, responses that nobody reads. Others are served meanwhile, each attacker is cut at its limit, and a
// second wave takes no more memory than the first.
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import type { BenchContext } from '../context.js';
import { residentBytes } from '../cpu.js';
import { quantile } from '../statistics.js';
import { Bars } from './bars.js';
import { startPages } from './pages.js';
import { inFlight, startStage, type Stage } from './stage.js';
import { during, startWellBehaved } from './well-behaved.js';

const connections = 5000;
const limits = { headMs: 6000, bodyIdleMs: 4000, writeMs: 4000, progressMs: 4000 };
/** A worker that has thousands of handshakes to do comes to its timers late, and what it stood still does not count. */
const slackMs = 3000;
const others = '127.0.0.3';
const othersAtOnce = 8;
const leastP99Ms = 5;
/** As many connections come at a time; the kernel's queue of a listening socket is finite. */
const atOnce = 100;

const settings = {
  flood_timeouts_enabled: true,
  flood_read_header: `${limits.headMs / 1000}s`,
  flood_read_body: `${limits.bodyIdleMs / 1000}s`,
  flood_write: `${limits.writeMs / 1000}s`,
  timeouts: { client_progress_ms: limits.progressMs },
};

interface Attack {
  readonly name: string;
  readonly connections: number;
  /** When each has to be gone at the latest, from when it was connected. */
  readonly limitMs: number;
  open(stage: Stage, from: string): Socket;
  /** What it sends when it is connected, and every second from then on. */
  readonly first: string;
  readonly drip: string;
  /** It takes nothing of its answer. */
  readonly isDeaf?: boolean;
}

const plain = ({ system }: Stage, from: string): Socket =>
  connect({ port: system.port, host: '127.0.0.1', localAddress: from });
const head = 'Host: bench.example.org\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) bench\r\nAccept: */*\r\n';

const attacks: readonly Attack[] = [
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
async function untilGone({ system }: Stage, { limitMs }: Attack): Promise<number[]> {
  const startedMs = performance.now();
  while (performance.now() - startedMs < limitMs + slackMs + 30_000) {
    if ((await inFlight(system)) <= othersAtOnce) return [performance.now() - startedMs];
    await pause(100);
  }
  return [Number.POSITIVE_INFINITY];
}

/** Milliseconds that each connection lasted; Infinity = it was still there `slackMs` and a minute after its limit. */
async function wave(stage: Stage, attack: Attack): Promise<number[]> {
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

/** The most that a process held while `work` ran, in MB. */
async function peakMb(pid: number, work: Promise<unknown>): Promise<number> {
  let peak = 0;
  const look = (): void => void (peak = Math.max(peak, residentBytes(pid) / 1e6));
  const timer = setInterval(look, 200);
  await work;
  clearInterval(timer);
  return peak;
}

export async function edgeSlowCase(context: BenchContext): Promise<void> {
  const bars = new Bars(context, 'edge-slow');
  const backend = await startPages();
  const stage = await startStage(context, backend, { workers: 2, settings });
  const { port, pid } = stage.system;
  try {
    await during({ port, from: others }, 3000);
    const quiet = await during({ port, from: others }, 6000);
    bars.tell("others' p99 while it is quiet", 'ms', quiet.p99Ms);
    for (const attack of attacks) {
      const { name } = attack;
      const peaks: number[] = [];
      const lasted: number[] = [];
      const beside = startWellBehaved({ port, from: others });
      for (const count of [1, 2]) {
        const run = wave(stage, attack).then((list) => void lasted.push(...list));
        peaks.push(await peakMb(pid, run));
        context.progress(`edge-slow: ${name}, wave ${count} is over`);
      }
      const served = await beside.stop();
      const [first = Number.NaN, second = Number.NaN] = peaks;
      bars.tell(`${name}: most memory in the first wave`, 'MB', first);
      bars.check(`${name}: how long the last of them held out`, 'ms', quantile(lasted, 1), {
        most: attack.limitMs + slackMs,
      });
      bars.check(`${name}: memory of the second wave beside the first`, 'times', second / first, { most: 1.15 });
      bars.check(`${name}: requests of others that were refused`, '', served.refused, { exact: 0 });
      bars.tell(`${name}: p99 of others`, 'ms', served.p99Ms);
      bars.check(
        `${name}: others wait, beside what is usual`,
        'times',
        served.p99Ms / Math.max(leastP99Ms, quiet.p99Ms),
        {
          most: 20,
        },
      );
    }
  } finally {
    await stage.stop();
    await backend.stop();
  }
  bars.finish();
}
