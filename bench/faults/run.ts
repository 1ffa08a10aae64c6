// A fault run: three data planes behind a balancer, two control planes, PostgreSQL with a synchronous replica, Redis
// with sentinels, each in a network namespace of its own with delay and loss between them. Under load, parts are killed
// or cut off one after the other. Ends with 0 when every measure is kept:
//   node build/bench/faults/run.js --minutes 15 --seed 1
// With --beside DIRECTORY --parts node2,node3 those parts are of that checkout (another release, built): nodes, or both
// control planes. --keep DIRECTORY keeps what all parts said.
// No request fails but those in a killed process, no acknowledged write is lost, limits stay within docs/edge.md, and
// after each fault the fleet is one within ten seconds.
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { cpuWaitUs } from '../cpu.js';
import { HarnessProblem, stopEverything, temporaryDirectory } from '../processes.js';
import { happenings, randomOf, type Happening, type Installation, type Random } from './events.js';
import { judge, type Fault } from './judge.js';
import { keepAsking, keepSpending, limit, startUpstream } from './load.js';
import { makeNetwork, whyNoNetwork, type Network } from './network.js';
import { makeControls, makeNodes, writeRules } from './planes.js';
import { PostgresPair, startBalancer, startRedis } from './servers.js';
import { untilOne, whatIsWrong } from './watch.js';
import { Administrator, keepWriting } from './writes.js';

const root = resolve(fileURLToPath(new URL('.', import.meta.url)), '../../..');
const places = {
  nodes: ['node1', 'node2', 'node3'],
  controls: ['ctl1', 'ctl2'],
  servers: ['pg1', 'pg2', 'redis1', 'redis2', 'sen1', 'sen2', 'sen3', 'lb'],
} as const;
const weather = { delayMs: 5, lossPercent: 1 } as const;
/** A part is away for so many seconds; the fleet is left alone for so many after it is one again. */
const [awayFor, calmFor] = [
  [0.5, 6],
  [2, 6],
] as const;
const patienceMs = 90_000;
const load = { clients: 12, everyMs: 200 } as const;

const say = (text: string): void => console.log(`${new Date().toISOString().slice(11, 19)}  ${text}`);
const between = (random: Random, [least, most]: readonly [number, number]): number => least + random() * (most - least);

interface Running extends Installation {
  readonly admin: Administrator;
  /** Of the balancer. */
  readonly host: string;
}

/** Another release, and which parts are of it; `root` empty: none. */
interface Beside {
  readonly root: string;
  readonly parts: readonly string[];
}

async function startAll(network: Network, directory: string, upstream: string, beside: Beside): Promise<Running> {
  writeRules(directory);
  const postgres = new PostgresPair({ network, directory });
  const [redis] = await Promise.all([startRedis({ network, directory }), postgres.start()]);
  const rootOf = (place: string): string => (beside.parts.includes(place) ? beside.root : root);
  const where = { rootOf, network, directory, redisUrl: redis.url };
  // releases before this one take no ports in a URL of several servers, and do not tell the primary among them
  const databaseUrl = beside.root === '' ? postgres.url : postgres.urlOfPrimary;
  const controls = makeControls(where, places.controls, { databaseUrl, upstream });
  const nodes = makeNodes(where, places.nodes, places.controls);
  for (const control of controls) await control.start(); // the first one creates the tables
  const admin = new Administrator(controls);
  await admin.logIn();
  const zone = { name: 'key', match_path: '/limited', key: 'header:X-Key', events: limit, window: '1h' };
  await admin.insist('PATCH', '/api/settings', {
    mode: 'On',
    sites: [{ name: 'app', prefix: '/', upstream, protected: true }],
    rl_enabled: true,
    rl_events: 1_000_000,
    rl_distributed: true,
    rl_zones: [zone],
  });
  await Promise.all(nodes.map((node) => node.start()));
  await admin.insist('POST', '/api/apply', undefined, 180_000);
  const balancer = await startBalancer({ network, directory }, nodes);
  return { nodes, controls, postgres, redis, canFailOver: beside.root === '', admin, host: balancer.host };
}

