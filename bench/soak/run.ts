// A soak that anybody can run: two nodes under 60 % of the load that they can bear, one request in ten an attack, an
// apply every ten seconds, PostgreSQL and Redis killed at random times. Ends with 0 when every measure is kept:
//   node build/bench/soak/run.js --minutes 30
// No request fails, no acknowledged change is lost, every answered request is counted once, memory stays flat.
import { cpSync, existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startControlPlane, type ControlPlane } from '../control-plane.js';
import { cpuWaitUs, residentBytes } from '../cpu.js';
import { freePort, HarnessProblem, stopEverything, temporaryDirectory } from '../processes.js';
import { startBackend, startGatehouse, type Rules, type System } from '../systems.js';
import { createChanges, type Applies, type Changes } from './changes.js';
import { p99Within, startProbe, type Probed } from './probe.js';
import { createPostgres, createRedis, type Killable } from './servers.js';
import { createTarget, findCapacity, keepPace } from './traffic.js';

const root = resolve(fileURLToPath(new URL('.', import.meta.url)), '../../..');
const loadShare = 0.6;
const connections = 16;
/** A server is killed after so many seconds, stays away for so many. */
const [killAfter, awayFor] = [
  [15, 45],
  [1, 6],
] as const;
const memorySampleMs = 5000;
/** Of the first half of the samples behind the warm-up; compilers and buffers breathe. */
const memoryGrowthMax = 0.15;
const settleMsMax = 180_000;

const between = ([least, most]: readonly [number, number]): number => least + Math.random() * (most - least);
const say = (text: string): void => console.log(`${new Date().toISOString().slice(11, 19)}  ${text}`);

interface Installation {
  readonly nodes: readonly System[];
  readonly control: ControlPlane;
  readonly postgres: Killable;
  readonly redis: Killable;
  stop(): Promise<void>;
}

