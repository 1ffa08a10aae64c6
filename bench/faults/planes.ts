// The two planes of the fleet under test, as docs/fleet.md sets them up: nodes that join by a shared secret, control
// planes on one PostgreSQL, limits in one Redis.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownAddress, type Network } from './network.js';
import { Part } from './parts.js';

export const adminToken = 'fault-run-admin-token-0123456789abcdef0123';
export const firstLogin = { email: 'fault-run@example.org', password: 'Quiet-river-stone-41' } as const;

interface Where {
  /** Of each place: the checkout that its program comes from. */
  readonly rootOf: (place: string) => string;
  readonly network: Network;
  readonly directory: string;
  readonly redisUrl: string;
}

const family = ['OWASP', 'CRS'].join('_');
const tags =
  'ATTACK-XSS ATTACK-RCE WEB-SHELLS ATTACK-PHP ATTACK-JAVA ATTACK-GENERIC ATTACK-LFI ATTACK-RFI PROTOCOL-ENFORCEMENT ' +
  'PROTOCOL-ATTACK MULTIPART-ATTACK METHOD-ENFORCEMENT SCANNER-DETECTION ATTACK-SESSION-FIXATION DATA-LEAKAGES ' +
  'DATA-LEAKAGES-SQL DATA-LEAKAGES-JAVA DATA-LEAKAGES-PHP DATA-LEAKAGES-IIS DATA-LEAKAGES-RUBY';

/** Rules that compile in a moment: what is measured is the fleet. One of them recognises injections. */
export function writeRules(directory: string): string {
  const rules = [
    `SecComponentSignature "${family}/${[4, 99, 0].join('.')}"`,
    `SecRule ARGS "@detectSQLi" "id:942100,phase:2,deny,status:403,log,msg:'injection',tag:'${family}/ATTACK-SQLI'"`,
    ...tags
      .split(' ')
      .map(
        (tag, index) =>
          `SecRule ARGS "@contains marker-of-${tag.toLowerCase()}-" ` +
          `"id:${930_000 + index},phase:2,deny,status:403,log,msg:'${tag}',tag:'${family}/${tag}'"`,
      ),
  ];
  mkdirSync(join(directory, 'rules', 'rules'), { recursive: true });
  writeFileSync(join(directory, 'rules', 'rules', 'REQUEST-901-INITIALIZATION.conf'), `${rules.join('\n')}\n`);
  return join(directory, 'rules');
}

const secrets = {
  AUTH_SESSION_SECRET: 'a'.repeat(48),
  SETTINGS_ENCRYPTION_SECRET: 'b'.repeat(48),
  NODES_JOIN_SECRET: 'c'.repeat(48),
  DATA_ADMIN_TOKEN: adminToken,
  GATEHOUSE_ADMIN_TOKEN: adminToken,
} as const;

const hostsOf = (network: Network, places: readonly string[]): string[] =>
  places.map((place) => network.places.get(place)?.address ?? '');

const nodesUrls = (network: Network, controls: readonly string[]): string =>
  hostsOf(network, controls)
    .map((host) => `https://${host}:8096`)
    .join(',');

export function makeControls(
  where: Where,
  places: readonly string[],
  { databaseUrl, upstream }: { readonly databaseUrl: string; readonly upstream: string },
): Part[] {
  const { rootOf, network, directory, redisUrl } = where;
  return places.map((place) => {
    const [root, data] = [rootOf(place), join(directory, place)];
    mkdirSync(data, { recursive: true });
    const env = {
      ...secrets,
      ADMIN_EMAIL: firstLogin.email,
      ADMIN_INITIAL_PASSWORD: firstLogin.password,
      ADMIN_BIND: '0.0.0.0',
      API_PORT: '8095',
      NODES_PORT: '8096',
      NODES_URLS: nodesUrls(network, places),
      DATA_ADMIN_URLS: 'none',
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      DATA_DIR: data,
      GATEHOUSE_DATA: data,
      CRS_DIR: join(directory, 'rules'),
      UPSTREAM_CUSTOMER: upstream,
      UPSTREAM_PAYMENT: upstream,
      BREACHED_PASSWORDS_URL: 'http://127.0.0.1:1/range/',
      OUTBOUND_ALLOW: ownAddress,
      LOG_LEVEL: 'warn',
    };
    const command = [process.execPath, join(root, 'bin/gatehouse'), 'control-plane'];
    return new Part(network, { place, command, port: 8095, cwd: root, env, logs: directory });
  });
}

export function makeNodes(where: Where, places: readonly string[], controls: readonly string[]): Part[] {
  const { rootOf, network, directory, redisUrl } = where;
  return places.map((place) => {
    const [root, data] = [rootOf(place), join(directory, place)];
    mkdirSync(data, { recursive: true });
    const env = {
      ...{ NODES_JOIN_SECRET: secrets.NODES_JOIN_SECRET, GATEHOUSE_ADMIN_TOKEN: adminToken },
      ...{ JOIN_URLS: nodesUrls(network, controls), JOIN_NAME: place, REDIS_URL: redisUrl, GATEHOUSE_DATA: data },
      // its admin interface is asked from outside, as a balancer does
      ...{ IN_CONTAINER: '1', TLS_EDGE: 'off', DATA_WORKERS: '1' },
    };
    // the release before has no supervisor of its own: there the run is its service manager
    const isSupervised = existsSync(join(root, 'cli/supervise/alone'));
    const flags = isSupervised ? ['--keep-alive'] : [];
    const command = [process.execPath, join(root, 'bin/gatehouse'), 'data-plane', ...flags];
    return new Part(network, { place, command, port: 8080, cwd: root, env, logs: directory });
  });
}
