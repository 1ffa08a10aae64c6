// 26.3: limits of logins over real sentinels and a real cluster. Redis is never waited for long and never decides
// alone: while a primary is dead or stands still every process counts by itself, nobody gets a fresh allowance, and
// afterwards they count together again on the server that took over.
import t, { type Test } from 'tap';
import { readRedis } from '#settings/environment';
import { startCluster, startSentinels } from '../../testing/servers/redis-fleet.js';
import { withoutRedis } from '../../testing/servers/redis-process.js';
import { testMsMax, until } from '../../testing/waiting.js';
import { createSharedLimits, type RequestCounts, type SharedLimits } from './shared-limits.js';

t.setTimeout(testMsMax);

const answerMsMax = 1000;
/** No wait is longer, also on a machine with other things to do: a wait without end lasts until the test gives up. */
const waitMsMax = 20 * answerMsMax;
const windowMs = 3_600_000;

interface Process {
  readonly limits: SharedLimits;
  readonly logins: RequestCounts;
  readonly lines: string[];
}

function twoProcesses(t: Test, variables: Readonly<Record<string, string>>): [Process, Process] {
  const { address: redis, problems } = readRedis((name) => variables[name] ?? '');
  if (redis === null || problems.length > 0) throw new Error(problems.join());
  const start = (): Process => {
    const lines: string[] = [];
    const limits = createSharedLimits({
      ...{ redis, prefix: 'gatehouse:t', clock: () => performance.now(), answerMsMax },
      ...{ lookEveryMs: 100, log: { warn: (_, line) => lines.push(line), info: (line) => lines.push(line) } },
    });
    t.teardown(() => limits.close());
    return { limits, logins: limits.scope('login'), lines };
  };
  return [start(), start()];
}

const areAll = (processes: readonly Process[], status: string): Promise<void> =>
  until(`all are ${status}`, () => processes.every(({ limits }) => limits.state().status === status));

/** Counts once in each process; the higher figure, and how long the slower one took. */
async function count(processes: readonly Process[], key: string): Promise<{ current: number; ms: number }> {
  let [current, ms] = [0, 0];
  for (const { logins } of processes) {
    const startedMs = performance.now();
    current = Math.max(current, (await logins.count(key, windowMs)).current);
    ms = Math.max(ms, performance.now() - startedMs);
  }
  return { current, ms };
}

/** A key that both count together; the first one, unless Redis was too slow for it. */
async function together(t: Test, processes: readonly Process[], name: string): Promise<void> {
  let attempt = 0;
  await until(`${name}: both count together`, async () => {
    attempt += 1;
    const { current } = await count(processes, `${name} ${attempt}`);
    if (current > processes.length) t.fail(`${name}: ${current} of ${processes.length}`);
    return current === processes.length;
  });
  t.pass(name);
}

async function throughOutage(
  t: Test,
  processes: readonly Process[],
  { name, begin, end }: { name: string; begin: () => Promise<void> | void; end: () => Promise<void> },
): Promise<void> {
  await together(t, processes, `${name}: before`);
  let spent = 0;
  while (spent < 20) spent = (await count(processes, `${name}: spent`)).current;
  for (const { lines } of processes) lines.length = 0;
  await begin();
  await areAll(processes, 'degraded');
  for (let turn = 0; turn < 5; turn += 1) {
    const known = await count(processes, `${name}: spent`);
    t.ok(known.current > spent / 2, `${name}: who was over the limit gets no fresh allowance: ${known.current}`);
    t.ok(known.ms < waitMsMax, `${name}: nobody waits: ${Math.round(known.ms)} ms`);
    const fresh = await count(processes, `${name}: fresh`);
    t.ok(fresh.current <= 2 * (turn + 1), `${name}: nobody is locked out`);
  }
  t.ok(
    processes.every(({ limits }) => limits.state().trouble !== null),
    `${name}: why`,
  );
  t.ok(
    processes.every(({ limits }) => limits.state().fallbacks > 0),
    `${name}: counted`,
  );
  t.ok(
    processes.every(({ lines }) => /Redis does not answer/.test(lines[0] ?? '')),
    `${name}: told`,
  );
  await end();
  await areAll(processes, 'ok');
  await together(t, processes, `${name}: afterwards`);
  t.ok((await count(processes, `${name}: spent`)).current > spent / 2, `${name}: nor is there one afterwards`);
  await until(`${name}: no trouble is left`, () => processes.every(({ limits }) => limits.state().trouble === null));
}

t.test(
  '26.3: sentinels: the primary stands still, is killed, and a replica takes over',
  { skip: withoutRedis },
  async (t) => {
    const fleet = await startSentinels(t);
    const processes = twoProcesses(t, fleet.variables);
    await areAll(processes, 'ok');
    t.match(processes[0].limits.state(), { kind: 'redis', mode: 'sentinel', tls: false, trouble: null });
    const first = await fleet.primary();
    const otherThanFirst = () => until('another is named', async () => (await fleet.primary()) !== first);
    await throughOutage(t, processes, { name: 'still', begin: () => first.standStill(), end: otherThanFirst });
    first.goOn();
    await until('it follows', async () =>
      /role:slave[^]*master_link_status:up/.test(String(await first.command('info', 'replication').catch(() => ''))),
    );
    await together(t, processes, 'the one that was primary is not asked');
    const second = await fleet.primary();
    const otherThanSecond = () => until('another is named', async () => (await fleet.primary()) !== second);
    await throughOutage(t, processes, { name: 'killed', begin: () => second.kill(), end: otherThanSecond });
  },
);

t.test(
  '26.3: a cluster: one part is away, comes back empty, and nobody asks it meanwhile',
  { skip: withoutRedis },
  async (t) => {
    const cluster = await startCluster(t);
    const processes = twoProcesses(t, cluster.variables);
    await areAll(processes, 'ok');
    t.match(processes[0].limits.state(), { kind: 'redis', mode: 'cluster', tls: false, trouble: null });
    for (let index = 0; index < 12; index += 1) await together(t, processes, `wherever it lies ${index}`);
    const lists = await Promise.all(cluster.primaries.map((server) => server.command('keys', 'gatehouse:t:limit:*')));
    t.ok(lists.filter((keys) => (keys as string[]).length > 0).length >= 2, 'counts are spread over the parts');
    const [first, second] = cluster.primaries;
    if (first === undefined || second === undefined) throw new Error('no cluster');
    const replicaServes = () =>
      until('the replica serves', async () => /cluster_state:ok/.test(String(await second.command('cluster', 'info'))));
    await throughOutage(t, processes, { name: 'killed', begin: () => first.kill(), end: replicaServes });
    await throughOutage(t, processes, { name: 'lost', begin: () => second.kill(), end: () => second.start() });
  },
);
