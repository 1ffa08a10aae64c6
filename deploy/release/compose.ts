// compose.yaml, made of the environment table: each service is given the variables that its process reads, and no
// other. `UPDATE=1 node build/deploy/release/compose.test.js` writes it.
import { variables, type EnvironmentVariable, type ProcessName } from '#settings/environment';
import { imageReference } from './images.js';

const rows: readonly EnvironmentVariable[] = variables;

/** Inside the containers these are facts; what `.env` says of them is the host's side, or of another way to run. */
const fixed: Readonly<Record<string, string>> = {
  IN_CONTAINER: '1',
  GATEHOUSE_DATA: '/var/lib/gatehouse',
  GATEHOUSE_CONTROL_URL: 'http://control-plane:8090',
  DATA_ADMIN_URLS: 'http://data-plane:2019',
};
/** Of profile `full`, where .env names no other server. */
const full: Readonly<Record<string, string>> = {
  POSTGRES_HOST: 'postgres',
  REDIS_URL: 'redis://redis:6379',
};
const instead: Readonly<Record<string, string>> = {
  UPSTREAM_CUSTOMER: 'http://demo:8000',
  UPSTREAM_PAYMENT: 'http://demo:8000/payment',
  // Both sides of DASHBOARD_DOMAIN by names of the inner network alone: what the console sees a node come from is then
  // the address that the name has.
  DASHBOARD_UPSTREAM: 'http://dashboard:3010',
  DASHBOARD_PROXIES: 'nodes',
};

function valueIn({ name, default: fallback, generated }: EnvironmentVariable, isFull: boolean): string {
  const known = fixed[name];
  if (known !== undefined) return known;
  if (generated !== undefined && name !== 'ADMIN_INITIAL_PASSWORD')
    return `\${${name}:?run install.sh, which writes .env with fresh secrets}`;
  return `\${${name}:-${(isFull ? full[name] : undefined) ?? instead[name] ?? fallback}}`;
}

function environmentLines(processes: readonly ProcessName[], isFull: boolean): string[] {
  return rows
    .filter(({ readBy, name }) => name === 'IN_CONTAINER' || processes.some((one) => readBy.includes(one)))
    .map((row) => `      ${row.name}: ${JSON.stringify(valueIn(row, isFull))}`);
}

