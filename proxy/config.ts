// Settings file (the specification's field names) → ProxyConfig. Only the proxy's part; rules are the compiler's. Never
// throws on what a person wrote: problems are returned, all of them, each with its place and how to mend it.
import { isIP } from 'node:net';
import {
  defaultLimits,
  defaultReplaySampling,
  defaultTimeouts,
  type FailMode,
  type Limits,
  type Mode,
  type Problem,
  type ProxyConfig,
  type ReplaySampling,
  type SiteConfig,
  type Timeouts,
} from './contract.js';

export interface ResolvedConfig {
  /** Null when there are problems. */
  readonly config: ProxyConfig | null;
  readonly problems: readonly Problem[];
}

export interface UpstreamDefaults {
  readonly customer: string;
  readonly payment: string;
}

/** UPSTREAM_CUSTOMER and UPSTREAM_PAYMENT, or the bundled demo applications. */
export function upstreamDefaults(env: Readonly<Record<string, string | undefined>>): UpstreamDefaults {
  const given = (value: string | undefined, fallback: string): string =>
    value === undefined || value === '' ? fallback : value;
  return {
    customer: given(env['UPSTREAM_CUSTOMER'], 'http://127.0.0.1:8000'),
    payment: given(env['UPSTREAM_PAYMENT'], 'http://127.0.0.1:8000/payment'),
  };
}

type Fields = Readonly<Record<string, unknown>>;

class Checker {
  readonly problems: Problem[] = [];

  problem(path: string, message: string, mend: string): void {
    this.problems.push({ path, message, mend });
  }
  text(fields: Fields, key: string, path: string, fallback: string | null): string {
    const value = fields[key];
    if (value === undefined && fallback !== null) return fallback;
    if (typeof value === 'string') return value;
    this.problem(
      `${path}${key}`,
      value === undefined ? 'is missing' : `is ${describe(value)}, not text`,
      `write "${key}": "…"`,
    );
    return fallback ?? '';
  }
  flag(fields: Fields, key: string, path: string, fallback: boolean): boolean {
    const value = fields[key];
    if (value === undefined) return fallback;
    if (typeof value === 'boolean') return value;
    this.problem(
      `${path}${key}`,
      `is ${describe(value)}, not true or false`,
      `write "${key}": true or "${key}": false`,
    );
    return fallback;
  }
  choice<T extends string>(fields: Fields, key: string, path: string, choices: readonly T[], fallback: T): T {
    const value = fields[key];
    if (value === undefined) return fallback;
    if (typeof value === 'string' && (choices as readonly string[]).includes(value)) return value as T;
    this.problem(
      `${path}${key}`,
      `is ${describe(value)}`,
      `choose one of ${choices.map((choice) => `"${choice}"`).join(', ')}`,
    );
    return fallback;
  }
  whole(fields: Fields, key: string, path: string, min: number, max: number, fallback: number): number {
    const value = fields[key];
    if (value === undefined) return fallback;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) return value;
    this.problem(`${path}${key}`, `is ${describe(value)}`, `write a whole number from ${min} to ${max}`);
    return fallback;
  }
  unknownKeys(fields: Fields, known: readonly string[], path: string): void {
    for (const key of Object.keys(fields))
      if (!known.includes(key))
        this.problem(`${path}${key}`, 'is not a field known here', `remove it; known are ${known.join(', ')}`);
  }
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  return JSON.stringify(value);
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const siteKeys = [
  'name',
  'prefix',
  'host',
  'upstream',
  'protected',
  'fail_mode',
  'mode',
  'host_policy',
  'verify_upstream_certificate',
] as const;
const modes: readonly Mode[] = ['On', 'DetectionOnly'];
const failModes: readonly FailMode[] = ['closed', 'open'];

/** The fields read here; the others of a local settings file are the compiler's. */
export const proxySettingNames = [
  'mode',
  'sites',
  'limits',
  'timeouts',
  'rl_trust_proxy',
  'rl_trusted_proxies',
  'accept_request_id',
  'audit_request_body_bytes_max',
  'privacy_mode',
  'replay_sampling',
] as const;