/** Faults one after the other until the time is up; the last one is waited for. */
async function keepBreaking(all: Running, random: Random, ending: AbortSignal): Promise<Fault[]> {
  const faults: Fault[] = [];
  const next = happenings(all, random);
  const look = () => whatIsWrong(all.nodes, all.controls, all.admin);
  while (!ending.aborted) {
    const fromMs = Date.now();
    const happening: Happening = await next();
    await pause(between(random, awayFor) * 1000);
    await happening.bringBack();
    const waitedUs = cpuWaitUs() ?? 0;
    const { tookMs, last, isOne } = await untilOne(look, patienceMs);
    const crowding = ((cpuWaitUs() ?? 0) - waitedUs) / 1000 / tookMs;
    faults.push({ happening, fromMs, toMs: Date.now(), convergedMs: tookMs, last, isOne });
    const crowd = `a processor was waited for ${Math.round(crowding * 100)} % of the time`;
    say(
      `${happening.name}: one again ${(tookMs / 1000).toFixed(1)} s after it was back (${crowd})${isOne ? '' : ' NOT'}`,
    );
    if (tookMs > 3000) for (const line of last.slice(0, 6)) say(`    last: ${line.slice(0, 200)}`);
    await happening.isBack;
    await pause(between(random, calmFor) * 1000, undefined, { signal: ending }).catch(() => undefined);
  }
  return faults;
}

async function breakFor(minutes: number, seed: number, all: Running): Promise<boolean> {
  const controller = new AbortController();
  const ending = controller.signal;
  const look = () => whatIsWrong(all.nodes, all.controls, all.admin);
  const begun = await untilOne(look, patienceMs);
  if (!begun.isOne) throw new HarnessProblem(`the fleet does not get ready: ${begun.last.join('; ')}`);
  say(`the fleet is one; ${minutes} minutes of faults, seed ${seed}`);
  const breaking = keepBreaking(all, randomOf(seed), ending);
  const work = Promise.all([
    keepAsking(all.host, load, ending),
    keepSpending(all.host, ending),
    keepWriting(
      all.admin,
      ending,
      breaking.catch(() => undefined),
    ),
    breaking,
  ]);
  work.catch(() => controller.abort());
  await pause(minutes * 60_000, undefined, { signal: ending }).catch(() => undefined);
  controller.abort();
  const [asked, spending, written, faults] = await work;
  const measures = judge({ asked, spending, written, faults, nodes: places.nodes.length });
  for (const { what, found, isKept } of measures) say(`${isKept ? 'kept    ' : 'NOT KEPT'}  ${what}: ${found}`);
  return measures.every(({ isKept }) => isKept);
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '15' },
      seed: { type: 'string', default: String(Date.now() % 100_000) },
      keep: { type: 'string', default: '' },
      beside: { type: 'string', default: '' },
      parts: { type: 'string', default: 'node2,node3' },
    },
  });
  const why = whyNoNetwork();
  if (why !== null) {
    console.error(`no fault run here: ${why}`);
    return 2;
  }
  const beside =
    values.beside === '' ? { root: '', parts: [] } : { root: resolve(values.beside), parts: values.parts.split(',') };
  const [minutes, seed] = [Number(values.minutes), Number(values.seed)];
  if (!(minutes > 0) || !Number.isInteger(seed)) throw new HarnessProblem('--minutes N --seed N, both numbers');
  const temporary = temporaryDirectory('faults');
  const directory = values.keep === '' ? temporary.path : resolve(values.keep);
  mkdirSync(directory, { recursive: true });
  let network: Network | null = null;
  const { nodes, controls, servers } = places;
  try {
    network = await makeNetwork(root, [...nodes, ...controls, ...servers], { ...weather, seed });
    say(`${weather.delayMs} ms delay each way and ${weather.lossPercent} % loss by ${network.means}`);
    const { url, server } = await startUpstream();
    const isKept = await breakFor(minutes, seed, await startAll(network, directory, url, beside));
    server.closeAllConnections();
    server.close();
    return isKept ? 0 : 1;
  } finally {
    await network?.remove();
    stopEverything();
  }
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    stopEverything(); // the watcher of the network does the rest
    process.exit(130);
  });
process.exit(
  await main().catch((error: unknown) => {
    console.error(error instanceof HarnessProblem ? error.message : error);
    return 2;
  }),
);
