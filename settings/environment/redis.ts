// Which Redis the processes of an installation share, as the environment names it: one server, a primary that sentinels
// know, or a cluster; with a password, an ACL user, TLS with an own authority and a client certificate. The one reader
// of these variables, for both planes. Pure: files are read by whoever connects (proxy/redis/).

export interface RedisServer {
  /** A name or an address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}

export interface RedisTls {
  /** null: the authorities that Node.js knows. */
  readonly caFile: string | null;
  /** Both or none: the certificate that servers ask a client for. */
  readonly certFile: string | null;
  readonly keyFile: string | null;
  /** The name that certificates must have; null: the one that was connected to. */
  readonly serverName: string | null;
}

/** Everything there is to know for a connection. Can be handed to other threads and processes. */
export interface RedisAddress {
  readonly mode: 'single' | 'sentinel' | 'cluster';
  /** The server, all sentinels, or some servers of the cluster, which name the others. Empty with `socketPath`. */
  readonly servers: readonly RedisServer[];
  readonly socketPath: string | null;
  /** The name under which sentinels know the primary; '' in other modes. */
  readonly master: string;
  readonly database: number;
  readonly username: string | null;
  readonly password: string | null;
  readonly sentinelUsername: string | null;
  readonly sentinelPassword: string | null;
  /** null: none. */
  readonly tls: RedisTls | null;
}

/** The variables that say it, each where it is set. */
export type RedisVariable =
  | 'REDIS_URL'
  | 'REDIS_PASSWORD'
  | 'REDIS_SENTINEL_USERNAME'
  | 'REDIS_SENTINEL_PASSWORD'
  | 'REDIS_TLS_CA_FILE'
  | 'REDIS_TLS_CERT_FILE'
  | 'REDIS_TLS_KEY_FILE'
  | 'REDIS_TLS_SERVER_NAME';

const forms =
  'redis://user:password@host:6379/0, redis+sentinel://host1,host2,host3/name-of-primary, ' +
  'redis+cluster://host1,host2,host3 (with TLS rediss…), or unix:///path/of/socket';

interface Parsed {
  readonly mode: RedisAddress['mode'];
  readonly servers: readonly RedisServer[];
  readonly socketPath: string | null;
  readonly master: string;
  readonly database: number;
  readonly username: string | null;
  readonly password: string | null;
  readonly isTls: boolean;
}

/** null: an escape is broken. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function serverOf(text: string, portDefault: number): RedisServer | null {
  const found = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::(\d{1,5}))?$/.exec(text);
  if (found === null) return null;
  const port = found[3] === undefined ? portDefault : Number(found[3]);
  return port >= 1 && port <= 65_535 ? { host: found[1] ?? found[2] ?? '', port } : null;
}

/** Of `name/0`, `0` or nothing. */
function pathOf(mode: RedisAddress['mode'], path: string): { master: string; database: number } | string {
  const parts = path === '' ? [] : path.replace(/\/$/, '').split('/');
  const name = mode === 'sentinel' ? decoded(parts.shift() ?? '') : '';
  const number = parts.shift() ?? '0';
  if (mode === 'sentinel' && (name === null || !/^[A-Za-z0-9._-]+$/.test(name)))
    return 'must end with the name under which the sentinels know the primary, such as …/mymaster';
  if (parts.length > 0 || !/^\d{1,5}$/.test(number))
    return `must end with ${mode === 'sentinel' ? '/name' : ''}/number of a database, or leave the number out`;
  if (mode === 'cluster' && Number(number) !== 0) return 'must name no database: a cluster has only number 0';
  return { master: name ?? '', database: Number(number) };
}

/** The user and password before the `@`; a string: what is wrong with them. */
function loginOf(text: string | undefined): { username: string | null; password: string | null } | string {
  if (text === undefined) return { username: null, password: null };
  const at = text.indexOf(':');
  const username = decoded(at < 0 ? text : text.slice(0, at));
  const password = at < 0 ? '' : decoded(text.slice(at + 1));
  if (username === null || password === null)
    return 'must have its user and password percent-encoded (such as %40 for @ and %25 for %)';
  return { username: username === '' ? null : username, password: password === '' ? null : password };
}

