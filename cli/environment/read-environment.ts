// The process settings of a deployment: one table, read from flags, then the environment, then `.env`, then defaults.
// `.env.example` lists the same names; tidy.test.ts holds the two, and api/env.ts, against each other.
import { randomBytes } from 'node:crypto';
import { appendFileSync, chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/**
 * Where the settings of this deployment stand; GATEHOUSE_ENV_FILE names another place, so that one checkout can run
 * twice.
 */
export const envFile = process.env.GATEHOUSE_ENV_FILE ? resolve(process.env.GATEHOUSE_ENV_FILE) : join(root, '.env');

/** A path as a person would write it from here: relative inside the checkout, whole outside of it. */
export function shown(path) {
  const inside = relative(root, path);
  return inside.startsWith('..') ? path : inside;
}

/** A message for a person: printed without a stack, exit code 1. */
export class Refusal extends Error {}

const mends = {
  ENOSPC: 'free some space on that disk',
  EDQUOT: 'the quota of this user is used up',
  EROFS: 'that disk is mounted read-only; mount it for writing, or name another directory (GATEHOUSE_DATA)',
  EACCES: 'this user may not; give it the directory (chown -R), or start as its owner',
  EPERM: 'this user may not; give it the directory (chown -R), or start as its owner',
};

/** What a disk refused, as a message for a person; null for any other error. */
export function diskRefusal(error) {
  const mend = error?.syscall === undefined ? undefined : mends[error.code];
  return mend === undefined ? null : `${error.message}\n  Mend: ${mend}.`;
}

function secret() {
  return randomBytes(32).toString('base64url');
}

/**
 * name → default (a function: generated once, when `.env` is written), kind for checking, and what it is for.
 * Every name is also a flag: `--waf-port 9000` sets WAF_PORT.
 */
export const variables = [
  { name: 'WAF_PORT', fallback: '8080', kind: 'port', why: 'the port that protects: point clients here' },
  { name: 'WAF_BIND', fallback: '0.0.0.0', kind: 'text', why: 'address the protected port listens on' },
  {
    name: 'UPSTREAM_CUSTOMER',
    fallback: '',
    kind: 'url',
    why: 'the application to protect, such as http://127.0.0.1:3000; empty = the bundled demo shop; sites in the settings win',
  },
  {
    name: 'UPSTREAM_PAYMENT',
    fallback: '',
    kind: 'url',
    why: 'the application behind /payment; empty = the bundled demo payment service; sites in the settings win',
  },
  { name: 'DEMO_PORT', fallback: '8000', kind: 'port', why: 'the bundled demo applications (127.0.0.1)' },
  { name: 'GATEHOUSE_ADMIN_PORT', fallback: '2019', kind: 'port', why: "the data plane's admin interface (127.0.0.1)" },
  {
    name: 'GATEHOUSE_ADMIN_TOKEN',
    fallback: secret,
    kind: 'secret',
    why: 'bearer token of the admin interface, and between the two planes (then at least 32 characters)',
  },
  { name: 'DATA_WORKERS', fallback: '', kind: 'count', why: 'worker threads; empty = one per available core' },
  { name: 'DATA_LISTENER', fallback: 'auto', kind: 'listener', why: 'auto, uws (uWebSockets.js) or node (node:http)' },
  { name: 'CRS_DIR', fallback: '', kind: 'text', why: 'an unpacked rule set on disk instead of the pinned release' },
  { name: 'GATEHOUSE_DATA', fallback: 'data', kind: 'text', why: 'where settings, artifacts, rules and logs are kept' },
  {
    name: 'GATEHOUSE_CONTROL_URL',
    fallback: '',
    kind: 'url',
    why: 'control plane that the data plane sends its records to; `up` sets it to the one it starts, empty = none',
  },
  { name: 'UI_PORT', fallback: '3010', kind: 'port', why: 'kept for a dashboard; nothing listens there yet' },
  { name: 'API_PORT', fallback: '8095', kind: 'port', why: 'the control-plane interface' },
  {
    name: 'JA3_PORT',
    fallback: '8443',
    kind: 'port',
    why: 'kept for a TLS edge with JA3/JA4; nothing listens there yet',
  },
  {
    name: 'ADMIN_BIND',
    fallback: '127.0.0.1',
    kind: 'text',
    why: 'address of the control plane; 0.0.0.0 = reachable from the network',
  },
  { name: 'ADMIN_EMAIL', fallback: 'admin@gatehouse.local', kind: 'text', why: 'first login' },
  {
    name: 'ADMIN_INITIAL_PASSWORD',
    fallback: () => randomBytes(12).toString('base64url'),
    kind: 'secret',
    why: 'its password, to be changed after the first login',
  },
  { name: 'AUTH_SESSION_SECRET', fallback: secret, kind: 'longSecret', why: 'signs sessions; must stay the same' },
  {
    name: 'SETTINGS_ENCRYPTION_SECRET',
    fallback: secret,
    kind: 'longSecret',
    why: 'key for secrets at rest; losing it loses the stored secrets',
  },
  {
    name: 'DATA_ADMIN_TOKEN',
    fallback: '',
    kind: 'longSecret',
    why: 'token between the two planes as the control plane names it; empty = GATEHOUSE_ADMIN_TOKEN',
  },
  {
    name: 'DATA_ADMIN_URLS',
    fallback: '',
    kind: 'text',
    why: 'admin interfaces of all data-plane nodes, separated by commas; empty = the one started here',
  },
  {
    name: 'DATA_DIR',
    fallback: '',
    kind: 'text',
    why: 'embedded database and artifacts of the control plane; empty = GATEHOUSE_DATA',
  },
  {
    name: 'SETTINGS_IMPORT',
    fallback: '',
    kind: 'text',
    why: 'local settings file that a new control plane begins with; `up` sets it to the one in GATEHOUSE_DATA',
  },
  {
    name: 'DATABASE_URL',
    fallback: '',
    kind: 'text',
    why: 'PostgreSQL (postgres://…); empty = POSTGRES_*, or else embedded, below DATA_DIR',
  },
  {
    name: 'POSTGRES_HOST',
    fallback: '',
    kind: 'text',
    why: 'PostgreSQL host when DATABASE_URL is empty; empty = embedded',
  },
  { name: 'POSTGRES_PORT', fallback: '5432', kind: 'port', why: 'PostgreSQL port' },
  { name: 'POSTGRES_USER', fallback: 'gatehouse', kind: 'text', why: 'PostgreSQL user' },
  { name: 'POSTGRES_PASSWORD', fallback: secret, kind: 'secret', why: 'PostgreSQL password' },
  { name: 'POSTGRES_DB', fallback: 'gatehouse', kind: 'text', why: 'PostgreSQL database' },
  {
    name: 'REDIS_URL',
    fallback: '',
    kind: 'text',
    why: 'where several processes of the control plane share their limits of logins; empty = each counts for itself',
  },
  {
    name: 'REDIS_PREFIX',
    fallback: '',
    kind: 'text',
    why: 'begins every key in Redis, so that several installations can use one; empty = derived from AUTH_SESSION_SECRET',
  },
  { name: 'APP_BRAND', fallback: 'Gatehouse', kind: 'text', why: 'name in the API explorer and in authenticator apps' },
  { name: 'APP_BRAND_SUB', fallback: 'WAAP', kind: 'text', why: 'kept for a dashboard: second word of the brand' },
  { name: 'APP_TAGLINE', fallback: '', kind: 'text', why: 'kept for a dashboard: tagline of its login page' },
  {
    name: 'DASHBOARD_DOMAIN',
    fallback: '',
    kind: 'text',
    why: 'kept for a dashboard: domain name for its automatic HTTPS',
  },
  {
    name: 'ACME_EMAIL',
    fallback: '',
    kind: 'text',
    why: 'kept for a dashboard: contact of its ACME account; empty = ADMIN_EMAIL',
  },
  {
    name: 'API_TRUSTED_PROXIES',
    fallback: '127.0.0.1/8,::1/128',
    kind: 'text',
    why: 'addresses whose X-Forwarded-For the control plane believes',
  },
  {
    name: 'OUTBOUND_ALLOW',
    fallback: '',
    kind: 'text',
    why: 'private addresses, networks or names that outgoing calls of the control plane may reach, separated by commas',
  },
  {
    name: 'BREACHED_PASSWORDS_URL',
    fallback: 'https://api.pwnedpasswords.com/range/',
    kind: 'url',
    why: 'range service for breached passwords (only five characters of a hash are sent)',
  },
  {
    name: 'TOR_EXITS_URL',
    fallback: 'https://check.torproject.org/torbulkexitlist',
    kind: 'url',
    why: 'list of exit nodes of the Tor network',
  },
  {
    name: 'IN_CONTAINER',
    fallback: '',
    kind: 'text',
    why: '1 inside the container image: the control plane listens on 8090, on every address of the container',
  },
  {
    name: 'LOG_LEVEL',
    fallback: 'info',
    kind: 'text',
    why: 'of the control plane: fatal, error, warn, info, debug, trace or silent',
  },
];

/**
 * `NAME=value` lines; `#` starts a comment line; quotes around a value are taken off. Wrong lines are refused by
 * number.
 */
function parseEnvFile(text, file) {
  const values = {};
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.trimStart().startsWith('#')) continue;
    const found = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$/.exec(line);
    if (found === null)
      throw new Refusal(`${file}:${index + 1}: "${line.trim()}" is not NAME=value; mend or remove the line.`);
    values[found[1]] = found[2].replace(/^(["'])(.*)\1$/, '$2');
  }
  return values;
}

function readEnvFile(file) {
  return existsSync(file) ? parseEnvFile(readFileSync(file, 'utf8'), shown(file)) : {};
}

/**
 * Writes `.env` (mode 0600) with every variable and fresh secrets, or adds the secrets that one of an older version
 * lacks:
 * what was generated once is kept ever after. Returns what it did.
 */
export function createEnvFile(file = envFile) {
  const line = ({ name, fallback, why }) => [
    `# ${why}`,
    `${name}=${typeof fallback === 'function' ? fallback() : fallback}`,
    '',
  ];
  if (!existsSync(file)) {
    const lines = [
      '# Written by Gatehouse on its first start. Values here are overridden by the environment and by flags.',
      '',
      ...variables.flatMap(line),
    ];
    writeFileSync(file, lines.join('\n'), { mode: 0o600, flag: 'wx' });
    chmodSync(file, 0o600);
    return 'written';
  }
  const present = readEnvFile(file);
  const missing = variables.filter(
    ({ name, fallback }) => typeof fallback === 'function' && !present[name] && !process.env[name],
  );
  if (missing.length === 0) return 'complete';
  appendFileSync(file, `\n\n${missing.flatMap(line).join('\n')}`); // the last line may lack its end
  return 'completed';
}

const checks = {
  port: (value) =>
    /^\d{1,5}$/.test(value) && Number(value) >= 1 && Number(value) <= 65_535
      ? null
      : 'is not a port number from 1 to 65535',
  count: (value) => (/^\d{1,3}$/.test(value) && Number(value) >= 1 ? null : 'is not a whole number from 1 to 999'),
  url: (value) =>
    URL.canParse(value) && /^https?:$/.test(new URL(value).protocol) ? null : 'is not an http:// or https:// URL',
  listener: (value) => (['auto', 'uws', 'node'].includes(value) ? null : 'is none of auto, uws, node'),
  secret: (value) => (value.length >= 8 ? null : 'is shorter than 8 characters'),
  longSecret: (value) => (value.length >= 32 ? null : 'is shorter than 32 characters'),
  text: () => null,
};

/** `--waf-port 9000` or `--waf-port=9000` → { WAF_PORT: '9000' }; the rest stays in `others`. */
export function readFlags(args) {
  const flags = {};
  const others = [];
  for (let index = 0; index < args.length; index++) {
    const [flag, inline] = args[index].split(/=(.*)/s);
    const name = flag.startsWith('--') ? flag.slice(2).replace(/-/g, '_').toUpperCase() : '';
    if (!variables.some((variable) => variable.name === name)) {
      others.push(args[index]);
      continue;
    }
    const value = inline ?? args[++index];
    if (value === undefined) throw new Refusal(`${flag} needs a value: ${flag} …`);
    flags[name] = value;
  }
  return { flags, others };
}

/** Every variable's value in force, checked; all problems are reported at once. */
export function readEnvironment(flags = {}, file = envFile) {
  const fromFile = readEnvFile(file);
  const values = {};
  const problems = [];
  for (const { name, fallback, kind, why } of variables) {
    const [source, value] = [
      ['flag', flags[name]],
      ['environment', process.env[name]],
      [shown(file), fromFile[name]],
    ].find(([, given]) => given !== undefined && given !== '') ?? [
      'default',
      typeof fallback === 'function' ? '' : fallback,
    ];
    values[name] = value;
    const wrong = value === '' ? null : checks[kind](value);
    if (wrong !== null)
      problems.push(
        `  ${name}=${kind === 'secret' || kind === 'longSecret' ? '…' : value} (${source}) ${wrong}; it is ${why}.`,
      );
  }
  if (problems.length > 0) throw new Refusal(`these settings cannot be used:\n${problems.join('\n')}`);
  return values;
}

/**
 * Puts where data and rules lie into the environment, which is where the rule set's installer and the compiler look.
 */
export function adoptDirectories(values) {
  for (const name of ['GATEHOUSE_DATA', 'CRS_DIR'])
    if (values[name] !== '' && values[name] !== process.env[name]) process.env[name] = resolve(root, values[name]);
}
