// What the fleet leans on: PostgreSQL with a synchronous replica, Redis with a replica and sentinels, the balancer.
// What Patroni or an operator does with PostgreSQL is done here: promoting, following anew, waiting for no dead
// replica.
import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { HarnessProblem, runToEnd } from '../processes.js';
import type { Network } from './network.js';
import { Part } from './parts.js';

interface Where {
  readonly network: Network;
  readonly directory: string;
}

const idOf = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
const asPostgres = ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups'];

function postgresPrograms(): string {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((one, other) => Number(other) - Number(one)) : [];
  const found = versions.map((version) => join(root, version, 'bin')).find((at) => existsSync(join(at, 'postgres')));
  if (found === undefined) throw new HarnessProblem('PostgreSQL is not installed: apt-get install postgresql');
  return found;
}

/** Two servers; one is the primary. */
export class PostgresPair {
  private readonly programs = postgresPrograms();
  readonly parts: readonly [Part, Part];
  /** Of `parts`. */
  primary = 0;
  /** Whether the primary waits for the replica with each commit: then the replica has all that was acknowledged. */
  isSynchronous = false;

  constructor(private readonly where: Where) {
    this.parts = [this.make('pg1'), this.make('pg2')];
  }

  /** Of the one that is the primary now. */
  get urlOfPrimary(): string {
    return `postgres://gatehouse@${this.parts[this.primary]?.host}:5432/postgres`;
  }

  get url(): string {
    return `postgres://gatehouse@${this.parts.map(({ host }) => `${host}:5432`).join(',')}/postgres`;
  }

  dataOf = (index: number): string => join(this.where.directory, `pg${index + 1}`);

  private make(place: string): Part {
    const settings = [
      ...['listen_addresses=*', 'max_connections=100', 'shared_buffers=64MB', 'hot_standby=on', 'wal_level=replica'],
      ...['max_wal_senders=6', 'wal_keep_size=512MB', 'wal_log_hints=on', 'wal_sender_timeout=5s'],
      ...['wal_receiver_timeout=5s', 'unix_socket_directories=', 'tcp_keepalives_idle=3', 'tcp_keepalives_interval=1'],
    ].flatMap((setting) => ['-c', setting]);
    const data = join(this.where.directory, place);
    const command = [...asPostgres, join(this.programs, 'postgres'), '-D', data, ...settings];
    return new Part(this.where.network, { place, command, port: 5432, cwd: '/', logs: this.where.directory });
  }

  private async run(program: string, ...args: readonly string[]): Promise<string> {
    const [first = '', ...rest] = [...asPostgres, join(this.programs, program), ...args];
    const { code, stdout, stderr } = await runToEnd(first, rest, { PATH: process.env['PATH'], PGCONNECT_TIMEOUT: '3' });
    if (code !== 0) throw new HarnessProblem(`${program} ended with ${code}: ${stderr.slice(-500)}`);
    return stdout.trim();
  }

  /** Rejects where it does not answer. */
  ask(index: number, sql: string): Promise<string> {
    const host = this.parts[index]?.host ?? '';
    return this.run('psql', '-h', host, '-U', 'gatehouse', '-d', 'postgres', '-Atc', sql);
  }

  async start(): Promise<void> {
    const data = this.dataOf(0);
    mkdirSync(data);
    chownSync(data, idOf('-u'), idOf('-g'));
    await this.run('initdb', '-D', data, '-U', 'gatehouse', '-A', 'trust', '--no-locale', '-E', 'UTF8');
    const all = ['local all all trust', 'host all all 0.0.0.0/0 trust', 'host replication all 0.0.0.0/0 trust'];
    writeFileSync(join(data, 'pg_hba.conf'), `${all.join('\n')}\n`);
    await this.parts[0].start();
    await this.followAnew(1);
    await this.waitSynchronous();
  }

  /** Until it answers statements: behind its port it may still be recovering. */
  async untilThere(index: number): Promise<void> {
    for (let attempt = 0; attempt < 300; attempt += 1, await pause(100))
      if ((await this.ask(index, 'select 1').catch(() => '')) === '1') return;
    throw new HarnessProblem('PostgreSQL does not come back');
  }

