// The Compose file is what the generator makes of the environment table, and keeps what it promises.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { variables, type EnvironmentVariable, type ProcessName } from '#settings/environment';
import { isInstalled } from './commands.js';
import { composeFile } from './compose.js';

const file = join(import.meta.dirname, '../../../deploy/compose.yaml');
if (process.env['UPDATE'] === '1') writeFileSync(file, composeFile());
const text = readFileSync(file, 'utf8');

interface Service {
  readonly image: string;
  readonly profiles: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly networks: Readonly<Record<string, { readonly aliases?: readonly string[] }>>;
  readonly volumes?: readonly string[];
  readonly cap_drop: readonly string[];
  readonly security_opt: readonly string[];
  readonly read_only: boolean;
  readonly privileged?: boolean;
  readonly healthcheck: { readonly test: readonly string[] };
}
const { services } = parse(text) as { readonly services: Readonly<Record<string, Service>> };
const rows: readonly EnvironmentVariable[] = variables;

t.test('the file is what the generator makes', async (t) => {
  t.equal(text, composeFile(), 'UPDATE=1 node build/deploy/release/compose.test.js writes it');
});

t.test('every variable of the table reaches the services whose process reads it, and no other variable', async (t) => {
  const readers: [string, readonly ProcessName[]][] = [
    ['data-plane', ['data plane']],
    ['control-plane-small', ['control plane', 'commands']],
    ['control-plane-full', ['control plane', 'commands']],
    ['console', ['console']],
  ];
  for (const [name, processes] of readers) {
    const given = Object.keys(services[name]?.environment ?? {});
    const wanted = rows.filter(({ readBy }) => processes.some((one) => readBy.includes(one))).map((row) => row.name);
    t.same(given, wanted, name);
  }
  const everywhere = new Set(Object.values(services).flatMap(({ environment }) => Object.keys(environment ?? {})));
  const missing = rows.filter(({ name, readBy }) => readBy.length > 0 && !everywhere.has(name) && name !== 'DEMO_PORT');
  t.same(
    missing.map(({ name }) => name),
    [],
    'DEMO_PORT is a port of the demo container, which nothing publishes',
  );
  const known = new Set([...rows.map(({ name }) => name), 'GATEHOUSE_VERSION']);
  const used = [...text.matchAll(/\$\{([A-Z0-9_]+)/g)].map(([, name = '']) => name);
  t.same(
    used.filter((name) => !known.has(name)),
    [],
    'nothing is made up in the file',
  );
});

t.test('only the ports of the specification are published, the administrative ones on ADMIN_BIND', async (t) => {
  const published = Object.values(services).flatMap(({ ports }) => ports ?? []);
  t.same([...new Set(published)].sort(), [
    '${ADMIN_BIND:-127.0.0.1}:${API_PORT:-8095}:8090',
    '${ADMIN_BIND:-127.0.0.1}:${UI_PORT:-3010}:3010',
    '${WAF_BIND:-0.0.0.0}:${JA3_PORT:-8443}:8443',
    '${WAF_BIND:-0.0.0.0}:${WAF_PORT:-8080}:8080',
  ]);
});

t.test('DASHBOARD_DOMAIN: a node finds the console, which believes it', async (t) => {
  const defaultOf = (service: string, name: string): string =>
    /:-(.*)\}$/.exec(services[service]?.environment?.[name] ?? '')?.[1] ?? '';
  const aliases = (service: string): readonly string[] => services[service]?.networks['internal']?.aliases ?? [];
  const { hostname, port } = new URL(defaultOf('data-plane', 'DASHBOARD_UPSTREAM'));
  t.same([hostname, port], [aliases('console')[0], '3010'], 'in a container the console is on no loopback');
  t.equal(defaultOf('control-plane-small', 'DASHBOARD_UPSTREAM'), defaultOf('data-plane', 'DASHBOARD_UPSTREAM'));
  t.equal(defaultOf('control-plane-full', 'DASHBOARD_UPSTREAM'), defaultOf('data-plane', 'DASHBOARD_UPSTREAM'));
  t.same(aliases('data-plane'), [defaultOf('console', 'DASHBOARD_PROXIES')], 'and it comes from no loopback');
});

t.test('every service is confined', async (t) => {
  for (const [name, service] of Object.entries(services)) {
    t.equal(service.read_only, true, `${name}: read-only root`);
    t.same(service.cap_drop, ['ALL'], `${name}: no capability`);
    t.same(service.security_opt, ['no-new-privileges:true'], `${name}: no new privileges`);
    t.equal(service.privileged, undefined, name);
    t.notMatch((service.volumes ?? []).join(' '), /\.sock|^\//, `${name}: named volumes only`);
    t.ok(service.healthcheck.test.length > 1, `${name}: health is asked`);
    t.ok(service.profiles.every((one) => ['small', 'full'].includes(one)) && service.profiles.length > 0, name);
  }
  const ofSmall = Object.entries(services).filter(([, { profiles }]) => profiles.includes('small'));
  t.same(
    ofSmall.map(([name]) => name),
    ['data-plane', 'control-plane-small', 'console', 'demo'],
    'small has no database server',
  );
});

const missing = isInstalled('docker-compose')
  ? false
  : 'docker-compose is not installed: apt-get install docker-compose';
t.test('docker-compose accepts it', { skip: missing }, async (t) => {
  const secrets = rows.filter(({ generated }) => generated !== undefined).map(({ name }) => [name, 'x'.repeat(43)]);
  const env = { PATH: process.env['PATH'] ?? '', GATEHOUSE_VERSION: '1.0.0', ...Object.fromEntries(secrets) };
  for (const profile of ['small', 'full']) {
    const args = ['-f', file, '--profile', profile, 'config', '-q'];
    const { status, stderr } = spawnSync('docker-compose', args, { env, encoding: 'utf8' });
    t.equal(status, 0, `${profile}: ${stderr}`);
  }
  const { status, stderr } = spawnSync('docker-compose', ['-f', file, 'config', '-q'], {
    env: { PATH: env.PATH },
    encoding: 'utf8',
  });
  t.not(status, 0, 'without secrets it is refused');
  t.match(stderr, /install\.sh/);
});
