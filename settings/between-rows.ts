// Rules between fields, and of fields that a pattern cannot say. One entry a rule; each is exercised by check.test.ts.
import ipaddr from 'ipaddr.js';
import { isReachable, refusePatterns } from './prefixes.js';
import { parseWindow } from './rows/words.js';
import { sitePoliciesMax, sitePoliciesOf } from './site-policies.js';
import { settingNames, settingRows, siteIdentity, type Settings } from './table.js';

const isNetworkOf = (network: string, kind: 'ipv4' | 'ipv6'): boolean =>
  (ipaddr.isValid(network) && ipaddr.parse(network).kind() === kind) ||
  (ipaddr.isValidCIDR(network) && ipaddr.parseCIDR(network)[0].kind() === kind);

/** Where, why it cannot be, and how to fix it where the reason does not say so. */
export type Refuse = (path: string, reason: string, fix?: string) => void;
export type Rule = (settings: Settings, refuse: Refuse) => void;

function refuseDuplicates<T>(
  list: readonly T[],
  at: string,
  keyOf: (item: T) => unknown,
  name: string,
  refuse: Refuse,
) {
  const first = new Map<unknown, number>();
  for (const [index, item] of list.entries()) {
    const key = keyOf(item);
    const earlier = first.get(key);
    if (earlier === undefined) first.set(key, index);
    else refuse(`${at}/${index}`, `has the same ${name} as ${at}/${earlier}`);
  }
}

const isBrokenUrl = (url: string): boolean => url !== '' && !URL.canParse(url);

