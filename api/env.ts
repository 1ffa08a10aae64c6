// Environment → typed Env, validated once at start. Every variable is a row of `variables`; an error names all wrong
// ones at once. What a person is told about them (`.env.example`, the generated `.env`) is bin/environment.mjs.

interface Variable {
  readonly purpose: string;
  /** null: no default; the variable may be empty. */
  readonly fallback: string | null;
  readonly check?: (value: string) => string | null;
}

const isPort = (value: string): string | null =>
  /^\d{1,5}$/.test(value) && Number(value) <= 65535 ? null : 'must be a port number from 0 to 65535';
const oneOf =
  (...allowed: string[]) =>
  (value: string): string | null =>
    allowed.includes(value) ? null : `must be one of ${allowed.join(', ')}`;
const longSecret = (value: string): string | null => (value.length >= 32 ? null : 'must have at least 32 characters');
const isHttpUrl = (value: string): string | null => {
  if (!URL.canParse(value)) return 'must be a URL';
  return ['http:', 'https:'].includes(new URL(value).protocol) ? null : 'must be an http or https URL';
};
const scheme =
  (...schemes: string[]) =>
  (value: string): string | null =>
    URL.canParse(value) && schemes.includes(new URL(value).protocol)
      ? null
      : `must be a URL beginning with ${schemes.map((s) => `${s}//`).join(' or ')}`;

