// A candidate object → complete Settings, or every problem at once with its path. Nothing is half-saved: either the
// whole object is possible or none of it is stored.
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import ipaddr from 'ipaddr.js';
import { escapePointer } from '../http-kit/json-pointer.js';
import type { ProblemField } from '../http-kit/problem.js';
import { siteIdentity, SettingsSchema, type Settings } from './schema.js';
import { dataPlaneFields } from './schema/data-plane.js';
import { parseWindow } from './schema/field.js';

export type Checked =
  | { readonly kind: 'fine'; readonly settings: Settings }
  | { readonly kind: 'refused'; readonly stage: 'schema' | 'rules'; readonly problems: readonly ProblemField[] };

let compiled: ValidateFunction | null = null;

function validator(): ValidateFunction {
  compiled ??= new Ajv({
    allErrors: true,
    useDefaults: true,
    strict: false,
    removeAdditional: false,
    coerceTypes: false,
    verbose: true,
  }).compile(SettingsSchema);
  return compiled;
}

/** The settings of a new installation. */
export function defaultSettings(): Settings {
  const checked = checkSettings({});
  if (checked.kind === 'refused')
    throw new Error(`the default settings are impossible: ${JSON.stringify(checked.problems)}`);
  return checked.settings;
}

/**
 * Fills absent fields with their defaults, then checks every field and every rule between fields. Does not change its
 * argument.
 */
export function checkSettings(candidate: unknown): Checked {
  const copy = structuredClone(candidate);
  const check = validator();
  if (!check(copy)) return { kind: 'refused', stage: 'schema', problems: toProblemFields(check.errors ?? []) };
  const problems = checkRules(copy as Settings);
  return problems.length > 0
    ? { kind: 'refused', stage: 'rules', problems }
    : { kind: 'fine', settings: copy as Settings };
}

/** Ajv's errors as path and reason; the ones that only say "no branch fitted" give way to the branches' own reasons. */
export function toProblemFields(errors: readonly ErrorObject[]): ProblemField[] {
  const seen = new Set<string>();
  const fields: ProblemField[] = [];
  for (const error of errors) {
    const params = error.params as Record<string, unknown>;
    let path = error.instancePath;
    let reason = error.message ?? error.keyword;
    if (error.keyword === 'additionalProperties')
      [path, reason] = [`${path}/${escapePointer(String(params['additionalProperty']))}`, 'is not a known field'];
    else if (error.keyword === 'required')
      [path, reason] = [`${path}/${escapePointer(String(params['missingProperty']))}`, 'is missing'];
    else if (error.keyword === 'enum') reason = `must be one of ${(params['allowedValues'] as unknown[]).join(', ')}`;
    else if (error.keyword === 'pattern') reason = describePattern(error);
    else if (error.keyword === 'anyOf') continue;
    const key = `${path} ${reason}`;
    if (!seen.has(key)) fields.push({ path, reason });
    seen.add(key);
    if (fields.length >= 100) break;
  }
  return fields.length > 0
    ? fields
    : [{ path: errors[0]?.instancePath ?? '', reason: errors[0]?.message ?? 'does not fit' }];
}

function describePattern(error: ErrorObject): string {
  const schema = error.parentSchema as { description?: string; pattern?: string } | undefined;
  if (schema?.pattern === '^[1-9][0-9]{0,4}(s|m|h|d)$') return 'must be a count and a unit, such as 30s, 1m, 2h or 1d';
  return `must match ${schema?.pattern ?? 'its pattern'}${schema?.description === undefined ? '' : ` (${schema.description})`}`;
}

/** A rule between fields: where, and why it cannot be. */
type Rule = (s: Settings, refuse: (path: string, reason: string) => void) => void;

const refuseDuplicates = <T>(
  list: readonly T[],
  at: string,
  keyOf: (item: T) => unknown,
  name: string,
  refuse: (path: string, reason: string) => void,
): void => {
  const first = new Map<unknown, number>();
  list.forEach((item, index) => {
    const key = keyOf(item);
    const earlier = first.get(key);
    if (earlier !== undefined) refuse(`${at}/${index}`, `has the same ${name} as ${at}/${earlier}`);
    else first.set(key, index);
  });
};

const isBrokenUrl = (url: string): boolean => url !== '' && !URL.canParse(url);

