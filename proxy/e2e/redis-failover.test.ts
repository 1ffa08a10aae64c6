// 26.3: limits of two nodes over real sentinels and a real cluster: just what the limit allows while Redis answers,
// each node its share while a primary is dead, stands still or is cut off, nobody gets a 5xx, and one limit again, with
// what was taken meanwhile, on the server that took over.
import { Agent, get } from 'node:http';
import t, { type Test } from 'tap';
import { startCluster, startSentinels, type FleetServer } from '#api/testing/servers/redis-fleet';
import { readRedis } from '#settings/environment';
import type { DataPlane } from '../main/data-plane.js';
import { admin, startBackend, startPlane, testMsMax, until } from './harness.js';
import { withoutRedis } from './redis-server.js';

t.setTimeout(testMsMax);
const agent = new Agent({ keepAlive: true, maxSockets: 32 });
t.teardown(() => agent.destroy());

interface Sharing {
  readonly state: string;
  readonly nodes: number;
  readonly store: { readonly mode: string; readonly tls: boolean; readonly trouble: string | null } | null;
}

const limit = 40;
/** While a node is alone: it knows what was left when it last heard; another may have given away what it had ready. */
const most = limit + Math.floor(limit / 8);
/** Where one node is cut off and the other is not, it gives whom it has not heard of its share of the whole limit. */
const cutOff = limit + limit / 2;

function ask({ ports }: DataPlane, key: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: ports.http, path: '/', agent, headers: { 'x-key': key } };
    get(options, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    }).on('error', reject);
  });
}

const sharingOf = async (plane: DataPlane): Promise<Sharing> =>
  ((await (await admin(plane, '/gates')).json()) as { sharing: Sharing }).sharing;

async function areAll(planes: readonly DataPlane[], state: string): Promise<boolean> {
  const all = await Promise.all(planes.map(sharingOf));
  return all.every((sharing) => sharing.state === state && sharing.nodes === planes.length);
}

/** Two nodes with one limit of forty an hour by key. */
async function twoNodes(t: Test, variables: Readonly<Record<string, string>>): Promise<[DataPlane, DataPlane]> {
  const backend = await startBackend(t, (_request, response) => response.end('ok'));
  const zone = { name: 'key', match_path: '/', key: 'header:X-Key', events: limit, window: '1h' };
  const settings = {
    ...{ sites: [{ name: 'shop', upstream: backend.url }], rl_enabled: true, rl_events: 1_000_000 },
    ...{ rl_distributed: true, rl_zones: [zone] },
  };
  const { address, problems } = readRedis((name) => variables[name] ?? '');
  if (address === null || problems.length > 0) throw new Error(problems.join());
  const redis = { address, prefix: 'gatehouse:t' };
  const start = () => startPlane(t, 'net', settings, { redis });
  const planes: [DataPlane, DataPlane] = [await start(), await start()];
  t.ok(await until(() => areAll(planes, 'shared')), 'both know of each other');
  return planes;
}

