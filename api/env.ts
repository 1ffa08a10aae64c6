// Environment → typed Env, validated once at start: the control plane's view of the table in settings/environment.ts.
// An error names all wrong variables at once.
import { effectiveValueOf, kinds, parseEnvironmentFile, variableOf, type VariableName } from '#settings/environment';

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
  readonly dataListener: 'auto' | 'net' | 'uws' | 'node';
  readonly crsDirectory: string | null;
  readonly settingsImport: string | null;
  readonly upstreams: { readonly customer: string; readonly payment: string };
  readonly publicDemo: boolean;
  readonly brand: { readonly name: string; readonly sub: string; readonly tagline: string | null };
  readonly dashboardDomain: string | null;
  readonly acmeEmail: string;
  readonly trustedProxies: readonly string[];
  /** By which the console is known; null: its clients count as one address. */
  readonly consoleToken: string | null;
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
    redisUrl: given('REDIS_URL'),
    redisPrefix: given('REDIS_PREFIX'),
    dataDirectory: required('DATA_DIR'),
    dataAdminUrls: list('DATA_ADMIN_URLS'),
    dataWorkers: workers === null ? null : Number(workers),
    dataListener: required('DATA_LISTENER') as Env['dataListener'],
    crsDirectory: given('CRS_DIR'),
    settingsImport: given('SETTINGS_IMPORT'),
    upstreams: { customer: required('UPSTREAM_CUSTOMER'), payment: required('UPSTREAM_PAYMENT') },
    publicDemo: given('PUBLIC_DEMO') !== '0',
    brand: { name: required('APP_BRAND'), sub: required('APP_BRAND_SUB'), tagline: given('APP_TAGLINE') },
    dashboardDomain: given('DASHBOARD_DOMAIN'),
    acmeEmail: required('ACME_EMAIL'),
    trustedProxies: list('API_TRUSTED_PROXIES'),
    consoleToken: given('CONSOLE_TOKEN'),
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
  const [login, secret, database] = [user, password, name].map((part) => encodeURIComponent(part ?? ''));
  return `postgres://${login}:${secret}@${host}:${port}/${database}`;
}

/** The values of an environment file. Throws EnvError with every line that is none of the grammar. */
export function parseEnvFile(text: string): Readonly<Record<string, string>> {
  const { values, problems } = parseEnvironmentFile(text);
  if (problems.length > 0) throw new EnvError(problems.map(({ line, message }) => `.env:${line}: ${message}`));
  return values;
}