async function startInstallation(rules: Rules): Promise<Installation> {
  const undo: (() => Promise<void> | void)[] = [];
  const stop = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const [postgres, redis] = [await createPostgres(), await createRedis()];
    undo.push(postgres.remove, redis.remove);
    await Promise.all([postgres.start(), redis.start()]);
    const backend = await startBackend(root);
    undo.push(backend.stop);
    const apiPort = await freePort();
    const nodes: System[] = [];
    /** A data directory that begins with what this checkout, or the one before, has compiled. */
    let compiled = join(root, 'data');
    const homeOf = (name: string): string => {
      const { path, remove } = temporaryDirectory(`soak-${name}`);
      undo.push(remove);
      const from = join(compiled, 'cache');
      if (existsSync(from)) cpSync(from, join(path, 'cache'), { recursive: true });
      compiled = path;
      return path;
    };
    for (const name of ['one', 'two']) {
      const path = homeOf(name);
      const env = { GATEHOUSE_DATA: path, GATEHOUSE_CONTROL_URL: `http://127.0.0.1:${apiPort}` };
      const node = await startGatehouse({
        root,
        backendPort: backend.port,
        paranoia: 1,
        workers: 1,
        rules,
        listener: 'auto',
        env,
      });
      undo.push(node.stop);
      nodes.push(node);
    }
    const upstream = `http://127.0.0.1:${backend.port}`;
    const home = homeOf('control');
    const control = await startControlPlane({
      root,
      databaseUrl: postgres.url,
      port: apiPort,
      nodes: nodes.map(({ admin }) => `http://127.0.0.1:${admin?.port}`),
      nodeToken: nodes[0]?.admin?.token ?? '',
      env: {
        REDIS_URL: redis.url,
        CRS_DIR: rules.directory,
        DATA_DIR: home,
        GATEHOUSE_DATA: home,
        UPSTREAM_CUSTOMER: upstream,
        UPSTREAM_PAYMENT: upstream,
      },
    });
    undo.push(control.stop);
    return { nodes, control, postgres, redis, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Kills and starts again until `ending`; resolves with how often, when the server is there. */
async function keepKilling(server: Killable, ending: AbortSignal): Promise<number> {
  const wait = (seconds: number): Promise<void> =>
    pause(seconds * 1000, undefined, { signal: ending }).catch(() => undefined);
  for (let kills = 0; ; kills++) {
    await wait(between(killAfter));
    if (ending.aborted) return kills;
    const away = between(awayFor);
    say(`${server.name} is killed, for ${away.toFixed(1)} s`);
    await server.kill();
    await wait(away);
    await server.start();
  }
}

type Samples = ReadonlyMap<string, number[]>;

async function watchMemory(pids: ReadonlyMap<string, number>, ending: AbortSignal): Promise<Samples> {
  const samples = new Map([...pids.keys()].map((name) => [name, [] as number[]]));
  while (!ending.aborted) {
    for (const [name, pid] of pids) samples.get(name)?.push(residentBytes(pid));
    await pause(memorySampleMs, undefined, { signal: ending }).catch(() => undefined);
  }
  return samples;
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

/** Growth from the second quarter of the samples to the last; the first is the warm-up. */
function growthOf(samples: readonly number[]): number {
  const quarter = Math.max(1, Math.floor(samples.length / 4));
  const [early, late] = [median(samples.slice(quarter, 2 * quarter)), median(samples.slice(-quarter))];
  return early === 0 ? 0 : late / early - 1;
}

/** Records that are there or told as left out, when there are as many as answers, or at the end of patience. */
async function countRecords(control: ControlPlane, answered: number, changes: Changes): Promise<number> {
  let counted = 0;
  for (const startedMs = performance.now(); performance.now() - startedMs < settleMsMax; ) {
    counted = await changes.countRecords(control).catch(() => counted);
    if (counted >= answered) return counted;
    await pause(500);
  }
  return counted;
}

interface Measure {
  readonly what: string;
  readonly found: string;
  /** null: told, and held to nothing. */
  readonly isKept: boolean | null;
}

function tellFailures(tallies: readonly { readonly failures: ReadonlyMap<string, number> }[]): {
  readonly failed: number;
  readonly why: string;
} {
  const all = new Map<string, number>();
  for (const { failures } of tallies) for (const [why, n] of failures) all.set(why, (all.get(why) ?? 0) + n);
  const failed = [...all.values()].reduce((sum, n) => sum + n, 0);
  return { failed, why: [...all].map(([why, n]) => `${n} × ${why}`).join(', ') };
}

async function soak(minutes: number, installation: Installation): Promise<readonly Measure[]> {
  const { nodes, control, postgres, redis } = installation;
  const changes = createChanges(postgres.url);
  await changes.applyOnce(control); // from here on the nodes serve what the control plane says
  const targets = nodes.map(({ port }) => createTarget(port, 256));
  let capacity = 0;
  for (const target of targets) await findCapacity(target, connections, 3); // caches are warm behind it
  for (const target of targets) capacity += await findCapacity(target, connections, 5);
  // One after the other had the machine to itself; together they have it once.
  const perSecond = (capacity / targets.length) * loadShare;
  say(`${(capacity / targets.length).toFixed(0)} requests/s at most; ${perSecond.toFixed(0)} for ${minutes} minutes`);
  const controller = new AbortController();
  const ending = controller.signal;
  const pids = new Map([
    ...nodes.map(({ pid }, index) => [`node ${index + 1}`, pid] as const),
    ['control plane', control.pid] as const,
  ]);
  const [beganMs, waitedUs] = [performance.now(), cpuWaitUs()];
  const probe = startProbe(nodes.map(({ port }) => port));
  const work = Promise.all([
    keepPace(targets, perSecond, ending),
    changes.keepApplying(control, ending),
    keepKilling(postgres, ending),
    keepKilling(redis, ending),
    watchMemory(pids, ending),
  ]);
  work.catch(() => controller.abort());
  await pause(minutes * 60_000, undefined, { signal: ending }).catch(() => undefined);
  controller.abort();
  const [paced, applies, kills, redisKills, memory] = await work.catch(async (error: unknown) => {
    await probe.stop();
    throw error;
  });
  const probed = await probe.stop();
  const crowding = measureOfMachine(waitedUs, performance.now() - beganMs);
  const tallies = [...targets.map(({ tally }) => tally), probed];
  const answered = tallies.reduce((sum, tally) => sum + tally.answered, 0);
  const counted = await countRecords(control, answered, changes);
  const { failed, why } = tellFailures(tallies);
  return [
    {
      what: 'requests answered',
      found: `${answered}; ${paced.leftOut} of ${paced.due} that were due left out, the machine was too slow for them`,
      isKept: answered > 0,
    },
    { what: 'failed requests', found: failed === 0 ? '0' : why, isKept: failed === 0 },
    ...measuresOfChanges(applies),
    { what: 'records of the requests', found: String(counted), isKept: counted === answered },
    { what: 'kills', found: `PostgreSQL ${kills}, Redis ${redisKills}`, isKept: kills > 0 && redisKills > 0 },
    ...[...memory].map(measureOfMemory),
    measureOfProbe(probed, applies),
    crowding,
  ];
}

/** What latencies and failures are read with: beside other work, late answers are not the product's. */
function measureOfMachine(waitedUs: number | null, tookMs: number): Measure {
  const now = cpuWaitUs();
  const share = waitedUs === null || now === null ? null : (now - waitedUs) / 10 / tookMs;
  const found = share === null ? 'unknown' : `${share.toFixed(0)} % of the time somebody waited for a processor`;
  return { what: 'the machine', found, isKept: null };
}

function measuresOfChanges({ saved, applied, refused, faults, lost }: Applies): readonly Measure[] {
  return [
    {
      what: 'acknowledged changes',
      found: `${saved} saved, ${applied} applied, ${refused} put off by 503`,
      isKept: applied > 0,
    },
    { what: 'other answers to changes', found: faults.join('\n') || '0', isKept: faults.length === 0 },
    { what: 'acknowledged and lost', found: [...lost].join(', ') || '0', isKept: lost.size === 0 },
  ];
}

function measureOfMemory([name, samples]: [string, readonly number[]]): Measure {
  const growth = growthOf(samples);
  const mb = (bytes: number): string => (bytes / 1e6).toFixed(0);
  return {
    what: `memory of ${name}`,
    found: `${(growth * 100).toFixed(1)} %, ${mb(Math.min(...samples))} to ${mb(Math.max(...samples))} MB`,
    isKept: growth < memoryGrowthMax,
  };
}

/** A machine that has other things to do answers late, whatever is measured: told, and held to nothing. */
function measureOfProbe(probed: Probed, { intervals }: Applies): Measure {
  const { within, beside } = p99Within(probed, intervals);
  const found = `${within.toFixed(1)} ms while one runs, ${beside.toFixed(1)} ms otherwise`;
  return { what: 'p99 beside applies', found, isKept: null };
}

async function findRules(): Promise<Rules> {
  const { installCrs } = (await import(join(root, 'build/cli/rule-set/install.js'))) as {
    installCrs: () => Promise<Rules>;
  };
  return installCrs();
}

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '30' } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) {
  console.error('--minutes takes a number above 0');
  process.exit(2);
}
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    stopEverything();
    process.exit(1);
  });
try {
  const installation = await startInstallation(await findRules());
  const measures = await soak(minutes, installation).finally(() => installation.stop());
  for (const { what, found, isKept } of measures)
    console.log(`${isKept === null ? 'told  ' : isKept ? 'kept  ' : 'BROKEN'}  ${what.padEnd(26)} ${found}`);
  process.exitCode = measures.some(({ isKept }) => isKept === false) ? 1 : 0;
} catch (error) {
  stopEverything();
  if (!(error instanceof HarnessProblem)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