export const variables = {
  ADMIN_EMAIL: {
    purpose: 'login of the first administrator',
    fallback: 'admin@gatehouse.local',
    check: (v) => (/^[^\s@]+@[^\s@]+$/.test(v) ? null : 'must be an e-mail address'),
  },
  ADMIN_INITIAL_PASSWORD: { purpose: 'password of the first login; it has to be changed then', fallback: null },
  AUTH_SESSION_SECRET: {
    purpose: 'key that signs session tokens; changing it ends every session',
    fallback: null,
    check: longSecret,
  },
  SETTINGS_ENCRYPTION_SECRET: {
    purpose: 'key for secrets at rest; losing it loses the stored secrets',
    fallback: null,
    check: longSecret,
  },
  DATA_ADMIN_TOKEN: {
    purpose: 'token between the control plane and the data plane (port 2019)',
    fallback: null,
    check: longSecret,
  },
  ADMIN_BIND: { purpose: 'address the API listens on; 0.0.0.0 for the LAN', fallback: '127.0.0.1' },
  WAF_PORT: { purpose: 'protected traffic', fallback: '8080', check: isPort },
  UI_PORT: { purpose: 'kept for a dashboard; nothing listens there yet', fallback: '3010', check: isPort },
  API_PORT: { purpose: 'control-plane API (8090 inside a container)', fallback: '8095', check: isPort },
  JA3_PORT: {
    purpose: 'kept for a TLS edge that records JA3/JA4 fingerprints; nothing listens there yet',
    fallback: '8443',
    check: isPort,
  },
  DATABASE_URL: {
    purpose: 'postgres://… ; empty uses POSTGRES_* or else the embedded database in DATA_DIR',
    fallback: null,
    check: scheme('postgres:', 'postgresql:'),
  },
  POSTGRES_HOST: { purpose: 'database host when DATABASE_URL is empty; empty means embedded', fallback: null },
  POSTGRES_PORT: { purpose: 'database port', fallback: '5432', check: isPort },
  POSTGRES_USER: { purpose: 'database user', fallback: 'gatehouse' },
  POSTGRES_PASSWORD: { purpose: 'database password', fallback: null },
  POSTGRES_DB: { purpose: 'database name', fallback: 'gatehouse' },
  REDIS_URL: {
    purpose: 'redis://… where several API processes share their limits of logins; empty: each counts for itself',
    fallback: null,
    check: scheme('redis:', 'rediss:'),
  },
  REDIS_PREFIX: {
    purpose: 'begins every key in Redis, for several installations on one; empty derives one from AUTH_SESSION_SECRET',
    fallback: null,
    check: (v) =>
      /^[A-Za-z0-9:._-]{1,64}$/.test(v)
        ? null
        : 'must be 1 to 64 letters, digits, colons, dots, underscores or hyphens',
  },
  DATA_DIR: { purpose: 'embedded database, artifacts and logs', fallback: 'data' },
  DATA_ADMIN_URLS: {
    purpose: 'admin interfaces of the data-plane nodes, separated by commas',
    fallback: 'http://127.0.0.1:2019',
    check: (v) =>
      v
        .split(',')
        .map((u) => isHttpUrl(u.trim()))
        .find((r) => r !== null) ?? null,
  },
  DATA_WORKERS: {
    purpose: 'data-plane worker threads; empty means one per core',
    fallback: null,
    check: (v) => (/^[1-9]\d{0,2}$/.test(v) ? null : 'must be a whole number from 1 to 999'),
  },
  DATA_LISTENER: { purpose: 'listener of the data plane', fallback: 'auto', check: oneOf('auto', 'uws', 'node') },
  SETTINGS_IMPORT: { purpose: 'local settings file that a new installation begins with; read once', fallback: null },
  CRS_DIR: { purpose: 'a rule set on disk instead of the pinned release', fallback: null },
  UPSTREAM_CUSTOMER: { purpose: 'first default upstream', fallback: 'http://127.0.0.1:8000', check: isHttpUrl },
  UPSTREAM_PAYMENT: { purpose: 'second default upstream', fallback: 'http://127.0.0.1:8000', check: isHttpUrl },
  APP_BRAND: { purpose: 'name in the API explorer and in authenticator apps', fallback: 'Gatehouse' },
  APP_BRAND_SUB: { purpose: 'kept for a dashboard: second word of the brand', fallback: 'WAAP' },
  APP_TAGLINE: { purpose: 'kept for a dashboard: tagline of its login page', fallback: null },
  DASHBOARD_DOMAIN: { purpose: 'kept for a dashboard: domain name for its automatic HTTPS', fallback: null },
  ACME_EMAIL: { purpose: 'kept for a dashboard: contact of its ACME account; empty uses ADMIN_EMAIL', fallback: null },
  API_TRUSTED_PROXIES: {
    purpose: 'addresses whose X-Forwarded-For the API believes, separated by commas',
    fallback: '127.0.0.1/8,::1/128',
  },
  OUTBOUND_ALLOW: {
    purpose: 'private addresses, networks or host names that outgoing calls may reach, separated by commas',
    fallback: null,
  },
  BREACHED_PASSWORDS_URL: {
    purpose: 'k-anonymity range service for breached passwords',
    fallback: 'https://api.pwnedpasswords.com/range/',
    check: isHttpUrl,
  },
  TOR_EXITS_URL: {
    purpose: 'list of exit nodes of the Tor network',
    fallback: 'https://check.torproject.org/torbulkexitlist',
    check: isHttpUrl,
  },
  IN_CONTAINER: {
    purpose: '1 inside the container image: the API listens on 8090, on every address of the container',
    fallback: null,
    check: oneOf('0', '1'),
  },
  LOG_LEVEL: {
    purpose: 'fatal, error, warn, info, debug, trace or silent',
    fallback: 'info',
    check: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  },
} as const satisfies Record<string, Variable>;

export type VariableName = keyof typeof variables;

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
  readonly redisUrl: string | null;
  /** null: derived from the session secret. */
  readonly redisPrefix: string | null;
  readonly dataDirectory: string;
  readonly dataAdminUrls: readonly string[];
  readonly dataWorkers: number | null;
  readonly dataListener: 'auto' | 'uws' | 'node';
  readonly crsDirectory: string | null;
  readonly settingsImport: string | null;
  readonly upstreams: { readonly customer: string; readonly payment: string };
  readonly brand: { readonly name: string; readonly sub: string; readonly tagline: string | null };
  readonly dashboardDomain: string | null;
  readonly acmeEmail: string;
  readonly trustedProxies: readonly string[];
  readonly outboundAllow: readonly string[];
  readonly breachedPasswordsUrl: string;
  readonly torExitsUrl: string;
  readonly logLevel: string;
}

