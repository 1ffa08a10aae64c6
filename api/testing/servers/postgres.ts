// A throw-away PostgreSQL. It refuses to run as root, so as root it belongs to the `postgres` account.
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { chown } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Test } from 'tap';
import { freePort } from '../free-port.js';
import { makeDirectory } from '../temporary.js';
import { until } from '../waiting.js';
import { debianDirectories, findPrograms, required, skipWithout, type Wanted } from './programs.js';

const run = promisify(execFile);

const wanted: Wanted = {
  server: 'PostgreSQL',
  untested: 'what is stored there',
  install: 'apt-get install postgresql',
  variable: 'GATEHOUSE_TEST_WITHOUT_POSTGRES',
};
const directoryFound = findPrograms(['initdb', 'postgres', 'pg_isready', 'createdb'], debianDirectories());

/** Why tests of PostgreSQL are skipped. */
export const withoutPostgres = skipWithout(directoryFound, wanted);

export interface Cluster {
  readonly directory: string;
  /** Its files: to be copied while it does not run. */
  readonly data: string;
  readonly url: string;
  /** Creates a database, empty or like the one called `template`, and returns its URL. */
  create(wanted?: { readonly name?: string; readonly template?: string }): Promise<string>;
  /** Ends it in order. */
  stop(): Promise<void>;
  /** Ends the server process at once, as a crash would (SIGQUIT: immediate shutdown, recovery at the next start). */
  crash(): Promise<void>;
  start(): Promise<void>;
}

export interface Replica {
  readonly url: string;
  /** Ends it at once. */
  crash(): Promise<void>;
  start(): Promise<void>;
  /** It replays nothing more, or goes on; it answers all the while. */
  setReplaying(isOn: boolean): Promise<void>;
}

/** A streaming replica of a cluster. Goes with the test. `database`: of the cluster, as its own URL ends. */
export async function startReplica(
  t: Pick<Test, 'teardown'>,
  cluster: Pick<Cluster, 'url'>,
  database: string,
): Promise<Replica> {
  const programs = required(directoryFound, wanted);
  const owner = await findOwner();
  const directory = await makeDirectory(t, 'pg-replica');
  if (owner.uid !== undefined && owner.gid !== undefined) await chown(directory, owner.uid, owner.gid);
  const [data, port, from] = [join(directory, 'd'), await freePort(), new URL(cluster.url)];
  const source = ['-h', from.hostname, '-p', from.port, '-U', 'gatehouse'];
  const options = { ...owner, cwd: directory };
  await run(join(programs, 'pg_basebackup'), [...source, '-D', data, '-R', '-X', 'stream', '-c', 'fast'], options);
  let server: ChildProcess | null = null;
  const start = async (): Promise<void> => {
    server = startServer(programs, { data, directory, port, owner });
    await untilReady(programs, server, port);
  };
  const crash = async (): Promise<void> => {
    const child = server;
    server = null;
    if (child !== null) await endChild(child, 'SIGQUIT');
  };
  t.teardown(crash);
  await start();
  const at = ['-h', '127.0.0.1', '-p', String(port), '-U', 'gatehouse', '-d', 'postgres', '-Atc'];
  return {
    url: `postgres://gatehouse@127.0.0.1:${port}/${database}`,
    crash,
    start,
    setReplaying: async (isOn) =>
      void (await run('psql', [...at, `select pg_wal_replay_${isOn ? 'resume' : 'pause'}()`])),
  };
}

interface Owner {
  readonly uid?: number;
  readonly gid?: number;
}

async function findOwner(): Promise<Owner> {
  if (userInfo().uid !== 0) return {};
  const [user, group] = [await run('id', ['-u', 'postgres']), await run('id', ['-g', 'postgres'])];
  return { uid: Number(user.stdout), gid: Number(group.stdout) };
}

/** Of its server, as 17.2. Throws when the machine has none. */
export async function versionOfPostgres(): Promise<string> {
  const { stdout } = await run(join(required(directoryFound, wanted), 'postgres'), ['--version']);
  return /\d[\d.]*/.exec(stdout)?.[0] ?? stdout.trim();
}

/**
 * A new cluster, or a copy of the files `template` of one that does not run. Goes with the test. Throws when the
 * machine has none; see `withoutPostgres`.
 */
export async function startCluster(t: Pick<Test, 'teardown'>, template: string | null = null): Promise<Cluster> {
  const programs = required(directoryFound, wanted);
  const owner = await findOwner();
  const directory = await makeDirectory(t, 'pg');
  if (owner.uid !== undefined && owner.gid !== undefined) await chown(directory, owner.uid, owner.gid);
  const data = join(directory, 'd');
  if (template === null) await initialise(join(programs, 'initdb'), data, { ...owner, cwd: directory });
  else await run('cp', ['-a', template, data]); // with its owner
  const port = await freePort();
  const url = (name: string): string => `postgres://gatehouse@127.0.0.1:${port}/${name}`;
  let server: ChildProcess | null = null;
  let made = 0;
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const child = server;
    server = null;
    if (child !== null) await endChild(child, signal);
  };
  const start = async (): Promise<void> => {
    server = startServer(programs, { data, directory, port, owner });
    await untilReady(programs, server, port);
  };
  t.teardown(() => end('SIGQUIT')); // what is thrown away needs no checkpoint
  // a test that leaves without its tear-down
  process.once('exit', () => {
    if (server === null) return;
    server.kill('SIGQUIT');
    rmSync(directory, { recursive: true, force: true });
  });
  await start();
  return {
    directory,
    data,
    url: url('postgres'),
    async create({ name = `t${process.pid}_${++made}`, template: like = 'template1' } = {}) {
      const at = ['-h', '127.0.0.1', '-p', String(port), '-U', 'gatehouse'];
      await run(join(programs, 'createdb'), [...at, '-T', like, name]);
      return url(name);
    },
    stop: () => end('SIGINT'),
    crash: () => end('SIGQUIT'),
    start,
  };
}

const initialise = (program: string, data: string, options: Owner & { readonly cwd: string }): Promise<unknown> =>
  run(
    program,
    ['-D', data, '--no-sync', '-U', 'gatehouse', '-A', 'trust', '--no-locale', '-E', 'UTF8', '--wal-segsize=1'],
    options,
  );

interface Place {
  readonly data: string;
  readonly directory: string;
  readonly port: number;
  readonly owner: Owner;
}

function startServer(programs: string, { data, directory, port, owner }: Place): ChildProcess {
  const settings = ['fsync=off', 'max_connections=60', 'shared_buffers=32MB'].flatMap((setting) => ['-c', setting]);
  return spawn(join(programs, 'postgres'), ['-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', '', ...settings], {
    ...owner,
    cwd: directory,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
}

async function untilReady(programs: string, server: ChildProcess, port: number): Promise<void> {
  let said = '';
  server.stderr?.on('data', (chunk: Buffer) => (said = `${said}${chunk.toString()}`.slice(-2000)));
  await until('PostgreSQL accepts connections', () => {
    if (server.exitCode !== null || server.signalCode !== null) throw new Error(`the test PostgreSQL ended: ${said}`);
    return run(join(programs, 'pg_isready'), ['-h', '127.0.0.1', '-p', String(port), '-q']).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') throw error;
        return false;
      },
    );
  });
}

async function endChild(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  await new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.kill(signal);
  });
}