/** What REDIS_URL says; a string completes "REDIS_URL …" and never shows the password. */
function parse(url: string): Parsed | string {
  const socket = /^(?:unix:\/\/)?(\/.+)$/.exec(url);
  if (socket !== null)
    return {
      ...{ mode: 'single', servers: [], socketPath: socket[1] ?? '', master: '', database: 0 },
      ...{ username: null, password: null, isTls: false },
    };
  const found = /^(rediss?)(?:\+(sentinel|cluster))?:\/\/([^/?#]*)(?:\/([^?#]*))?(.*)$/s.exec(url);
  if (found === null) return `must be ${forms}`;
  const [, scheme, kind, authority = '', path = '', rest] = found;
  const mode = (kind ?? 'single') as RedisAddress['mode'];
  const at = authority.lastIndexOf('@');
  const login = loginOf(at < 0 ? undefined : authority.slice(0, at));
  if (typeof login === 'string') return login;
  if (rest !== '')
    return (
      'must have no ? and no #: what else there is to say has variables (REDIS_TLS_…), ' +
      'and in a password they are written %3F and %23'
    );
  const names = authority.slice(at + 1).split(',');
  const servers = names.map((name) => serverOf(name, mode === 'sentinel' ? 26_379 : 6379));
  if (servers.includes(null)) return 'must name its servers as host or host:port, separated by commas';
  if (mode === 'single' && servers.length > 1)
    return 'must name one server; several are redis+sentinel://…/name-of-primary or redis+cluster://…';
  const ending = pathOf(mode, path);
  if (typeof ending === 'string') return ending;
  return {
    ...{ mode, servers: servers as RedisServer[], socketPath: null, isTls: scheme === 'rediss' },
    ...ending,
    ...login,
  };
}

/** Completes a sentence that begins with REDIS_URL; null: it can be used. */
export function redisUrlProblem(url: string): string | null {
  const parsed = parse(url);
  return typeof parsed === 'string' ? parsed : null;
}

type Of = (name: RedisVariable) => string;

/** What variables say that do not fit REDIS_URL, or each other. */
function* contradictions(parsed: Parsed, of: Of): Generator<string> {
  const password = of('REDIS_PASSWORD');
  if (password !== '' && parsed.password !== null && parsed.password !== password)
    yield 'REDIS_PASSWORD and REDIS_URL have different passwords; leave it out of REDIS_URL';
  if (parsed.username !== null && parsed.password === null && password === '')
    yield 'REDIS_URL names a user and no password; set REDIS_PASSWORD, or write user:password@';
  if (parsed.mode !== 'sentinel')
    for (const name of ['REDIS_SENTINEL_USERNAME', 'REDIS_SENTINEL_PASSWORD'] as const)
      if (of(name) !== '') yield `${name} is set, and REDIS_URL names no sentinels (redis+sentinel://…); remove one`;
  if (of('REDIS_SENTINEL_USERNAME') !== '' && of('REDIS_SENTINEL_PASSWORD') === '')
    yield 'REDIS_SENTINEL_USERNAME is set and REDIS_SENTINEL_PASSWORD is not; set both';
  if (!parsed.isTls)
    for (const name of ['CA_FILE', 'CERT_FILE', 'KEY_FILE', 'SERVER_NAME'] as const)
      if (of(`REDIS_TLS_${name}`) !== '')
        yield `REDIS_TLS_${name} is set, and REDIS_URL does not begin with rediss; write rediss for TLS, or remove it`;
  if ((of('REDIS_TLS_CERT_FILE') === '') !== (of('REDIS_TLS_KEY_FILE') === ''))
    yield 'REDIS_TLS_CERT_FILE and REDIS_TLS_KEY_FILE belong together; set both or none';
}

/**
 * The Redis of the environment; null where REDIS_URL is empty. `of` gives the value of a variable, '' for none. Each
 * problem is a line for a person that names the variable and what to do, and shows no secret.
 */
export function readRedis(of: Of): { readonly address: RedisAddress | null; readonly problems: readonly string[] } {
  const url = of('REDIS_URL');
  if (url === '') return { address: null, problems: [] };
  const parsed = parse(url);
  if (typeof parsed === 'string') return { address: null, problems: [`REDIS_URL ${parsed}`] };
  const { isTls, ...place } = parsed;
  const orNull = (name: RedisVariable): string | null => (of(name) === '' ? null : of(name));
  const address: RedisAddress = {
    ...place,
    password: place.password ?? orNull('REDIS_PASSWORD'),
    sentinelUsername: orNull('REDIS_SENTINEL_USERNAME'),
    sentinelPassword: orNull('REDIS_SENTINEL_PASSWORD'),
    tls: isTls
      ? {
          caFile: orNull('REDIS_TLS_CA_FILE'),
          certFile: orNull('REDIS_TLS_CERT_FILE'),
          keyFile: orNull('REDIS_TLS_KEY_FILE'),
          serverName: orNull('REDIS_TLS_SERVER_NAME'),
        }
      : null,
  };
  return { address, problems: [...contradictions(parsed, of)] };
}

/** Of a URL alone. Throws what is wrong with it. */
export function redisAddressOf(url: string): RedisAddress {
  const { address, problems } = readRedis((name) => (name === 'REDIS_URL' ? url : ''));
  if (address === null || problems.length > 0) throw new Error(problems[0] ?? 'REDIS_URL is empty');
  return address;
}