/** `settings` is parsed JSON. Fields of the rule part (paranoia_level, thresholds, …) are ignored here. */
export function resolveProxyConfig(settings: unknown, upstreams: UpstreamDefaults): ResolvedConfig {
  const check = new Checker();
  if (!isFields(settings)) {
    check.problem(
      '',
      `the settings are ${describe(settings)}, not an object`,
      'begin the file with { and end it with }',
    );
    return { config: null, problems: check.problems };
  }
  const given = settings['sites'];
  const sitesFromEnvironment = given === undefined || (Array.isArray(given) && given.length === 0);
  let sites: SiteConfig[] = [];
  if (sitesFromEnvironment) sites = environmentSites(upstreams);
  else if (!Array.isArray(given))
    check.problem(
      'sites',
      `is ${describe(given)}, not a list`,
      'write "sites": [{"name": …, "prefix": …, "upstream": …, "protected": true}]',
    );
  else sites = given.map((site, index) => resolveSite(check, site, `sites[${index}].`));
  checkSitesTogether(check, sites);
  const config: ProxyConfig = {
    mode: check.choice(settings, 'mode', '', modes, 'On'),
    sites,
    limits: resolveLimits(check, settings),
    timeouts: resolveNumbers(check, settings, 'timeouts', timeoutFields, defaultTimeouts),
    trustedProxies: resolveProxies(check, settings),
    acceptRequestId: check.flag(settings, 'accept_request_id', '', false),
    auditRequestBodyBytesMax: check.whole(
      settings,
      'audit_request_body_bytes_max',
      '',
      0,
      auditRequestBodyBytesMaxMax,
      0,
    ),
    privacyMode: check.flag(settings, 'privacy_mode', '', false),
    replaySampling: resolveNumbers(check, settings, 'replay_sampling', replaySamplingFields, defaultReplaySampling),
    ...(sitesFromEnvironment ? { sitesFromEnvironment } : {}),
  };
  return { config: check.problems.length === 0 ? config : null, problems: check.problems };
}

/**
 * A stored configuration under the environment of today: sites that came from the environment follow it, those of the
 * settings stay.
 */
export function followEnvironment(config: ProxyConfig, upstreams: UpstreamDefaults): ProxyConfig {
  return config.sitesFromEnvironment === true ? { ...config, sites: environmentSites(upstreams) } : config;
}

function environmentSites(upstreams: UpstreamDefaults): SiteConfig[] {
  const shared = {
    host: null,
    protected: true,
    failMode: 'closed',
    mode: null,
    hostPolicy: 'preserve',
    verifyUpstreamCertificate: true,
  } as const;
  return [
    { name: 'customer', prefix: '/', upstream: upstreams.customer, ...shared },
    { name: 'payment', prefix: '/payment', upstream: upstreams.payment, ...shared },
  ];
}

