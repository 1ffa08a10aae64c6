// An installation of a test: bundles, a root of its own with ports that are free, and the installer's command line.
import { spawn, spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import { isInstalled } from '../release/commands.js';
import { createReleaseKey } from '../release/signature.js';
import { checkout, makeBundle, type BundleOptions } from './stand-in-bundle.js';

const key = createReleaseKey();

/** Ports of the test, written into .env before the installer completes it. */
async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      return server;
    }),
  );
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((done) => server.close(done))));
  return ports;
}

export interface Stage {
  /** Also the parent of the bundles. */
  readonly at: string;
  readonly root: string;
  readonly ports: readonly number[];
  bundle(version: string, more?: Pick<BundleOptions, 'isBroken' | 'attack'>): string;
  run(bundle: string, ...args: string[]): SpawnSyncReturns<string>;
  start(bundle: string): ReturnType<typeof spawn>;
  read(path: string): string;
  release(): Promise<string | null>;
}

export const shells = ['dash', 'bash'].filter(isInstalled);
interface Way {
  readonly args: readonly string[];
  /** Programs that come first. */
  readonly path?: string;
}
const nativeWay: Way = { args: ['--native'] };

/** `shell`: a program, or a line of shell that ends with one. */
export async function stage(t: Test, shell = 'sh', health = '20', way: Way = nativeWay): Promise<Stage> {
  const at = mkdtempSync(join(tmpdir(), 'gatehouse-install-'));
  const root = join(at, 'root');
  const ports = await freePorts(6);
  mkdirSync(join(root, 'etc/gatehouse'), { recursive: true });
  const names = ['WAF_PORT', 'UI_PORT', 'API_PORT', 'JA3_PORT', 'GATEHOUSE_ADMIN_PORT', 'DEMO_PORT'];
  const lines = names.map((name, index) => `${name}=${ports[index]}`);
  writeFileSync(join(root, 'etc/gatehouse/.env'), `${lines.join('\n')}\n`);
  t.teardown(() => {
    spawnSync('sh', [join(checkout, 'deploy/install/uninstall.sh'), '--purge', '-y', '--root', root]);
    rmSync(at, { recursive: true, force: true });
  });
  const path = way.path === undefined ? {} : { PATH: `${way.path}:${process.env['PATH'] ?? ''}` };
  const env = { ...process.env, ...path, GATEHOUSE_HEALTH_SECONDS: health };
  const args = ['-y', ...way.args, '--root', root];
  const words = shell.split(' ');
  const [program = 'sh', ...before] = words.length === 1 ? [shell] : ['sh', '-c', `${shell} "$@"`, 'sh'];
  return {
    at,
    root,
    ports,
    bundle(version, more = {}) {
      const directory = join(at, `bundle-${version}`);
      makeBundle(directory, { version, key, ...more });
      return directory;
    },
    run: (bundle, ...more) =>
      spawnSync(program, [...before, join(bundle, 'install.sh'), ...args, ...more], {
        encoding: 'utf8',
        env,
        timeout: 120_000,
      }),
    start: (bundle) =>
      spawn(program, [...before, join(bundle, 'install.sh'), ...args], { env, stdio: 'ignore', detached: true }),
    read: (path) => readFileSync(join(root, path), 'utf8'),
    release: () =>
      fetch(`http://127.0.0.1:${ports[0]}/`, { headers: { connection: 'close' } }).then(
        (answer) => answer.headers.get('x-release'),
        () => null,
      ),
  };
}
