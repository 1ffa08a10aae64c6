// Real sentinels and a real cluster on the loopback interface, of the redis-server that the machine has.
import { Redis } from 'ioredis';
import type { Test } from 'tap';
import { freePort } from '../free-port.js';
import { until } from '../waiting.js';
import { startRedisProcess, type RedisProcess } from './redis-process.js';

/** The ACL users of docs/redis.md, as lines of a configuration. */
export const aclOfDocs = {
  password: 'correct-1',
  server:
    'user gatehouse on >correct-1 ~gatehouse:* ~{gatehouse:* +eval +info +time +select +set +del +incr +pttl +expire ' +
    '+pexpire +hgetall +hset +hdel +zadd +zcard +zrem +zremrangebyscore +cluster|slots +cluster|info +asking',
  sentinel: 'user watch on >correct-1 +sentinel|get-master-addr-by-name +sentinel|sentinels',
} as const;

/** Not less: on a busy machine a server that runs must not be taken for dead. */
const deadAfterMs = 3000;

export interface FleetServer extends RedisProcess {
  readonly port: number;
  /** To this server, whatever it is at the moment. */
  command(...words: (string | number)[]): Promise<unknown>;
}

async function startServer(t: Test, lines: readonly string[], flags: readonly string[] = []): Promise<FleetServer> {
  const port = await freePort();
  const process = await startRedisProcess(t, [`port ${port}`, ...lines], flags);
  const command = async (...words: (string | number)[]): Promise<unknown> => {
    const client = new Redis({ port, host: '127.0.0.1', retryStrategy: () => null, enableReadyCheck: false });
    client.on('error', () => {}); // the command says so
    try {
      return await client.call(String(words[0]), ...words.slice(1));
    } finally {
      client.disconnect();
    }
  };
  return { ...process, port, command };
}

export interface Sentinels {
  /** The variables that name them. */
  readonly variables: Readonly<Record<string, string>>;
  /** Which of the two is what changes with a failover. */
  readonly servers: readonly [FleetServer, FleetServer];
  readonly sentinels: readonly FleetServer[];
  /** The server that the sentinels name. */
  primary(): Promise<FleetServer>;
}

/** A primary, a replica and three sentinels, of which two have to agree. */
export async function startSentinels(t: Test): Promise<Sentinels> {
  const fast = [aclOfDocs.server, 'repl-diskless-sync-delay 0', 'repl-ping-replica-period 1'];
  const first = await startServer(t, fast);
  const second = await startServer(t, [...fast, `replicaof 127.0.0.1 ${first.port}`]);
  const monitor = [
    aclOfDocs.sentinel,
    `sentinel monitor gate 127.0.0.1 ${first.port} 2`,
    `sentinel down-after-milliseconds gate ${deadAfterMs}`,
    'sentinel failover-timeout gate 10000',
  ];
  const sentinels: FleetServer[] = [];
  for (let index = 0; index < 3; index += 1) sentinels.push(await startServer(t, monitor, ['--sentinel']));
  const servers = [first, second] as const;
  for (const sentinel of sentinels)
    await until('a sentinel knows the others and the replica', async () => {
      const quorum = String(await sentinel.command('sentinel', 'ckquorum', 'gate').catch(() => ''));
      const replicas = (await sentinel.command('sentinel', 'replicas', 'gate')) as unknown[];
      return quorum.startsWith('OK 3') && replicas.length === 1;
    });
  await until('the replica follows', async () =>
    /master_link_status:up/.test(String(await second.command('info', 'replication'))),
  );
  return {
    variables: {
      REDIS_URL: `redis+sentinel://gatehouse@${sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')}/gate`,
      REDIS_PASSWORD: aclOfDocs.password,
      REDIS_SENTINEL_USERNAME: 'watch',
      REDIS_SENTINEL_PASSWORD: aclOfDocs.password,
    },
    servers,
    sentinels,
    async primary() {
      for (const sentinel of sentinels) {
        const named = (await sentinel.command('sentinel', 'get-master-addr-by-name', 'gate').catch(() => null)) as
          | string[]
          | null;
        const found = servers.find(({ port }) => String(port) === named?.[1]);
        if (found !== undefined) return found;
      }
      throw new Error('no sentinel names a primary');
    },
  };
}

export interface TestCluster {
  /** The variables that name it. */
  readonly variables: Readonly<Record<string, string>>;
  readonly primaries: readonly FleetServer[];
  /** Of the first of them. */
  readonly replica: FleetServer;
  /** The primary whose slots have this key. */
  ownerOf(key: string): Promise<FleetServer>;
  idOf(server: FleetServer): Promise<string>;
}

const slots = 16_384;

/** Three primaries with a third of the slots each, and a replica of the first. */
export async function startCluster(t: Test): Promise<TestCluster> {
  const start = async (): Promise<FleetServer & { readonly busPort: number }> => {
    const busPort = await freePort();
    const lines = [
      aclOfDocs.server,
      'cluster-enabled yes',
      `cluster-port ${busPort}`,
      `cluster-node-timeout ${deadAfterMs}`,
    ];
    return { ...(await startServer(t, [...lines, 'repl-diskless-sync-delay 0'])), busPort };
  };
  const primaries = [await start(), await start(), await start()];
  const replica = await start();
  const all = [...primaries, replica];
  const idOf = async (server: FleetServer): Promise<string> => String(await server.command('cluster', 'myid'));
  for (const [index, server] of primaries.entries()) {
    const [from, to] = [Math.ceil((index * slots) / 3), Math.ceil(((index + 1) * slots) / 3) - 1];
    await server.command('cluster', 'addslotsrange', from, to);
  }
  const first = primaries[0] as FleetServer;
  for (const { port, busPort } of all.slice(1)) await first.command('cluster', 'meet', '127.0.0.1', port, busPort);
  const areAll = (what: string, isSo: (server: FleetServer) => Promise<boolean>): Promise<void> =>
    until(what, async () => (await Promise.all(all.map(isSo))).every(Boolean));
  const nodesOf = async (server: FleetServer): Promise<string[]> =>
    String(await server.command('cluster', 'nodes'))
      .trim()
      .split('\n');
  await areAll('each knows all', async (server) => {
    const nodes = await nodesOf(server);
    return nodes.length === all.length && nodes.every((line) => !/handshake|fail/.test(line));
  });
  const firstId = await idOf(first);
  await replica.command('cluster', 'replicate', firstId);
  await areAll('all slots are served', async (server) =>
    /cluster_state:ok/.test(String(await server.command('cluster', 'info'))),
  );
  await until('the replica follows', async () =>
    /master_link_status:up/.test(String(await replica.command('info', 'replication'))),
  );
  await areAll('each knows the replica', async (server) =>
    (await nodesOf(server)).some((line) => line.includes('slave') && line.includes(firstId)),
  );
  const ownerOf = async (key: string): Promise<FleetServer> => {
    const slot = Number(await first.command('cluster', 'keyslot', key));
    const found = (await first.command('cluster', 'slots')) as [number, number, [string, number]][];
    const port = found.find(([from, to]) => from <= slot && slot <= to)?.[2][1];
    const owner = all.find((server) => server.port === port);
    if (owner === undefined) throw new Error(`nobody has slot ${slot}`);
    return owner;
  };
  const url = `redis+cluster://gatehouse@${primaries.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;
  return { variables: { REDIS_URL: url, REDIS_PASSWORD: aclOfDocs.password }, primaries, replica, ownerOf, idOf };
}
