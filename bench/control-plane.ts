// The control plane for the cases that measure it: a process of its own on a free port, on PGlite or on a PostgreSQL
// that is started for the run (Debian's binaries, Debian's defaults, fsync on) and thrown away after it.
import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { userInfo } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort, HarnessProblem, runToEnd, start, temporaryDirectory, type Started } from './processes.js';

export interface Postgres {
  readonly pid: number;
  readonly url: string;
  stop(): Promise<void>;
}

/** null where there are no binaries below /usr/lib/postgresql. */
export async function startPostgres(): Promise<Postgres | null> {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).sort((left, right) => Number(right) - Number(left)) : [];
  const bin = versions
    .map((version) => join(root, version, 'bin'))
    .find((directory) => existsSync(join(directory, 'postgres')));
  if (bin === undefined) return null;
  const temporary = temporaryDirectory('postgres');
  // PostgreSQL refuses to run as root.
  const isRoot = userInfo().uid === 0;
  const as: readonly string[] = isRoot ? ['--reuid=postgres', '--regid=postgres', '--clear-groups'] : [];
  if (isRoot)
    chownSync(
      temporary.path,
      Number(execFileSync('id', ['-u', 'postgres'], { encoding: 'utf8' })),
      Number(execFileSync('id', ['-g', 'postgres'], { encoding: 'utf8' })),
    );
  const data = join(temporary.path, 'data');
  const made = await runToEnd('setpriv', [
    ...as,
    join(bin, 'initdb'),
    '-D',
    data,
    '-U',
    'gatehouse',
    '-A',
    'trust',
    '--no-locale',
    '-E',
    'UTF8',
  ]);
  if (made.code !== 0) throw new HarnessProblem(`initdb ended with ${made.code}: ${made.stderr.slice(-1000)}`);
  const port = await freePort();
  const server = await start(
    'setpriv',
    [...as, join(bin, 'postgres'), '-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', temporary.path],
    { port },
  );
  // The port answers before the database does.
  for (
    let attempt = 0;
    (await runToEnd(join(bin, 'pg_isready'), ['-q', '-h', '127.0.0.1', '-p', String(port)])).code !== 0;
    attempt++
  ) {
    if (attempt === 100) throw new HarnessProblem(`PostgreSQL did not get ready:\n${server.output().slice(-2000)}`);
    await pause(50);
  }
  return {
    pid: server.pid,
    url: `postgres://gatehouse@127.0.0.1:${port}/postgres`,
    async stop() {
      await server.stop();
      temporary.remove();
    },
  };
}

/** An answer other than 2xx. */
export class RefusedCall extends HarnessProblem {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

/** What a process logs of a request arrives by another way than its answer. */
const logDelayMs = 300;

export interface ControlPlane {
  readonly url: string;
  readonly pid: number;
  readonly nodeToken: string;
  /** JSON in, JSON out, as an administrator. Throws RefusedCall for anything but 2xx. */
  call(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>;
  /** Of the same administrator, for callers that measure. */
  readonly token: string;
  stop(): Promise<void>;
}

export interface ControlPlaneOptions {
  readonly root: string;
  /** null: the embedded database. */
  readonly databaseUrl: string | null;
  /** Admin interfaces of the data plane's nodes. */
  readonly nodes?: readonly string[];
  readonly nodeToken?: string;
  /** For nodes that are started first and have to know it. */
  readonly port?: number;
  /** Over everything else. */
  readonly env?: NodeJS.ProcessEnv;
}

export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const temporary = temporaryDirectory('control');
  const port = options.port ?? (await freePort());
  const nodeToken = options.nodeToken ?? 'bench-node-token-0123456789abcdef0123456789';
  const email = 'bench@example.org';
  const [first, second] = ['Quiet-river-stone-41', 'Slow-meadow-cloud-73'];
  const env = {
    ...process.env,
    ADMIN_EMAIL: email,
    ADMIN_INITIAL_PASSWORD: first,
    AUTH_SESSION_SECRET: 'a'.repeat(48),
    SETTINGS_ENCRYPTION_SECRET: 'b'.repeat(48),
    DATA_ADMIN_TOKEN: nodeToken,
    GATEHOUSE_ADMIN_TOKEN: nodeToken,
    ADMIN_BIND: '127.0.0.1',
    API_PORT: String(port),
    DATABASE_URL: options.databaseUrl ?? '',
    DATA_DIR: temporary.path,
    GATEHOUSE_DATA: temporary.path,
    DATA_ADMIN_URLS: (options.nodes ?? ['http://127.0.0.1:1']).join(','),
    BREACHED_PASSWORDS_URL: 'http://127.0.0.1:1/range/',
    OUTBOUND_ALLOW: '127.0.0.1',
    LOG_LEVEL: 'error',
    ...options.env,
  };
  const server: Started = await start(process.execPath, [join(options.root, 'bin/gatehouse'), 'control-plane'], {
    port,
    env,
    cwd: options.root,
  });
  const url = `http://127.0.0.1:${port}`;
  let token = '';
  const call: ControlPlane['call'] = async (method, path, body) => {
    const reply = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    if (!reply.ok) {
      if (reply.status === 500) await pause(logDelayMs);
      const said = reply.status === 500 ? `\n${server.output().slice(-3000)}` : '';
      throw new RefusedCall(`${method} ${path} answered ${reply.status}: ${text.slice(0, 500)}${said}`, reply.status);
    }
    return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
  };
  const stop = async (): Promise<void> => {
    await server.stop();
    temporary.remove();
  };
  try {
    token = String((await call('POST', '/api/login', { email, password: first }))['token']);
    await call('POST', '/api/account/password', { current: first, password: second });
    token = String((await call('POST', '/api/login', { email, password: second }))['token']);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, pid: server.pid, nodeToken, token, call, stop };
}
