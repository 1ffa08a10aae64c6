// Two nodes whose limits are one (rl_distributed), under load, while Redis is killed and comes back: nobody gets an
// error, each node keeps to the limit meanwhile, and all nodes together do again within five seconds of its return.
import { setTimeout as pause } from 'node:timers/promises';
import type { BenchContext } from '../context.js';
import { createRedis } from '../soak/servers.js';
import { Bars } from './bars.js';
import { RawClient, requestOf } from './raw-client.js';
import { startPages } from './pages.js';
import { metric, startStage, type Stage } from './stage.js';

const events = 200;
const windowSeconds = 10;
/** Of one client to each node; many times what the limit allows. */
const connectionsPerNode = 4;
const pauseMs = 10;
const phaseMs = 20_000;
const awayMs = 15_000;
const returnMsMax = 5000;
const client = '127.0.0.2';
/** Answers are seen later than they were decided on, one more so than another. */
const jitterMs = 500;

const settings = { rl_enabled: true, rl_events: events, rl_window: `${windowSeconds}s`, rl_distributed: true };

interface Seen {
  readonly node: number;
  readonly atMs: number;
  readonly status: number;
}

/** The most that was let through within any window, less what the limit allows in it (events now, and as many more). */
function mostPerWindow(seen: readonly Seen[]): number {
  const moments = seen.filter(({ status }) => status === 200).map(({ atMs }) => atMs);
  let most = 0;
  for (let first = 0, last = 0; last < moments.length; last += 1) {
    while ((moments[last] as number) - (moments[first] as number) >= windowSeconds * 1000 - jitterMs) first += 1;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

function load(stages: readonly Stage[]): { readonly seen: Seen[]; stop(): Promise<void> } {
  const seen: Seen[] = [];
  const ending = new AbortController();
  const loop = async (node: number, port: number): Promise<void> => {
    const connection = new RawClient({ port, from: client, request: requestOf('/shop/items') });
    while (!ending.signal.aborted) {
      const { status, atMs } = await connection.ask();
      seen.push({ node, atMs, status });
      await pause(pauseMs);
    }
    connection.close();
  };
  const loops = stages.flatMap(({ system }, node) =>
    Array.from({ length: connectionsPerNode }, () => loop(node, system.port)),
  );
  return {
    seen,
    async stop() {
      ending.abort();
      await Promise.all(loops);
    },
  };
}

async function whenShared(stages: readonly Stage[], isWanted: boolean): Promise<number> {
  const startedMs = performance.now();
  for (; performance.now() - startedMs < 60_000; await pause(25)) {
    const degraded = await Promise.all(stages.map(({ system }) => metric(system, 'gatehouse_rate_sharing_degraded')));
    if (degraded.every((value) => (value === 0) === isWanted)) return performance.now() - startedMs;
  }
  return Number.POSITIVE_INFINITY;
}

interface Times {
  readonly killedMs: number;
  /** Redis was started again. */
  readonly awayTillMs: number;
  readonly sharedMs: number;
  /** Milliseconds from its return until both nodes said that they share. */
  readonly returned: number;
}

function judge(bars: Bars, seen: readonly Seen[], { killedMs, awayTillMs, sharedMs, returned }: Times): void {
  const between = (fromMs: number, toMs: number): Seen[] => seen.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
  const allowedMax = 2 * events - 1; // of any window: those that come at once, and those that come back meanwhile
  bars.check(
    'answers of 5xx, and connections without any',
    '',
    seen.filter(({ status }) => status === 0 || status >= 500).length,
    { exact: 0 },
  );
  bars.check('with Redis: most that both let through in a window', '', mostPerWindow(between(0, killedMs)), {
    most: allowedMax,
  });
  for (const node of [0, 1])
    bars.check(
      `without Redis: most that node ${node + 1} let through in a window`,
      '',
      mostPerWindow(between(killedMs, awayTillMs).filter((one) => one.node === node)),
      { most: allowedMax },
    );
  bars.tell('without Redis: most that both let through in a window', '', mostPerWindow(between(killedMs, awayTillMs)));
  bars.check('from the return of Redis to shared limits on both nodes', 'ms', returned, { most: returnMsMax });
  bars.check('over all of it: most that both let through in a window', '', mostPerWindow(seen), {
    most: allowedMax,
  });
  // The pace in the long run, from when it has to be right again: one that is off by a node's worth is twice as high.
  const rightMs = awayTillMs + returnMsMax;
  const afterwards = between(rightMs, Number.POSITIVE_INFINITY).filter(({ status }) => status === 200).length;
  const seconds = ((seen.at(-1)?.atMs ?? 0) - rightMs) / 1000;
  bars.check(
    '5 s after its return: requests let through beside the limit',
    'times',
    afterwards / seconds / (events / windowSeconds),
    { most: 1.1 },
  );
}

export async function edgeRedisCase(context: BenchContext): Promise<void> {
  const bars = new Bars(context, 'edge-redis');
  const redis = await createRedis();
  const backend = await startPages();
  const stages: Stage[] = [];
  const running: { stop(): Promise<void> }[] = [];
  try {
    await redis.start();
    for (let node = 0; node < 2; node += 1)
      stages.push(await startStage(context, backend, { workers: 1, settings, env: { REDIS_URL: redis.url } }));
    bars.tell('from the start of the second node to shared limits', 'ms', await whenShared(stages, true));
    const loaded = load(stages);
    running.push(loaded);
    await pause(phaseMs);
    const killedMs = performance.now();
    await redis.kill();
    bars.tell('from the end of Redis to "degraded" on both nodes', 'ms', await whenShared(stages, false));
    await pause(awayMs);
    const awayTillMs = performance.now();
    await redis.start();
    const backMs = performance.now();
    const returned = await whenShared(stages, true);
    const sharedMs = performance.now();
    await pause(phaseMs);
    await loaded.stop();
    judge(bars, loaded.seen, { killedMs, awayTillMs, sharedMs, returned });
    bars.tell('Redis took to come back', 'ms', backMs - awayTillMs);
  } finally {
    for (const one of running) await one.stop();
    for (const stage of stages) await stage.stop();
    await backend.stop();
    await redis.remove();
  }
  bars.finish();
}