/** Thrown once, naming every wrong variable, so that one start shows all that has to be mended. */
export class EnvError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(
      [
        'The environment is not usable:',
        ...problems.map((problem) => `  ${problem}`),
        'Mend .env (see .env.example) and start again.',
      ].join('\n'),
    );
    this.name = 'EnvError';
  }
}

/** Reads every variable of the table. An empty string counts as absent. Throws EnvError. */
export function readEnv(source: Readonly<Record<string, string | undefined>>): Env {
  const problems: string[] = [];
  const given = (name: VariableName): string | null => {
    const row: Variable = variables[name];
    const raw = source[name]?.trim();
    const value = raw === undefined || raw === '' ? row.fallback : raw;
    const reason = value === null ? null : (row.check?.(value) ?? null);
    if (reason !== null) problems.push(`${name} ${reason}`);
    return value;
  };
  const required = (name: VariableName): string => {
    const value = given(name);
    if (value === null) problems.push(`${name} is missing (${variables[name].purpose})`);
    return value ?? '';
  };
  const list = (name: VariableName): string[] =>
    (given(name) ?? '')
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
  const port = (name: VariableName): number => Number(required(name));
  const adminEmail = required('ADMIN_EMAIL');
  const workers = given('DATA_WORKERS');
  // API_PORT and ADMIN_BIND are the host's side of the mapping
  const inContainer = given('IN_CONTAINER') === '1';
  const env: Env = {
    adminEmail,
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
    redisUrl: given('REDIS_URL'),
    redisPrefix: given('REDIS_PREFIX'),
    dataDirectory: required('DATA_DIR'),
    dataAdminUrls: list('DATA_ADMIN_URLS'),
    dataWorkers: workers === null ? null : Number(workers),
    dataListener: required('DATA_LISTENER') as Env['dataListener'],
    crsDirectory: given('CRS_DIR'),
    settingsImport: given('SETTINGS_IMPORT'),
    upstreams: { customer: required('UPSTREAM_CUSTOMER'), payment: required('UPSTREAM_PAYMENT') },
    brand: { name: required('APP_BRAND'), sub: required('APP_BRAND_SUB'), tagline: given('APP_TAGLINE') },
    dashboardDomain: given('DASHBOARD_DOMAIN'),
    acmeEmail: given('ACME_EMAIL') ?? adminEmail,
    trustedProxies: list('API_TRUSTED_PROXIES'),
    outboundAllow: list('OUTBOUND_ALLOW'),
    breachedPasswordsUrl: required('BREACHED_PASSWORDS_URL'),
    torExitsUrl: required('TOR_EXITS_URL'),
    logLevel: required('LOG_LEVEL'),
  };
  if (problems.length > 0) throw new EnvError(problems);
  return env;
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
  const [login, secret, path] = [user, password, name].map((part) => encodeURIComponent(part ?? ''));
  return `postgres://${login}:${secret}@${host}:${port}/${path}`;
}

/**
 * Parses `NAME=value` lines; `#` comments and blank lines are skipped, one pair of quotes around a value is removed.
 */
export function parseEnvFile(text: string): Record<string, string> {
  const values: Record<string, string> = {};
  for (const line of text.split(/\r?\n/)) {
    const found = /^\s*([A-Z][A-Z0-9_]*)\s*=\s*(.*?)\s*$/.exec(line);
    if (found?.[1] === undefined) continue;
    const value = found[2] ?? '';
    values[found[1]] = /^(".*"|'.*')$/.test(value) ? value.slice(1, -1) : value;
  }
  return values;
}