  /** The server begins as a copy of the primary. */
  async followAnew(index: number): Promise<void> {
    const data = this.dataOf(index);
    await this.parts[index]?.kill();
    rmSync(data, { recursive: true, force: true });
    mkdirSync(data, { mode: 0o700 });
    chownSync(data, idOf('-u'), idOf('-g'));
    const from = this.parts[this.primary]?.host ?? '';
    await this.run('pg_basebackup', '-h', from, '-U', 'gatehouse', '-D', data, '-R', '-c', 'fast', '-X', 'stream');
    await this.parts[index]?.start();
  }

  /** The primary waits for the replica, or for nobody. */
  async setSynchronous(isWanted: boolean): Promise<void> {
    await this.ask(this.primary, `alter system set synchronous_standby_names = '${isWanted ? '*' : ''}'`);
    await this.ask(this.primary, 'select pg_reload_conf()');
    this.isSynchronous = isWanted;
  }

  async waitSynchronous(): Promise<void> {
    for (let attempt = 0; attempt < 200; attempt += 1, await pause(100)) {
      const streams = await this.ask(this.primary, "select count(*) from pg_stat_replication where state = 'streaming'")
        .then(Number)
        .catch(() => 0);
      if (streams === 0) continue;
      await this.setSynchronous(true);
      return;
    }
    throw new HarnessProblem('the replica of PostgreSQL does not follow');
  }

  /** The replica takes over. */
  async promote(): Promise<void> {
    const next = 1 - this.primary;
    await this.ask(next, 'select pg_promote(true, 20)');
    this.primary = next;
    await this.setSynchronous(false);
  }
}

export interface RedisSet {
  readonly servers: readonly Part[];
  readonly sentinels: readonly Part[];
  readonly url: string;
}

export async function startRedis({ network, directory }: Where): Promise<RedisSet> {
  const hostOf = (place: string): string => network.places.get(place)?.address ?? '';
  const make = (place: string, lines: readonly string[], port: number, flags: readonly string[]): Part => {
    const file = join(directory, `${place}.conf`);
    const own = ['bind 0.0.0.0', 'protected-mode no', `port ${port}`, `dir ${directory}`, 'save ""', 'appendonly no'];
    writeFileSync(file, `${[...own, ...lines].join('\n')}\n`);
    const command = ['redis-server', file, ...flags];
    return new Part(network, { place, command, port, cwd: directory, logs: directory });
  };
  const fast = ['repl-diskless-sync-delay 0', 'repl-ping-replica-period 1'];
  const first = hostOf('redis1');
  const servers = [make('redis1', fast, 6379, []), make('redis2', [...fast, `replicaof ${first} 6379`], 6379, [])];
  const watch = [
    `sentinel monitor gate ${first} 6379 2`,
    'sentinel down-after-milliseconds gate 3000',
    'sentinel failover-timeout gate 10000',
  ];
  const sentinels = ['sen1', 'sen2', 'sen3'].map((place) => make(place, watch, 26_379, ['--sentinel']));
  for (const part of [...servers, ...sentinels]) await part.start();
  const url = `redis+sentinel://${sentinels.map(({ host }) => `${host}:26379`).join(',')}/gate`;
  return { servers, sentinels, url };
}

/** As docs/fleet.md has it. */
export async function startBalancer({ network, directory }: Where, nodes: readonly Part[]): Promise<Part> {
  const servers = nodes.map(
    ({ name, host }) => `  server ${name} ${host}:8080 check port 2019 inter 500ms fastinter 200ms fall 1 rise 1`,
  );
  const lines = [
    'defaults',
    ...['  timeout connect 5s', '  timeout client 60s', '  timeout server 60s', '  timeout check 20s'],
    ...['  option redispatch', '  retries 3', '  retry-on conn-failure empty-response'],
    'listen requests',
    ...['  mode http', '  bind :8080', '  option httpchk GET /readyz', '  balance roundrobin', ...servers],
    '  http-after-response set-header x-node %[srv_name]',
  ];
  const file = join(directory, 'haproxy.cfg');
  writeFileSync(file, `${lines.join('\n')}\n`);
  const balancer = new Part(network, {
    ...{ place: 'lb', command: ['haproxy', '-db', '-f', file], port: 8080, cwd: directory, logs: directory },
  });
  await balancer.start();
  return balancer;
}
