// Environment → typed Env, validated once at start: the control plane's view of the table in settings/environment.ts.
// An error names all wrong variables at once.
import type { UpstreamDefaults } from '#proxy/contract';
import {
  effectiveValueOf,
  kinds,
  parseEnvironmentFile,
  readRedis,
  variableOf,
  type RedisAddress,
  type VariableName,
} from '#settings/environment';

export interface Env {
  readonly adminEmail: string;
  readonly adminInitialPassword: string | null;
  readonly authSessionSecret: string;
  readonly settingsEncryptionSecret: string;
  readonly dataAdminToken: string;
  readonly adminBind: string;
  readonly ports: { readonly waf: number; readonly ui: number; readonly api: number; readonly ja3: number };
  /** null: the embedded database below `dataDirectory`. */
  readonly databaseUrl: string | null;
  /** Of a replica for long reads, and how many seconds it may be behind. */
  readonly databaseReadUrl: string | null;
  readonly databaseReadLagSeconds: number;
  readonly redis: RedisAddress | null;
  /** null: derived from the session secret. */
  readonly redisPrefix: string | null;
  readonly dataDirectory: string;
  readonly dataAdminUrls: readonly string[];
  /** Where nodes of other machines enrol and connect; null: nowhere. */
  readonly nodePort: NodePortEnv | null;
  readonly dataWorkers: number | null;
  readonly dataListener: 'auto' | 'net' | 'uws' | 'node';
  readonly crsDirectory: string | null;
  readonly settingsImport: string | null;
  readonly upstreams: UpstreamDefaults;
  readonly publicDemo: boolean;
  readonly brand: { readonly name: string; readonly sub: string; readonly tagline: string | null };
  readonly dashboardDomain: string | null;
  readonly acme: AcmeEnv;
  readonly trustedProxies: readonly string[];
  /** By which the console is known; null: its clients count as one address. */
  readonly consoleToken: string | null;
  readonly outboundAllow: readonly string[];
  readonly breachedPasswordsUrl: string;
  /** Path of the browser of active scans, or `none`; null: the one on the path. */
  readonly chromium: string | null;
  readonly torExitsUrl: string;
  /** MMDB files that say where clients are; null: not set. */
  readonly locationFiles: { readonly country: string | null; readonly network: string | null };
  readonly logLevel: string;
}

export interface NodePortEnv {
  readonly host: string;
  readonly port: number;
  readonly urls: readonly string[];
  /** Every node enrols (DATA_ADMIN_URLS=none): the first one gets the saved settings, for nothing else would serve. */
  readonly isOnlyWay?: boolean;
  /** By which nodes enrol without a token; null or left out: they need one. */
  readonly shared?: { readonly secret: string; readonly nodesMax: number; readonly forgetAfterMinutes: number } | null;
}

/** A directory of RFC 8555, as the operator names it. */
export interface AcmeDirectory {
  readonly name: string;
  readonly url: string;
  /** External account binding; null: it asks for none. */
  readonly eab: { readonly kid: string; readonly hmacKey: string } | null;
}

export interface AcmeEnv {
  readonly email: string;
  /** In the order in which they are asked. */
  readonly directories: readonly AcmeDirectory[];
  /** null: nothing is tried first. */
  readonly staging: AcmeDirectory | null;
  readonly caFile: string | null;
  readonly dnsHook: string | null;
}

/** Thrown once, naming every wrong variable, so that one start shows all that has to be fixed. */
export class EnvError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(
      [
        'The environment is not usable:',
        ...problems.map((problem) => `  ${problem}`),
        'Fix .env (see .env.example) and start again.',
      ].join('\n'),
    );
    this.name = 'EnvError';
  }
}