interface Service {
  readonly name: string;
  readonly image: string;
  readonly profiles: readonly string[];
  readonly command?: readonly string[];
  readonly processes?: readonly ProcessName[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly health: readonly string[];
  readonly dependsOn?: readonly string[];
  /** Another name by which services reach it. */
  readonly alias?: string;
  readonly user?: string;
  readonly networks?: readonly string[];
  /** Reaches applications of the host. */
  readonly hostGateway?: boolean;
}

const flow = (values: readonly string[]): string => `[${values.map((one) => JSON.stringify(one)).join(', ')}]`;
const list = (key: string, values: readonly string[] | undefined): string[] =>
  values === undefined ? [] : [`    ${key}:`, ...values.map((one) => `      - ${JSON.stringify(one)}`)];

function render(service: Service): string[] {
  const { name, image, profiles, command, processes, environment, ports, volumes, health, dependsOn, alias, user } =
    service;
  const isFull = name.endsWith('-full');
  const given = [
    ...(processes === undefined ? [] : environmentLines(processes, isFull)),
    ...Object.entries(environment ?? {}).map(([key, value]) => `      ${key}: ${JSON.stringify(value)}`),
  ];
  return [
    `  ${name}:`,
    `    image: ${image}`,
    `    profiles: ${flow(profiles)}`,
    '    restart: unless-stopped',
    ...(user === undefined ? [] : [`    user: ${JSON.stringify(user)}`]),
    '    read_only: true',
    '    cap_drop: ["ALL"]',
    '    security_opt: ["no-new-privileges:true"]',
    `    tmpfs: ${flow(['/tmp', ...(service.tmpfs ?? [])])}`,
    ...(command === undefined ? [] : [`    command: ${flow(command)}`]),
    ...(given.length === 0 ? [] : ['    environment:', ...given]),
    ...list('ports', ports),
    ...list('volumes', volumes),
    ...(dependsOn === undefined
      ? []
      : ['    depends_on:', ...dependsOn.flatMap((one) => [`      ${one}:`, '        condition: service_healthy'])]),
    ...(service.hostGateway === true ? ['    extra_hosts: ["host.docker.internal:host-gateway"]'] : []),
    '    networks:',
    ...(service.networks ?? ['internal']).flatMap((network) => [
      `      ${network}:${alias === undefined || network !== 'internal' ? ' {}' : ''}`,
      ...(alias === undefined || network !== 'internal' ? [] : [`        aliases: ${flow([alias])}`]),
    ]),
    '    healthcheck:',
    `      test: ${flow(['CMD', ...health])}`,
    '      interval: 10s',
    '      timeout: 5s',
    '      retries: 12',
    '      start_period: 60s',
    '',
  ];
}

const own = (name: 'data-plane' | 'control-plane'): string =>
  `${imageReference(name)}:\${GATEHOUSE_VERSION:?install.sh sets it}`;
const gatehouse = ['/usr/lib/gatehouse/runtime/node', '/usr/lib/gatehouse/bin/gatehouse'] as const;
const healthOf = (name: string): string[] => [...gatehouse, 'health', name];
const both = ['small', 'full'] as const;

const control = (profile: 'small' | 'full'): Service => ({
  name: profile === 'small' ? 'control-plane-small' : 'control-plane-full',
  image: own('control-plane'),
  profiles: [profile],
  processes: ['control plane', 'commands'],
  ports: ['${ADMIN_BIND:-127.0.0.1}:${API_PORT:-8095}:8090'],
  volumes: ['control-data:/var/lib/gatehouse'],
  health: healthOf('control-plane'),
  ...(profile === 'full' ? { dependsOn: ['postgres', 'redis'] } : {}),
  alias: 'control-plane',
  networks: ['internal', 'outside'],
});

const services: readonly Service[] = [
  {
    name: 'data-plane',
    image: own('data-plane'),
    profiles: both,
    processes: ['data plane'],
    ports: ['${WAF_BIND:-0.0.0.0}:${WAF_PORT:-8080}:8080', '${WAF_BIND:-0.0.0.0}:${JA3_PORT:-8443}:8443'],
    volumes: ['node-data:/var/lib/gatehouse'],
    health: healthOf('data-plane'),
    alias: 'nodes',
    hostGateway: true,
    networks: ['internal', 'outside'],
  },
  control('small'),
  control('full'),
  {
    name: 'console',
    image: own('control-plane'),
    profiles: both,
    command: ['console'],
    processes: ['console'],
    ports: ['${ADMIN_BIND:-127.0.0.1}:${UI_PORT:-3010}:3010'],
    health: healthOf('console'),
    alias: 'dashboard',
    networks: ['internal', 'outside'],
  },
  {
    name: 'demo',
    image: own('data-plane'),
    profiles: both,
    command: ['demo', '--demo-port', '8000'],
    environment: { IN_CONTAINER: '1' },
    health: [
      gatehouse[0],
      '-e',
      "fetch('http://127.0.0.1:8000/').then((r)=>process.exit(r.ok?0:1),()=>process.exit(1))",
    ],
  },
  {
    name: 'postgres',
    image: 'docker.io/library/postgres:17',
    profiles: ['full'],
    user: '999:999',
    environment: {
      POSTGRES_USER: '${POSTGRES_USER:-gatehouse}',
      POSTGRES_PASSWORD: '${POSTGRES_PASSWORD:?run install.sh, which writes .env with fresh secrets}',
      POSTGRES_DB: '${POSTGRES_DB:-gatehouse}',
    },
    volumes: ['postgres-data:/var/lib/postgresql/data'],
    tmpfs: ['/run/postgresql:uid=999,gid=999,mode=0775'],
    health: ['pg_isready', '-U', '${POSTGRES_USER:-gatehouse}'],
  },
  {
    name: 'redis',
    image: 'docker.io/library/redis:7',
    profiles: ['full'],
    user: '999:999',
    command: ['redis-server', '--save', '', '--appendonly', 'no'],
    health: ['redis-cli', 'ping'],
  },
];

/** The file. Published are the ports of the specification only; 2019 and the databases are reached inside. */
export function composeFile(): string {
  return [
    '# Generated from the environment table (settings/environment.ts); install.sh puts it beside its settings.',
    '# Profiles: small (embedded database) and full (PostgreSQL and Redis). The values come from /etc/gatehouse/.env.',

    'services:',
    ...services.flatMap(render),
    'networks:',
    '  # between the services; nothing in it is reached from outside, and nothing outside from it',
    '  internal:',
    '    internal: true',
    '  outside: {}',
    'volumes:',
    ...['node-data', 'control-data', 'postgres-data'].map((name) => `  ${name}: {}`),
    '',
  ].join('\n');
}