/** One entry per rule; each is exercised by `validate.test.ts`. */
export const settingsRules: readonly Rule[] = [
  (s, refuse) => refuseDuplicates(s.sites, '/sites', siteIdentity, 'host and prefix', refuse),
  (s, refuse) => refuseDuplicates(s.sites, '/sites', (site) => site.name.toLowerCase(), 'name', refuse),
  (s, refuse) =>
    s.sites.forEach((site, i) => {
      if (isBrokenUrl(site.upstream)) refuse(`/sites/${i}/upstream`, 'is not a URL');
    }),
  (s, refuse) => refuseDuplicates(s.custom_rules, '/custom_rules', (rule) => rule.id, 'id', refuse),
  (s, refuse) =>
    s.custom_rules.forEach((rule, i) => {
      if (rule.kind === 'raw' && rule.seclang.trim() === '')
        refuse(`/custom_rules/${i}/seclang`, 'a raw rule needs its text');
      if (rule.kind === 'visual' && rule.variable.trim() === '')
        refuse(`/custom_rules/${i}/variable`, 'a visual rule needs a variable');
      if (rule.kind === 'visual' && rule.operator.trim() === '')
        refuse(`/custom_rules/${i}/operator`, 'a visual rule needs an operator');
    }),
  (s, refuse) => refuseDuplicates(s.virtual_patches, '/virtual_patches', (patch) => patch.id, 'id', refuse),
  (s, refuse) => refuseDuplicates(s.rule_exclusions, '/rule_exclusions', (exclusion) => exclusion.id, 'id', refuse),
  (s, refuse) =>
    s.rule_exclusions.forEach((exclusion, i) => {
      if ((exclusion.rule_id === null) === (exclusion.tag === null))
        refuse(`/rule_exclusions/${i}`, 'names either a rule_id or a tag');
    }),
  (s, refuse) => {
    const { request_body_bytes_max, held_body_bytes_max, response_body_bytes_max, decoded_body_bytes_max } = s.limits;
    if (request_body_bytes_max > held_body_bytes_max)
      refuse(
        '/limits/request_body_bytes_max',
        'must not exceed limits/held_body_bytes_max: bodies of that size would be allowed and answered 503',
      );
    if (response_body_bytes_max > decoded_body_bytes_max)
      refuse(
        '/limits/response_body_bytes_max',
        'must not exceed limits/decoded_body_bytes_max: compressing an answer would be a way around its inspection',
      );
  },
  (s, refuse) => {
    if (!s.flood_timeouts_enabled) return;
    for (const [name, instead] of [
      ['client_head_ms', 'flood_read_header'],
      ['client_body_idle_ms', 'flood_read_body'],
      ['client_idle_ms', 'flood_idle'],
    ] as const) {
      if (s.timeouts[name] !== dataPlaneFields.timeouts.properties[name].default)
        refuse(
          `/timeouts/${name}`,
          `does not count while flood_timeouts_enabled is on: set ${instead}, and this to null`,
        );
    }
  },
  (s, refuse) => refuseDuplicates(s.rl_zones, '/rl_zones', (zone) => zone.name, 'name', refuse),
  (s, refuse) =>
    refuseDuplicates(
      s.endpoint_limits,
      '/endpoint_limits',
      (limit) => `${limit.method} ${limit.path}`,
      'method and path',
      refuse,
    ),
  (s, refuse) =>
    s.rl_trusted_proxies.forEach((network, i) => {
      if (!ipaddr.isValid(network) && !ipaddr.isValidCIDR(network))
        refuse(`/rl_trusted_proxies/${i}`, 'is not an IP address or network');
      else if (/\/0+$/.test(network))
        refuse(`/rl_trusted_proxies/${i}`, 'would believe X-Forwarded-For from everybody');
    }),
  (s, refuse) => {
    if (s.rl_trust_proxy && s.rl_trusted_proxies.length === 0)
      refuse(
        '/rl_trusted_proxies',
        'must list the proxies when rl_trust_proxy is on, or every client could invent its address',
      );
  },
  (s, refuse) => {
    if (s.challenge_enabled && s.challenge_paths.length === 0)
      refuse('/challenge_paths', 'must list at least one path when challenge_enabled is on');
  },
  // T=0 would block every client, whatever it does
  (s, refuse) => {
    if (s.ai_risk_threshold < 1) refuse('/ai_risk_threshold', 'must be at least 1: at 0 every client would be blocked');
  },
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
  (s, refuse) => refuseDuplicates(s.siem_connectors, '/siem_connectors', (connector) => connector.name, 'name', refuse),
  (s, refuse) =>
    s.siem_connectors.forEach((connector, i) => {
      const isStream = connector.kind === 'syslog' || connector.kind === 'cef';
      if (isStream === /^https?:/.test(connector.target))
        refuse(
          `/siem_connectors/${i}/target`,
          isStream ? 'must be tcp://, tls:// or udp:// host and port' : 'must be an http or https URL',
        );
    }),
  (s, refuse) => {
    for (const name of [
      'ti_feed_url',
      'mrf_url',
      'auth_jwks_url',
      'siem_webhook_url',
      'sso_issuer',
      'sso_redirect_uri',
    ] as const)
      if (isBrokenUrl(s[name])) refuse(`/${name}`, 'is not a URL');
  },
  (s, refuse) => {
    const day = 86_400;
    const windows: [string, string, number][] = [
      ['/flood_read_header', s.flood_read_header, 3600],
      ['/flood_read_body', s.flood_read_body, 3600],
      ['/flood_write', s.flood_write, 3600],
      ['/flood_idle', s.flood_idle, 3600],
      ['/rl_window', s.rl_window, day],
      ['/flood_global_window', s.flood_global_window, day],
      ['/flood_burst_window', s.flood_burst_window, day],
      ['/attack_burst_window', s.attack_burst_window, day],
    ];
    s.rl_zones.forEach((zone, i) => windows.push([`/rl_zones/${i}/window`, zone.window, day]));
    s.endpoint_limits.forEach((limit, i) => windows.push([`/endpoint_limits/${i}/window`, limit.window, day]));
    for (const [path, window, max] of windows)
      if ((parseWindow(window) ?? 0) > max) refuse(path, `must be at most ${max} seconds`);
  },
];

function checkRules(settings: Settings): ProblemField[] {
  const problems: ProblemField[] = [];
  for (const rule of settingsRules) rule(settings, (path, reason) => problems.push({ path, reason }));
  return problems;
}
