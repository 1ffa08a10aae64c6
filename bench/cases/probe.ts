// One client that asks every few milliseconds, each time on a connection of its own: what somebody notices while
// something else goes on. Paced by the clock and measured from when a request was due, so that a server that stands
// still is charged for all that it kept waiting.
import { Agent, get } from 'node:http';
import { quantile } from '../statistics.js';

const everyMs = 10;
const answerMsMax = 10_000;

export interface ProbeResult {
  readonly requests: number;
  readonly failed: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

export interface Probe {
  /** What was due since the last call, or the start. Resolves when all of it is answered. */
  take(): Promise<ProbeResult>;
  stop(): void;
}

/** Asks `path` on `port` of this machine until it is stopped. */
export function startProbe(port: number, path: string): Probe {
  const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });
  let due: Promise<number>[] = [];
  let isOver = false;
  const ask = (dueMs: number): Promise<number> =>
    new Promise((resolve) => {
      const done = (isAnswered: boolean): void => resolve(isAnswered ? performance.now() - dueMs : Number.NaN);
      const request = get({ port, host: '127.0.0.1', path, agent, timeout: answerMsMax }, (response) => {
        response.resume();
        response.on('end', () => done(response.statusCode === 200));
        response.on('error', () => done(false));
      });
      request.on('timeout', () => request.destroy());
      request.on('error', () => done(false));
    });
  let nextMs = performance.now();
  const beat = (): void => {
    if (isOver) return;
    const nowMs = performance.now();
    // A harness that was itself away begins anew: it cannot tell its own pauses from the server's.
    if (nowMs - nextMs > 10 * everyMs) nextMs = nowMs;
    for (; nextMs <= nowMs; nextMs += everyMs) due.push(ask(nextMs));
    setTimeout(beat, Math.max(1, nextMs - nowMs));
  };
  beat();
  return {
    async take() {
      const asked = due;
      due = [];
      const all = await Promise.all(asked);
      const took = all.filter((ms) => !Number.isNaN(ms));
      const failed = all.length - took.length;
      if (took.length === 0) return { requests: all.length, failed, p50Ms: Number.NaN, p99Ms: Number.NaN };
      return { requests: all.length, failed, p50Ms: quantile(took, 0.5), p99Ms: quantile(took, 0.99) };
    },
    stop() {
      isOver = true;
      agent.destroy();
    },
  };
}