const ofSites: readonly Rule[] = [
  (s, refuse) => refuseDuplicates(s.sites, '/sites', siteIdentity, 'host and prefix', refuse),
  (s, refuse) => refuseDuplicates(s.sites, '/sites', ({ name }) => name.toLowerCase(), 'name', refuse),
  (s, refuse) => {
    for (const [index, { name, prefix, host, upstream, upstreams }] of s.sites.entries()) {
      const at = `/sites/${index}`;
      if (name.length > 64) refuse(`${at}/name`, 'is longer than 64 characters');
      if (/[?#%\\]|\/\/|\/\.{1,2}(\/|$)/.test(prefix))
        refuse(`${at}/prefix`, 'is not a plain path', 'leave out "?", "#", "%", "//", backslashes and dot segments');
      if (host !== null && !/^[A-Za-z0-9._[\]:-]+$/.test(host))
        refuse(`${at}/host`, 'is not a host name', 'write the name only, such as shop.example.com');
      else if (host !== null && /^[^:]*:\d*$|\]:\d*$/.test(host))
        refuse(`${at}/host`, 'has a port', 'write the name only, such as shop.example.com: it is for every port');
      if (upstream !== '') refuseUpstream(upstream, `${at}/upstream`, refuse);
      else if (upstreams.length === 0)
        refuse(`${at}/upstream`, 'is missing', 'name the application: http://host:port, or a list in `upstreams`');
      refuseUpstreams(upstream, upstreams, at, refuse);
    }
  },
  (s, refuse) => {
    for (const [index, network] of s.rl_trusted_proxies.entries()) {
      const at = `/rl_trusted_proxies/${index}`;
      if (!ipaddr.isValid(network) && !ipaddr.isValidCIDR(network)) refuse(at, 'is not an IP address or network');
      else if (/\/0+$/.test(network)) refuse(at, 'would believe X-Forwarded-For from everybody');
    }
  },
  (s, refuse) => {
    for (const list of ['custom_rules', 'rule_exclusions', 'virtual_patches'] as const)
      for (const [index, { sites }] of s[list].entries())
        for (const [at, name] of sites.entries())
          if (!s.sites.some((site) => site.name === name))
            refuse(
              `/${list}/${index}/sites/${at}`,
              'names no site',
              'write the name of one of /sites, as it stands there',
            );
  },
  (s, refuse) => {
    const texts = [
      ...s.custom_rules.map((rule, index) => ({ ...rule, at: `/custom_rules/${index}` })),
      ...s.virtual_patches.map((rule, index) => ({ ...rule, kind: 'raw', at: `/virtual_patches/${index}` })),
    ];
    for (const { sites, seclang, kind, at } of texts)
      if (sites.length > 0 && kind === 'raw' && /^[ \t]*SecRule(?:Remove|Update)/im.test(seclang))
        refuse(
          `${at}/seclang`,
          'changes rules of all sites, but the rule is for some',
          'use ctl:ruleRemove… in a SecRule or SecAction, or leave "sites" empty',
        );
  },
  (s, refuse) => {
    const count = sitePoliciesOf(s).policies.length;
    if (count > sitePoliciesMax)
      refuse(
        '/sites',
        `need ${count} different sets of rules, of at most ${sitePoliciesMax}`,
        'let sites have the same',
      );
  },
  (s, refuse) => {
    refuseDuplicates(s.api_specs, '/api_specs', ({ site, name }) => `${site}\0${name}`, 'site and name', refuse);
    for (const [index, { site }] of s.api_specs.entries())
      if (s.sites.length > 0 && !s.sites.some(({ name }) => name === site))
        refuse(`/api_specs/${index}/site`, 'names no site', 'write the name of one of /sites, as it stands there');
  },
  (s, refuse) => {
    for (const [index, { request_body_limit_bytes: bytes }] of s.sites.entries())
      if (bytes !== null && bytes > s.limits.held_body_bytes_max)
        refuse(`/sites/${index}/request_body_limit_bytes`, 'must not exceed limits/held_body_bytes_max');
  },
  (s, refuse) => {
    if (s.rl_trust_proxy && s.rl_trusted_proxies.length === 0)
      refuse(
        '/rl_trusted_proxies',
        'must list the proxies when rl_trust_proxy is on, or every client could invent its address',
      );
  },
  (s, refuse) => {
    if (s.proxy_protocol && !s.rl_trust_proxy)
      refuse('/proxy_protocol', 'asks trusted proxies for a header, and none are trusted', 'turn rl_trust_proxy on');
  },
];

function refuseUpstream(upstream: string, at: string, refuse: Refuse): void {
  if (!URL.canParse(upstream)) {
    refuse(at, 'is not a URL', 'write it as http://host:port or https://host');
    return;
  }
  const { username, password, search, hash } = new URL(upstream);
  if (username !== '' || password !== '')
    refuse(at, 'has a user name or password in it', 'remove it; the application must authenticate its own users');
  if (search !== '' || hash !== '') refuse(at, 'has a query or a fragment', 'remove everything from "?" or "#" on');
}

/** The path of a URL as it is written: none is another meaning than `/`. */
const writtenPath = (url: string): string => /^[a-z]+:\/\/[^/]*(.*)$/i.exec(url)?.[1]?.replace(/\/+$/, '/') ?? '';

function refuseUpstreams(
  upstream: string,
  upstreams: Settings['sites'][number]['upstreams'],
  at: string,
  refuse: Refuse,
): void {
  refuseDuplicates(upstreams, `${at}/upstreams`, ({ url }) => url.replace(/\/+$/, ''), 'url', refuse);
  const [first] = upstreams;
  if (first === undefined) return;
  if (upstream !== '' && !upstreams.some(({ url }) => url === upstream))
    refuse(`${at}/upstream`, 'is not among `upstreams`', 'leave it out, or list it there');
  for (const [index, { url }] of upstreams.entries()) {
    refuseUpstream(url, `${at}/upstreams/${index}/url`, refuse);
    if (writtenPath(url) !== writtenPath(first.url))
      refuse(`${at}/upstreams/${index}/url`, 'has another path than the first', 'give all of them the same path');
  }
}

/** A variable that an exclusion can name, in seclang. */
export const exclusionTargetPattern = /^[A-Za-z_]{1,40}(?::[A-Za-z0-9_.[\]*-]{1,200})?$/;

const ofRules: readonly Rule[] = [
  refusePatterns,
  (s, refuse) => {
    for (const [key, { path_exclusions }] of Object.entries(s.categories))
      for (const [index, path] of path_exclusions.entries())
        if (!isReachable(path))
          refuse(
            `/categories/${key}/path_exclusions/${index}`,
            'would never be met',
            'leave out "?", "#", backslashes, and segments that are empty, "." or ".."',
          );
  },
  (s, refuse) => refuseDuplicates(s.custom_rules, '/custom_rules', ({ id }) => id, 'id', refuse),
  (s, refuse) => {
    for (const [index, rule] of s.custom_rules.entries()) {
      const at = `/custom_rules/${index}`;
      if (rule.kind === 'raw' && rule.seclang.trim() === '') refuse(`${at}/seclang`, 'a raw rule needs its text');
      if (rule.kind === 'visual' && rule.variable.trim() === '')
        refuse(`${at}/variable`, 'a visual rule needs a variable');
      if (rule.kind === 'visual' && rule.operator.trim() === '')
        refuse(`${at}/operator`, 'a visual rule needs an operator');
      if (rule.kind === 'conditions' && rule.any.length === 0)
        refuse(`${at}/any`, 'a rule of conditions needs at least one group with a condition');
      if (rule.kind !== 'raw' && rule.action === 'redirect' && rule.redirect_url === '')
        refuse(`${at}/redirect_url`, 'a rule that redirects needs to know where to');
    }
  },
  (s, refuse) => refuseDuplicates(s.virtual_patches, '/virtual_patches', ({ id }) => id, 'id', refuse),
  (s, refuse) => {
    for (const [index, { cve, seclang }] of s.virtual_patches.entries())
      if (cve === '' && seclang === '')
        refuse(`/virtual_patches/${index}/cve`, 'is missing', 'name the CVE, or give the rule itself in seclang');
  },
  (s, refuse) => refuseDuplicates(s.rule_exclusions, '/rule_exclusions', ({ id }) => id, 'id', refuse),
  (s, refuse) => {
    for (const [index, { rule_id, tag }] of s.rule_exclusions.entries())
      if ((rule_id === null) === (tag === null)) refuse(`/rule_exclusions/${index}`, 'names either a rule_id or a tag');
  },
  // whether it can be written as a rule
  (s, refuse) => {
    for (const [index, { target, tag, expires_at }] of s.rule_exclusions.entries()) {
      const at = `/rule_exclusions/${index}`;
      if (target !== null && !exclusionTargetPattern.test(target))
        refuse(`${at}/target`, 'must be a variable such as ARGS:comment or REQUEST_HEADERS:User-Agent');
      if (tag !== null && !/^[A-Za-z0-9_./-]{1,200}$/.test(tag)) refuse(`${at}/tag`, 'must be a tag of the rule set');
      if (expires_at !== null && Number.isNaN(Date.parse(expires_at)))
        refuse(`${at}/expires_at`, 'is a moment that does not exist');
    }
  },
];

const insteadOf = {
  client_head_ms: 'flood_read_header',
  client_body_idle_ms: 'flood_read_body',
  client_idle_ms: 'flood_idle',
} as const;

const ofDataPlane: readonly Rule[] = [
  ({ limits }, refuse) => {
    if (limits.request_body_bytes_max > limits.held_body_bytes_max)
      refuse(
        '/limits/request_body_bytes_max',
        'must not exceed limits/held_body_bytes_max: bodies of that size would be allowed and answered 503',
      );
    if (limits.response_body_bytes_max > limits.decoded_body_bytes_max)
      refuse(
        '/limits/response_body_bytes_max',
        'must not exceed limits/decoded_body_bytes_max: compressing an answer would be a way around its inspection',
      );
  },
  (s, refuse) => {
    if (!s.flood_timeouts_enabled) return;
    const defaults = settingRows.timeouts.properties;
    for (const [name, instead] of Object.entries(insteadOf) as [keyof typeof insteadOf, string][])
      if (s.timeouts[name] !== defaults[name].default)
        refuse(
          `/timeouts/${name}`,
          `does not count while flood_timeouts_enabled is on: set ${instead}, and this to null`,
        );
  },
];

const daySeconds = 86_400;
const longestFlood = 3600;

const ofTraffic: readonly Rule[] = [
  (s, refuse) => refuseDuplicates(s.rl_zones, '/rl_zones', ({ name }) => name, 'name', refuse),
  (s, refuse) =>
    refuseDuplicates(
      s.endpoint_limits,
      '/endpoint_limits',
      ({ method, path }) => `${method} ${path}`,
      'method and path',
      refuse,
    ),
  (s, refuse) => {
    for (const [index, { path }] of s.endpoint_limits.entries())
      if (/\*(?!$)/.test(path) || path.split('/').some((part) => /[{}]/.test(part) && !/^\{[^{}]+\}$/.test(part)))
        refuse(
          `/endpoint_limits/${index}/path`,
          'is a template that would match no path',
          'write {name} for one whole segment, such as /orders/{id}/items, and * at the end only',
        );
  },
  (s, refuse) => {
    for (const [index, network] of s.flood_autoban_exempt.entries())
      if (!ipaddr.isValid(network) && !ipaddr.isValidCIDR(network))
        refuse(`/flood_autoban_exempt/${index}`, 'is not an IP address or network');
  },
  (s, refuse) => {
    const named = new Set<string>();
    for (const [index, { crawler, prefixes }] of s.bot_crawler_ranges.entries()) {
      const at = `/bot_crawler_ranges/${index}`;
      if (named.has(crawler)) refuse(`${at}/crawler`, 'is named twice; put its prefixes into one list');
      named.add(crawler);
      for (const [place, { ipv4Prefix, ipv6Prefix }] of prefixes.entries()) {
        if ((ipv4Prefix === undefined) === (ipv6Prefix === undefined))
          refuse(`${at}/prefixes/${place}`, 'must have either ipv4Prefix or ipv6Prefix');
        for (const [member, network, kind] of [
          ['ipv4Prefix', ipv4Prefix, 'ipv4'],
          ['ipv6Prefix', ipv6Prefix, 'ipv6'],
        ] as const)
          if (network !== undefined && !isNetworkOf(network, kind))
            refuse(`${at}/prefixes/${place}/${member}`, `is not an ${kind === 'ipv4' ? 'IPv4' : 'IPv6'} network`);
      }
    }
  },
  (s, refuse) => {
    if (s.challenge_enabled && s.challenge_paths.length === 0)
      refuse('/challenge_paths', 'must list at least one path when challenge_enabled is on');
  },
  (s, refuse) => {
    const windows: [path: string, window: string, secondsMax: number][] = [
      ['/flood_read_header', s.flood_read_header, longestFlood],
      ['/flood_read_body', s.flood_read_body, longestFlood],
      ['/flood_write', s.flood_write, longestFlood],
      ['/flood_idle', s.flood_idle, longestFlood],
      ['/rl_window', s.rl_window, daySeconds],
      ['/flood_global_window', s.flood_global_window, daySeconds],
      ['/flood_burst_window', s.flood_burst_window, daySeconds],
      ['/attack_burst_window', s.attack_burst_window, daySeconds],
    ];
    for (const [index, { window }] of s.rl_zones.entries())
      windows.push([`/rl_zones/${index}/window`, window, daySeconds]);
    for (const [index, { window }] of s.endpoint_limits.entries())
      windows.push([`/endpoint_limits/${index}/window`, window, daySeconds]);
    for (const [path, window, secondsMax] of windows)
      if ((parseWindow(window) ?? 0) > secondsMax) refuse(path, `must be at most ${secondsMax} seconds`);
  },
];

const ofDetection: readonly Rule[] = [
  (s, refuse) => {
    if (s.ai_enabled && s.ai_w_signature + s.ai_w_anomaly + s.ai_w_api_abuse + s.ai_w_bot <= 0)
      refuse('/ai_w_signature', 'at least one of the four weights must be above 0');
  },
  (s, refuse) => {
    if (s.auth_enabled && s.auth_protected_paths.length === 0)
      refuse('/auth_protected_paths', 'must list at least one path when auth_enabled is on');
  },
  (s, refuse) => {
    if (s.auth_alg === 'HS256' && s.auth_jwks_url !== '')
      refuse(
        '/auth_alg',
        'HS256 uses auth_secret; choose the algorithm of the key set, or a public key could be used as a shared secret',
      );
  },
  (s, refuse) => {
    if (s.auth_alg !== 'HS256' && s.auth_secret !== null)
      refuse('/auth_secret', 'is for HS256 only; clear it, or choose HS256');
  },
];

/** Every setting that is one URL, by its row. */
const urls = settingNames.filter((name) => 'x-url' in settingRows[name]);

/** Fields of a call to a collector that are not the operator's to choose. */
const ownOtelHeaders: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'host',
  'transfer-encoding',
]);