/** Requests of one client to both nodes in turn, a few at a time; the answers by status. */
async function flood(planes: readonly DataPlane[], key: string, count: number): Promise<Map<number, number>> {
  const seen = new Map<number, number>();
  let sent = 0;
  const one = async (): Promise<void> => {
    while (sent < count) {
      const plane = planes[sent % planes.length] as DataPlane;
      sent += 1;
      const status = await ask(plane, key);
      seen.set(status, (seen.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: 8 }, one));
  return seen;
}

/**
 * A client gets all of the limit and no more, at the first attempt unless this machine stood still for so long that the
 * nodes went back to their shares.
 */
async function exactly(t: Test, planes: readonly DataPlane[], name: string): Promise<string> {
  for (let attempt = 0; ; attempt += 1) {
    const client = `${name} ${attempt}`;
    const seen = await flood(planes, client, 3 * limit);
    if (!areOnly(seen) || passed(seen) > cutOff) t.fail(`${client}: ${JSON.stringify([...seen])}`);
    if (passed(seen) === limit || attempt === 20) {
      t.equal(passed(seen), limit, `${client}: just the limit`);
      return client;
    }
  }
}

const passed = (seen: ReadonlyMap<number, number>): number => seen.get(200) ?? 0;
const areOnly = (seen: ReadonlyMap<number, number>): boolean =>
  [...seen.keys()].every((it) => it === 200 || it === 429);

/** A client that spends its limit bit by bit, from before an outage until after it. */
class Spender {
  readonly seen = new Map<number, number>();
  private isOver = false;
  private readonly running: Promise<void>;

  constructor(planes: readonly DataPlane[], key: string) {
    this.running = this.run(planes, key);
  }

  private async run(planes: readonly DataPlane[], key: string): Promise<void> {
    for (let turn = 0; !this.isOver; turn += 1) {
      const status = await ask(planes[turn % planes.length] as DataPlane, key);
      this.seen.set(status, (this.seen.get(status) ?? 0) + 1);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async stop(): Promise<ReadonlyMap<number, number>> {
    this.isOver = true;
    await this.running;
    return this.seen;
  }
}

/** What holds while a part of Redis is away, and when another has taken over. */
async function throughOutage(
  t: Test,
  planes: readonly [DataPlane, DataPlane],
  { name, begin, takenOver }: { name: string; begin: () => Promise<void> | void; takenOver: () => Promise<boolean> },
): Promise<void> {
  const before = await exactly(t, planes, `${name} before`);
  const spender = new Spender(planes, `${name} through`);
  t.ok(await until(() => (spender.seen.get(200) ?? 0) >= 6), `${name}: somebody is at it`);
  await begin();
  const isCounted = async (): Promise<boolean> =>
    /^gatehouse_rate_sharing_degraded 1$/m.test(await (await admin(planes[0], '/metrics')).text());
  const isNoticed = async (): Promise<boolean> => (await areAll(planes, 'degraded')) && (await isCounted());
  t.ok(await until(isNoticed), `${name}: noticed`);
  const away = await flood(planes, `${name} away`, 200);
  t.ok(areOnly(away), `${name}: no 5xx: ${[...away.keys()].join()}`);
  t.ok(passed(away) <= limit, `${name}: each its share: ${passed(away)} of ${limit}`);
  t.ok(passed(away) >= limit / 2, `${name}: nobody is locked out`);
  t.ok(await until(takenOver), `${name}: another takes over`);
  t.ok(await until(() => areAll(planes, 'shared')), `${name}: shared again`);
  await exactly(t, planes, `${name} after`);
  t.ok(await until(async () => (await ask(planes[0], `${name} through`)) === 429), `${name}: it is spent`);
  const through = await spender.stop();
  t.ok(areOnly(through), `${name}: no 5xx from beginning to end`);
  t.ok(passed(through) <= most, `${name}: what docs/edge.md promises over all of it: ${passed(through)}`);
  for (const plane of planes)
    t.ok(
      await until(async () => (await ask(plane, `${name} away`)) === 429 && (await ask(plane, before)) === 429),
      `${name}: what was taken is not forgotten`,
    );
}

t.test('26.3: sentinels: the primary is killed, then stands still', { skip: withoutRedis }, async (t) => {
  const fleet = await startSentinels(t);
  const planes = await twoNodes(t, fleet.variables);
  t.strictSame((await sharingOf(planes[0])).store, { mode: 'sentinel', tls: false, trouble: null });
  const otherThan = (old: FleetServer) => async (): Promise<boolean> => (await fleet.primary()) !== old;
  const isReplica = async (server: FleetServer): Promise<boolean> =>
    /role:slave[^]*master_link_status:up/.test(String(await server.command('info', 'replication').catch(() => '')));

  const first = await fleet.primary();
  await throughOutage(t, planes, { name: 'killed', begin: () => first.kill(), takenOver: otherThan(first) });
  await first.start();
  t.ok(await until(() => isReplica(first)), 'the one that was dead follows the other');

  // cut off: its connections stay, and it wakes up as the primary that it is not any more
  const second = await fleet.primary();
  await throughOutage(t, planes, {
    ...{ name: 'still', begin: () => second.standStill(), takenOver: otherThan(second) },
  });
  second.goOn();
  t.ok(await until(() => isReplica(second)), 'the one that stood still is made to follow');
  await exactly(t, planes, 'still, awake');

  // by hand: it takes no writes from one moment to the next
  const third = await fleet.primary();
  await fleet.sentinels[0]?.command('sentinel', 'failover', 'gate');
  t.ok(await until(otherThan(third)), 'the primary is changed by hand');
  t.ok(await until(() => isReplica(third)));
  t.ok(await until(() => areAll(planes, 'shared')));
  await exactly(t, planes, 'by hand, READONLY is left behind');

  // sentinels may go while the primary stays
  for (const sentinel of fleet.sentinels) await sentinel.kill();
  await exactly(t, planes, 'without sentinels');
});

t.test('26.3: a cluster of three: slots move, a primary dies, one part is away', { skip: withoutRedis }, async (t) => {
  const cluster = await startCluster(t);
  const planes = await twoNodes(t, cluster.variables);
  t.strictSame((await sharingOf(planes[0])).store, { mode: 'cluster', tls: false, trouble: null });
  const clients: string[] = [];
  for (let index = 0; index < 16; index += 1) clients.push(await exactly(t, planes, `client ${index}`));
  const keys = await Promise.all(cluster.primaries.map((server) => server.command('keys', '*')));
  const lists = keys as string[][];
  t.ok(
    lists.filter((list) => list.some((key) => key.includes(':lease:'))).length >= 2,
    'leases are spread over the parts',
  );
  t.ok(
    lists.flat().every((key) => /^\{gatehouse:t(?::\d+)?\}:/.test(key)),
    'every key has a hash tag',
  );

  // a slot on its way (ASK), and moved (MOVED)
  const tag = (lists.flat().find((key) => key.includes(':lease:')) ?? '').replace(/:lease:.*/, '');
  const owner = await cluster.ownerOf(tag);
  const target = cluster.primaries.find((server) => server !== owner) as FleetServer;
  const slot = Number(await owner.command('cluster', 'keyslot', tag));
  await target.command('cluster', 'setslot', slot, 'importing', await cluster.idOf(owner));
  await owner.command('cluster', 'setslot', slot, 'migrating', await cluster.idOf(target));
  const together = await Promise.all(Array.from({ length: 40 }, (_, index) => flood(planes, `moving ${index}`, 60)));
  t.ok(
    together.every((seen) => areOnly(seen) && passed(seen) <= cutOff),
    'no more than where one node is cut off, while a slot is on its way',
  );
  for (let index = 0; index < 8; index += 1) await exactly(t, planes, `on its way ${index}`);
  for (;;) {
    const moved = (await owner.command('cluster', 'getkeysinslot', slot, 100)) as string[];
    if (moved.length === 0) break;
    await owner.command('migrate', '127.0.0.1', target.port, '', 0, 10_000, 'keys', ...moved);
  }
  for (const server of [target, owner])
    await server.command('cluster', 'setslot', slot, 'node', await cluster.idOf(target));
  for (const name of clients) t.equal(passed(await flood(planes, name, 10)), 0, `${name}: spent, wherever it lies now`);
  t.ok(await until(() => areAll(planes, 'shared')));

  // a primary with a replica
  const [first, second] = cluster.primaries as [FleetServer, FleetServer];
  const isPrimary = async (): Promise<boolean> =>
    /role:master/.test(String(await cluster.replica.command('info', 'replication'))) &&
    /cluster_state:ok/.test(String(await second.command('cluster', 'info')));
  await throughOutage(t, planes, { name: 'killed', begin: () => first.kill(), takenOver: isPrimary });

  // one without: the cluster is down until it is back, with nothing in it
  await throughOutage(t, planes, {
    name: 'lost',
    begin: () => second.kill(),
    takenOver: async () => {
      await second.start();
      return true;
    },
  });
});