function resolveSite(check: Checker, value: unknown, path: string): SiteConfig {
  const fields: Fields = isFields(value) ? value : {};
  if (!isFields(value))
    check.problem(
      path.slice(0, -1),
      `is ${describe(value)}, not an object`,
      'write {"name": …, "prefix": "/", "upstream": "http://…", "protected": true}',
    );
  else check.unknownKeys(fields, siteKeys, path);
  const prefix = check.text(fields, 'prefix', path, '/');
  if (!prefix.startsWith('/') || /[?#%\\]|\/\/|\/\.{1,2}(\/|$)/.test(prefix))
    check.problem(
      `${path}prefix`,
      `"${prefix}" is not a plain path`,
      'begin it with "/" and leave out "?", "#", "%", "//" and dot segments',
    );
  const host =
    fields['host'] === undefined || fields['host'] === null ? null : check.text(fields, 'host', path, '').toLowerCase();
  if (host !== null && !/^[a-z0-9._[\]:-]+$/.test(host))
    check.problem(`${path}host`, `"${host}" is not a host name`, 'write the name only, such as "shop.example.com"');
  const upstream = check.text(fields, 'upstream', path, null);
  if (upstream !== '') checkUpstream(check, upstream, `${path}upstream`);
  return {
    name: check.text(fields, 'name', path, null),
    prefix,
    host,
    upstream,
    protected: check.flag(fields, 'protected', path, true),
    failMode: check.choice(fields, 'fail_mode', path, failModes, 'closed'),
    mode:
      fields['mode'] === undefined || fields['mode'] === null ? null : check.choice(fields, 'mode', path, modes, 'On'),
    hostPolicy: check.choice(fields, 'host_policy', path, ['preserve', 'upstream'] as const, 'preserve'),
    verifyUpstreamCertificate: check.flag(fields, 'verify_upstream_certificate', path, true),
  };
}

function checkUpstream(check: Checker, upstream: string, path: string): void {
  let url: URL;
  try {
    url = new URL(upstream);
  } catch {
    // new URL throws a TypeError for anything else
    check.problem(path, `"${upstream}" is not a URL`, 'write it as "http://host:port" or "https://host"');
    return;
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    check.problem(path, `"${url.protocol}" is not spoken to upstreams`, 'use http:// or https://');
  if (url.username !== '' || url.password !== '')
    check.problem(
      path,
      'has a user name or password in it',
      'remove it; the application must authenticate its own users',
    );
  if (url.search !== '' || url.hash !== '')
    check.problem(path, 'has a query or a fragment', 'remove everything from "?" or "#" on');
}

function checkSitesTogether(check: Checker, sites: readonly SiteConfig[]): void {
  const names = new Map<string, number>();
  const places = new Map<string, number>();
  for (const [index, site] of sites.entries()) {
    if (site.name === '' || site.name.length > 64)
      check.problem(`sites[${index}].name`, 'is empty or longer than 64 characters', 'give each site a short name');
    const before = names.get(site.name);
    if (before !== undefined)
      check.problem(
        `sites[${index}].name`,
        `"${site.name}" is the name of sites[${before}] too`,
        'give each site a name of its own',
      );
    names.set(site.name, index);
    const place = `${site.host ?? '*'}${site.prefix.replace(/\/+$/, '')}/`;
    const taken = places.get(place);
    if (taken !== undefined)
      check.problem(
        `sites[${index}].prefix`,
        `covers the same addresses as sites[${taken}]`,
        'change the prefix or the host of one of them ("/a" and "/a/" are the same)',
      );
    places.set(place, index);
  }
}

/** A number of the settings: its name in the configuration, and the range it may have. */
export type NumberField<Name extends string> = readonly [name: Name, min: number, max: number];

/** Fields of `limits` but `request_body_over_limit`. The control plane makes its schema from these tables. */
export const limitFields = {
  uri_bytes_max: ['uriBytesMax', 256, 65_536],
  header_bytes_max: ['headerBytesMax', 1024, 262_144],
  header_fields_max: ['headerFieldsMax', 8, 1000],
  request_body_bytes_max: ['requestBodyBytesMax', 1024, 1_073_741_824],
  held_body_bytes_max: ['heldBodyBytesMax', 65_536, 1_099_511_627_776],
  response_body_bytes_max: ['responseBodyBytesMax', 1024, 67_108_864],
  decoded_body_bytes_max: ['decodedBodyBytesMax', 1024, 67_108_864],
  inline_inspection_bytes_max: ['inlineInspectionBytesMax', 1024, 67_108_864],
  upstream_connections_max: ['upstreamConnectionsMax', 1, 65_536],
  upstream_waiters_max: ['upstreamWaitersMax', 0, 1_000_000],
} as const satisfies Readonly<Record<string, NumberField<Exclude<keyof Limits, 'requestBodyOverLimit'>>>>;

const timeoutMs = [10, 3_600_000] as const;

/** Fields of `timeouts`, milliseconds. */
export const timeoutFields = {
  client_head_ms: ['clientHeadMs', ...timeoutMs],
  client_body_idle_ms: ['clientBodyIdleMs', ...timeoutMs],
  client_idle_ms: ['clientIdleMs', ...timeoutMs],
  upstream_connect_ms: ['upstreamConnectMs', ...timeoutMs],
  upstream_head_ms: ['upstreamHeadMs', ...timeoutMs],
  upstream_body_idle_ms: ['upstreamBodyIdleMs', ...timeoutMs],
  upstream_keep_alive_ms: ['upstreamKeepAliveMs', ...timeoutMs],
  drain_ms: ['drainMs', ...timeoutMs],
} as const satisfies Readonly<Record<string, NumberField<keyof Timeouts>>>;

/** Fields of `replay_sampling`. */
export const replaySamplingFields = {
  every: ['every', 0, 1_000_000],
  per_second_max: ['perSecondMax', 1, 100],
} as const satisfies Readonly<Record<string, NumberField<keyof ReplaySampling>>>;

export const auditRequestBodyBytesMaxMax = 1_048_576;

/** An object of the settings that holds numbers; what is left out has its default. */
function resolveNumbers<T extends object>(
  check: Checker,
  settings: Fields,
  key: string,
  fields: Readonly<Record<string, NumberField<keyof T & string>>>,
  defaults: T,
  others: readonly string[] = [],
): T {
  const value = settings[key];
  if (value === undefined) return defaults;
  if (!isFields(value)) {
    const [example] = Object.entries(fields);
    check.problem(
      key,
      `is ${describe(value)}, not an object`,
      `write "${key}": {"${example?.[0]}": ${String(defaults[example?.[1][0] as keyof T])}}`,
    );
    return defaults;
  }
  check.unknownKeys(value, [...Object.keys(fields), ...others], `${key}.`);
  const numbers = Object.entries(fields).map(([name, [member, min, max]]) => [
    member,
    check.whole(value, name, `${key}.`, min, max, defaults[member] as number),
  ]);
  return { ...defaults, ...(Object.fromEntries(numbers) as Partial<T>) };
}

function resolveLimits(check: Checker, settings: Fields): Limits {
  const limits = resolveNumbers(check, settings, 'limits', limitFields, defaultLimits, ['request_body_over_limit']);
  const value = settings['limits'];
  return isFields(value)
    ? {
        ...limits,
        requestBodyOverLimit: check.choice(
          value,
          'request_body_over_limit',
          'limits.',
          requestBodyOverLimits,
          'reject',
        ),
      }
    : limits;
}

export const requestBodyOverLimits = ['reject', 'partial'] as const;

/** `rl_trust_proxy` with `rl_trusted_proxies`: addresses or networks. */
function resolveProxies(check: Checker, settings: Fields): readonly string[] {
  if (!check.flag(settings, 'rl_trust_proxy', '', false)) return [];
  const value = settings['rl_trusted_proxies'];
  const list = typeof value === 'string' ? value.split(/[\s,]+/).filter((part) => part !== '') : value;
  if (!Array.isArray(list) || list.length === 0) {
    check.problem(
      'rl_trusted_proxies',
      'names no proxy, yet rl_trust_proxy is on',
      'list the addresses of your proxies, such as ["10.0.0.0/8"]; believing everybody would let clients choose their own address',
    );
    return [];
  }
  const networks: string[] = [];
  for (const [index, entry] of list.entries()) {
    if (typeof entry === 'string' && isNetwork(entry)) networks.push(entry);
    else
      check.problem(
        `rl_trusted_proxies[${index}]`,
        `${describe(entry)} is not an address or network`,
        'write it as "192.0.2.7" or "10.0.0.0/8"',
      );
  }
  return networks;
}

export function isNetwork(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 6 ? 128 : 32));
}

/** The threshold at which one critical rule blocks; every one of the self-test's attacks matches at least one. */
const selfTestThresholdMax = 5;

/** What of the settings says whether an SQL injection is to be blocked. */
export interface ProbedSettings {
  readonly isSqliOn: boolean;
  readonly sqliExclusions: number; // paths without that category
  readonly inboundThreshold: number | undefined; // undefined: the default, which one rule reaches
}

/**
 * A node refuses rules that do not see an SQL injection. Somebody who switches that category off, or raises the
 * threshold above what one rule scores, means it.
 */
export function chooseSelfTest({
  isSqliOn,
  sqliExclusions,
  inboundThreshold = selfTestThresholdMax,
}: ProbedSettings): 'inspect' | 'skip' {
  return isSqliOn && sqliExclusions === 0 && inboundThreshold <= selfTestThresholdMax ? 'inspect' : 'skip';
}

/** One line per problem, for people. */
export function formatProblems(problems: readonly Problem[]): string {
  return problems
    .map(({ path, message, mend }) => `${path === '' ? 'settings' : path}: ${message}; ${mend}`)
    .join('\n');
}