const ofGovernance: readonly Rule[] = [
  (s, refuse) => {
    if (s.vm_model_url !== '' && s.vm_model_name === '')
      refuse('/vm_model_name', 'is needed with vm_model_url', 'name a model that the service has');
  },
  (s, refuse) => {
    if (s.policy_session_idle_minutes > s.policy_session_ttl_minutes)
      refuse('/policy_session_idle_minutes', 'must not exceed policy_session_ttl_minutes');
  },
  (s, refuse) => {
    if (!s.sso_enabled) return;
    for (const name of ['sso_issuer', 'sso_client_id', 'sso_redirect_uri'] as const)
      if (s[name] === '') refuse(`/${name}`, 'is needed when sso_enabled is on');
    if (s.sso_redirect_uri !== '' && !s.sso_redirect_uri.endsWith('/api/sso/callback'))
      refuse('/sso_redirect_uri', 'must end with /api/sso/callback');
  },
  (s, refuse) => {
    if (s.self_test_site !== '' && s.sites.length > 0 && !s.sites.some(({ name }) => name === s.self_test_site))
      refuse('/self_test_site', 'names no site', 'write the name of one of /sites, as it stands there, or nothing');
  },
  (s, refuse) => refuseDuplicates(s.siem_connectors, '/siem_connectors', ({ name }) => name, 'name', refuse),
  (s, refuse) => {
    for (const [index, { kind, target }] of s.siem_connectors.entries()) {
      const isStream = kind === 'syslog' || kind === 'cef';
      if (isStream !== /^https?:/.test(target)) {
        if (isBrokenUrl(target))
          refuse(`/siem_connectors/${index}/target`, 'is not a URL', 'check the host, and the port: at most 65535');
        continue;
      }
      const wanted = isStream ? 'tcp://, tls:// or udp:// host and port' : 'an http or https URL';
      refuse(`/siem_connectors/${index}/target`, `must be ${wanted}`);
    }
  },
  (s, refuse) => {
    for (const name of urls)
      if (isBrokenUrl(s[name] as string))
        refuse(`/${name}`, 'is not a URL', 'write http://host:port or https://host, with a port up to 65535');
  },
  (s, refuse) => {
    if (s.otel_endpoint === '' && (s.otel_metrics || s.otel_traces_percent > 0))
      refuse('/otel_endpoint', 'is needed to send traces or metrics', 'name a collector, or switch both off');
    if (/[?#]/.test(s.otel_endpoint))
      refuse('/otel_endpoint', 'has a query or a fragment', 'write the base address; /v1/traces is added to it');
    refuseDuplicates(s.otel_headers, '/otel_headers', ({ name }) => name.toLowerCase(), 'name', refuse);
    for (const [index, { name }] of s.otel_headers.entries())
      if (ownOtelHeaders.has(name.toLowerCase()))
        refuse(`/otel_headers/${index}/name`, 'is a field that the exporter writes itself', 'leave it out');
  },
];

export const betweenRows: readonly Rule[] = [
  ...ofSites,
  ...ofRules,
  ...ofDataPlane,
  ...ofTraffic,
  ...ofDetection,
  ...ofGovernance,
];