/** Reads every variable of the table. An empty string counts as absent. Throws EnvError. */
export function readEnv(source: Readonly<Record<string, string | undefined>>): Env {
  const problems: string[] = [];
  const trimmed = Object.fromEntries(Object.entries(source).map(([name, value]) => [name, value?.trim()]));
  const given = (name: VariableName): string | null => {
    const value = effectiveValueOf(name, trimmed);
    const problem = value === '' ? null : kinds[variableOf(name).kind].demand(value);
    if (problem !== null) problems.push(`${name} ${problem}`);
    return value === '' ? null : value;
  };
  const required = (name: VariableName): string => {
    const value = given(name);
    if (value === null) problems.push(`${name} is missing (${variableOf(name).purpose})`);
    return value ?? '';
  };
  const list = (name: VariableName): string[] =>
    (given(name) ?? '')
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
  const port = (name: VariableName): number => Number(required(name));
  const workers = given('DATA_WORKERS');
  // API_PORT and ADMIN_BIND are the host's side of the mapping
  const inContainer = given('IN_CONTAINER') === '1';
  const env: Env = {
    adminEmail: required('ADMIN_EMAIL'),
    adminInitialPassword: given('ADMIN_INITIAL_PASSWORD'),
    authSessionSecret: required('AUTH_SESSION_SECRET'),
    settingsEncryptionSecret: required('SETTINGS_ENCRYPTION_SECRET'),
    dataAdminToken: required('DATA_ADMIN_TOKEN'),
    adminBind: inContainer ? '0.0.0.0' : required('ADMIN_BIND'),
    ports: {
      waf: port('WAF_PORT'),
      ui: port('UI_PORT'),
      api: inContainer ? 8090 : port('API_PORT'),
      ja3: port('JA3_PORT'),
    },
    databaseUrl: databaseUrl(given),
    databaseReadUrl: given('DATABASE_READ_URL'),
    databaseReadLagSeconds: Number(required('DATABASE_READ_LAG')),
    redis: redisOf(given, problems),
    redisPrefix: given('REDIS_PREFIX'),
    dataDirectory: required('DATA_DIR'),
    dataAdminUrls: list('DATA_ADMIN_URLS').filter((url) => url !== 'none'),
    nodePort: nodePortOf(given, list),
    dataWorkers: workers === null ? null : Number(workers),
    dataListener: required('DATA_LISTENER') as Env['dataListener'],
    crsDirectory: given('CRS_DIR'),
    settingsImport: given('SETTINGS_IMPORT'),
    upstreams: {
      customer: required('UPSTREAM_CUSTOMER'),
      payment: required('UPSTREAM_PAYMENT'),
      dashboard: dashboardOf(given),
    },
    publicDemo: given('PUBLIC_DEMO') !== '0',
    brand: { name: required('APP_BRAND'), sub: required('APP_BRAND_SUB'), tagline: given('APP_TAGLINE') },
    dashboardDomain: given('DASHBOARD_DOMAIN'),
    acme: acmeOf(given, list, problems),
    trustedProxies: list('API_TRUSTED_PROXIES'),
    consoleToken: given('CONSOLE_TOKEN'),
    outboundAllow: list('OUTBOUND_ALLOW'),
    chromium: given('CHROMIUM'),
    breachedPasswordsUrl: required('BREACHED_PASSWORDS_URL'),
    torExitsUrl: required('TOR_EXITS_URL'),
    locationFiles: { country: given('MMDB_COUNTRY_FILE'), network: given('MMDB_NETWORK_FILE') },
    logLevel: required('LOG_LEVEL'),
  };
  if (problems.length > 0) throw new EnvError(problems);
  return env;
}

type Given = (name: VariableName) => string | null;

/** `name=value` pairs; what is none is told. */
function pairsOf(name: VariableName, entries: readonly string[], problems: string[]): ReadonlyMap<string, string> {
  const pairs = new Map<string, string>();
  for (const entry of entries) {
    const at = entry.indexOf('=');
    if (at > 0 && at < entry.length - 1) pairs.set(entry.slice(0, at).trim(), entry.slice(at + 1).trim());
    else problems.push(`${name} must be pairs of name=value, separated by commas`);
  }
  return pairs;
}

