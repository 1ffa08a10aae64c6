// Counters of two workers on five limits (the default zone and four of the settings) of 200,000 clients each, hammered
// through the gate itself and without sockets: each client is let through exactly as often as its zone allows, and
// memory is what is stated.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { resolveProxyConfig } from '#proxy/contract';
import {
  createGateMemory,
  createGateWorker,
  createRouter,
  createSharedClock,
  gates,
  openGateMemory,
  openGates,
  type GateRequest,
} from '#proxy/gates';
import type { BenchContext } from '../context.js';
import { HarnessProblem } from '../processes.js';
import { Bars } from './bars.js';

const clients = 200_000;
const workers = 2;
/** Of the settings: what a client may send to each path within a day. */
const zones = [1, 2, 3, 5];
/** How often each thread asks for each client and path: together more than any zone allows. */
const rounds = 4;
/** docs/edge.md states 42, which is rounded. */
const memoryMbMax = 42.5;

const settings = {
  sites: [{ name: 'shop', prefix: '/', upstream: 'http://127.0.0.1:1', protected: true }],
  rl_enabled: true,
  rl_events: 10_000_000,
  rl_zones: zones.map((events, at) => ({ name: `zone-${at}`, match_path: `/z${at}`, key: 'ip', events, window: '1d' })),
};

interface Given {
  readonly memory: ReturnType<typeof createGateMemory>;
  readonly offset: number;
  readonly begin: SharedArrayBuffer;
}
interface Hammered {
  /** Of each zone and client, how often it was let through. */
  readonly given: Uint8Array;
  readonly tookMs: number;
}

const addressOf = (client: number): string => `100.${64 + (client >> 16)}.${(client >> 8) & 255}.${client & 255}`;

function hammer({ memory, offset, begin }: Given): Hammered {
  const { config, problems } = resolveProxyConfig(settings, { customer: '', payment: '' });
  if (config === null) throw new HarnessProblem(JSON.stringify(problems));
  const [site] = createRouter(config).sites;
  if (site === undefined) throw new HarnessProblem('there is no site');
  const nobody = { contains: () => false };
  const measures = { hasChallenges: false, hasThrottles: false, on: () => 0 };
  const noName = (): Promise<never> => Promise.reject(new Error('no names here'));
  const worker = createGateWorker({
    clock: { wallMs: () => Date.now(), monotonicMs: () => performance.now(), sharedMs: createSharedClock() },
    given: { measures, banSafe: nobody, siteKeys: { current: null } },
    shared: openGateMemory(memory),
    names: { reverse: noName, resolve4: noName, resolve6: noName },
    challengeSecret: Buffer.from('a secret of the benchmark, 32 bytes'),
    onBan: () => {},
    onKeysWanted: () => {},
  });
  const [gate] = openGates(
    worker,
    gates.filter(({ name }) => name === 'rate-zones'),
  )(config).ofProtected;
  if (gate === undefined) throw new HarnessProblem('there is no gate of rate zones');
  const given = new Uint8Array(new SharedArrayBuffer(zones.length * clients));
  const state = new Int32Array(begin);
  Atomics.add(state, 0, 1);
  while (Atomics.load(state, 0) < workers) Atomics.wait(state, 1, 0, 1);
  const startedMs = performance.now();
  const head = { method: 'GET', uri: '', protocol: 'HTTP/1.1', headers: ['Host', 'bench.example.org'], clientIp: '' };
  const rest = { clientPort: 40_000, serverIp: '127.0.0.1', serverPort: 8080 };
  for (let round = 0; round < rounds; round += 1)
    for (let step = 0; step < clients; step += 1) {
      const client = (step + offset) % clients;
      for (let zone = 0; zone < zones.length; zone += 1) {
        const request: GateRequest = {
          head: { ...head, ...rest, uri: `/z${zone}/items`, clientIp: addressOf(client) },
          exchange: { framing: { kind: 'none' }, isTls: false, isUpgrade: false },
          requestId: 'bench',
          atMs: 0,
          startedMs: performance.now(),
          give: () => {},
        };
        if (gate.decide(request, site) !== null) continue;
        const at = zone * clients + client;
        given[at] = (given[at] as number) + 1;
      }
    }
  return { given, tookMs: performance.now() - startedMs };
}

function startHammer(given: Given): Promise<Hammered> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL(import.meta.url), { workerData: given });
    thread.once('message', resolve);
    thread.once('error', reject);
  });
}

export async function edgeCountersCase(context: BenchContext): Promise<void> {
  const bars = new Bars(context, 'edge-counters');
  const before = process.memoryUsage().rss;
  const memory = createGateMemory(undefined, workers);
  const begin = new SharedArrayBuffer(8);
  const hammered = await Promise.all(
    Array.from({ length: workers }, (_, at) =>
      startHammer({ memory, begin, offset: Math.floor((at * clients) / workers) }),
    ),
  );
  let wrong = 0;
  for (const [zone, events] of zones.entries())
    for (let client = 0; client < clients; client += 1) {
      const at = zone * clients + client;
      const sum = hammered.reduce((all, { given }) => all + (given[at] as number), 0);
      if (sum !== events) wrong += 1;
    }
  const asked = workers * rounds * clients * zones.length;
  bars.tell('requests that were counted', '', asked);
  const usedMs = hammered.reduce((sum, { tookMs }) => sum + tookMs, 0);
  bars.tell('time of one request, two limits each', 'ns', (usedMs * 1e6) / asked);
  bars.check(`clients and zones, of ${zones.length * clients}, that got more or less than they may`, '', wrong, {
    exact: 0,
  });
  bars.check('memory of the counters', 'MB', memory.rates.byteLength / 1e6, { most: memoryMbMax });
  const { rates } = openGateMemory(memory);
  bars.check('keys that gave way before their time', '', rates.evictions, { exact: 0 });
  bars.tell('memory of the process beside what it began with', 'MB', (process.memoryUsage().rss - before) / 1e6);
  bars.finish();
}

if (!isMainThread && parentPort !== null) parentPort.postMessage(hammer(workerData as Given));