function acmeOf(given: Given, list: (name: VariableName) => string[], problems: string[]): AcmeEnv {
  const eabs = pairsOf('ACME_EAB', list('ACME_EAB'), problems);
  const directoryOf = (variable: VariableName, name: string, url: string): AcmeDirectory => {
    if (!URL.canParse(url) || new URL(url).protocol !== 'https:')
      problems.push(`${variable} must be an https URL for ${name}`);
    const [kid = '', hmacKey = ''] = eabs.get(name)?.split(':') ?? [];
    if (eabs.has(name) && (kid === '' || hmacKey === ''))
      problems.push(`ACME_EAB must have key id:HMAC key for ${name}`);
    return { name, url, eab: eabs.has(name) ? { kid, hmacKey } : null };
  };
  const directories = [...pairsOf('ACME_DIRECTORIES', list('ACME_DIRECTORIES'), problems)].map(([name, url]) =>
    directoryOf('ACME_DIRECTORIES', name, url),
  );
  for (const name of eabs.keys())
    if (name !== 'staging' && directories.every((one) => one.name !== name))
      problems.push(`ACME_EAB names ${name}, which ACME_DIRECTORIES does not have`);
  const staging = given('ACME_STAGING_DIRECTORY');
  return {
    email: given('ACME_EMAIL') ?? '',
    directories,
    staging: staging === null || staging === 'none' ? null : directoryOf('ACME_STAGING_DIRECTORY', 'staging', staging),
    caFile: given('ACME_CA_FILE'),
    dnsHook: given('ACME_DNS_HOOK'),
  };
}

/** Its own problems are those of the URL together with what else says how to connect. */
function redisOf(given: Given, problems: string[]): RedisAddress | null {
  // a URL that is wrong by itself is told by `given`
  const found = readRedis((name) => given(name) ?? '');
  if (found.address !== null) problems.push(...found.problems);
  return found.address;
}

function nodePortOf(given: Given, list: (name: VariableName) => string[]): Env['nodePort'] {
  const [port, host, urls] = [given('NODES_PORT'), given('NODES_BIND'), list('NODES_URLS')];
  const [secret, most, minutes] = [given('NODES_JOIN_SECRET'), given('NODES_JOIN_MAX'), given('NODES_FORGET_MINUTES')];
  const shared = secret === null ? null : { secret, nodesMax: Number(most), forgetAfterMinutes: Number(minutes) };
  const isOnlyWay = given('DATA_ADMIN_URLS') === 'none';
  return port === null ? null : { host: host ?? '0.0.0.0', port: Number(port), urls, shared, isOnlyWay };
}

function dashboardOf(given: Given): NonNullable<UpstreamDefaults['dashboard']> | null {
  const host = given('DASHBOARD_DOMAIN');
  return host === null ? null : { host: host.toLowerCase(), upstream: given('DASHBOARD_UPSTREAM') ?? '' };
}

function databaseUrl(given: (name: VariableName) => string | null): string | null {
  const url = given('DATABASE_URL');
  const [host, port, user, password, name] = [
    given('POSTGRES_HOST'),
    given('POSTGRES_PORT'),
    given('POSTGRES_USER'),
    given('POSTGRES_PASSWORD'),
    given('POSTGRES_DB'),
  ];
  if (url !== null || host === null) return url;
  const [login, secret, database] = [user, password, name].map((part) => encodeURIComponent(part ?? ''));
  const place = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  return `postgres://${login}:${secret}@${place}:${port}/${database}`;
}

/** The values of an environment file. Throws EnvError with every line that is none of the grammar. */
export function parseEnvFile(text: string): Readonly<Record<string, string>> {
  const { values, problems } = parseEnvironmentFile(text);
  if (problems.length > 0) throw new EnvError(problems.map(({ line, message }) => `.env:${line}: ${message}`));
  return values;
}
