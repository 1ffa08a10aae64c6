// Random possible settings for property tests: most fields vary, the rules between fields hold by construction.
import fc from 'fast-check';

import { categoryKeys, checkSettings, type SettingName, settingNames, settingRows as settingsFields } from '#settings';

type Schema = {
  type?: string;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  pattern?: string;
  properties?: Record<string, Schema>;
};

const window = fc.tuple(fc.integer({ min: 1, max: 59 }), fc.constantFrom('s', 'm')).map(([n, unit]) => `${n}${unit}`);
const path = fc
  .array(fc.constantFrom('a', 'admin', 'api', 'Ü', 'x-y'), { minLength: 0, maxLength: 3 })
  .map((parts) => `/${parts.join('/')}`);
const paths = fc.uniqueArray(path, { minLength: 1, maxLength: 4 });
const site = fc.record({
  name: fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom('a', 'b', 'c', '1') }),
  prefix: path,
  upstream: fc.constantFrom('http://10.0.0.1:8000', 'https://app.internal/base'),
  protected: fc.boolean(),
});

function membersOf(schema: Schema): Record<string, fc.Arbitrary<unknown>> {
  return Object.fromEntries(
    Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
      const arbitrary = arbitraryFor(member);
      return arbitrary === null ? [] : [[name, arbitrary]];
    }),
  );
}

function arbitraryFor(schema: Schema): fc.Arbitrary<unknown> | null {
  if (schema.properties !== undefined) return fc.record(membersOf(schema), { requiredKeys: [] });
  if (schema.type === 'boolean') return fc.boolean();
  if (schema.type === 'integer') return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 100 });
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.pattern === '^[1-9][0-9]{0,4}(s|m|h|d)$') return window;
  return null;
}

const special: Partial<Record<SettingName, fc.Arbitrary<unknown>>> = {
  categories: fc.record(
    Object.fromEntries(
      categoryKeys.map((key) => [
        key,
        fc.record({ enabled: fc.boolean(), path_exclusions: fc.uniqueArray(path, { maxLength: 2 }) }),
      ]),
    ),
  ),
  custom_rules: fc.uniqueArray(fc.integer({ min: 1_000_000, max: 1_005_999 }), { maxLength: 3 }).map((ids) =>
    ids.map((id) => ({
      id,
      name: `rule ${id}`,
      enabled: id % 2 === 0,
      kind: 'raw',
      seclang: `SecAction "id:${id},phase:1,pass"`,
    })),
  ),
  sites: fc.uniqueArray(site, { maxLength: 1, selector: (s) => s.name }),
  rl_trusted_proxies: fc.constant(['10.0.0.0/8', 'fd00::/8']),
  proxy_protocol: fc.constant(false), // needs rl_trust_proxy
  rl_zones: fc.uniqueArray(
    fc.record({
      name: fc.constantFrom('a', 'b', 'c'),
      match_path: path,
      key: fc.constantFrom('ip', 'global', 'header:X-Key'),
      events: fc.integer({ min: 1, max: 1000 }),
      window,
      dry_run: fc.boolean(),
      headers: fc.boolean(),
    }),
    { maxLength: 3, selector: (z) => z.name },
  ),
  endpoint_limits: fc.uniqueArray(
    fc.record({
      path,
      method: fc.constantFrom('GET', 'POST', '*'),
      events: fc.integer({ min: 1, max: 1000 }),
      window,
      dry_run: fc.boolean(),
      headers: fc.boolean(),
    }),
    { maxLength: 3, selector: (l) => `${l.method} ${l.path}` },
  ),
  challenge_paths: paths,
  auth_protected_paths: paths,
  ai_risk_threshold: fc.integer({ min: 1, max: 100 }),
  auth_alg: fc.constant('HS256'),
  auth_jwks_url: fc.constant(''),
  auth_secret: fc.option(
    fc.string({ minLength: 32, maxLength: 48 }).filter((s) => s !== '********' && !s.startsWith('sealed:')),
  ),
  sso_client_secret: fc.option(fc.constantFrom('one', 'two')),
  bot_crawler_ranges: fc.constant([]),
  bot_ja3_blocklist: fc.uniqueArray(fc.constantFrom('0'.repeat(32), 'a'.repeat(32)), { maxLength: 2 }),
  policy_session_ttl_minutes: fc.integer({ min: 100, max: 1000 }),
  policy_session_idle_minutes: fc.integer({ min: 1, max: 100 }),
  ai_w_signature: fc.integer({ min: 1, max: 100 }),
  sso_enabled: fc.constant(false),
  policy_2fa_required_admin: fc.constant(false),
  sso_redirect_uri: fc.constantFrom('', 'https://waf.example/api/sso/callback'),
  flood_timeouts_enabled: fc.constant(false), // with it, timeouts.client_… have to be the defaults
  limits: fc.record(
    {
      ...membersOf(settingsFields.limits as Schema),
      request_body_bytes_max: fc.integer({ min: 1024, max: 13_107_200 }),
      held_body_bytes_max: fc.integer({ min: 13_107_200, max: 2 ** 40 }),
      response_body_bytes_max: fc.integer({ min: 1024, max: 524_288 }),
      decoded_body_bytes_max: fc.integer({ min: 524_288, max: 67_108_864 }),
    },
    { requiredKeys: [] },
  ),
  siem_connectors: fc.uniqueArray(
    fc.record({
      name: fc.constantFrom('a', 'b'),
      kind: fc.constant('webhook'),
      target: fc.constant('https://siem.example/in'),
      token: fc.option(fc.constantFrom('t1', 't2')),
    }),
    { maxLength: 2, selector: (c) => c.name },
  ),
};

function arbitraryOf(name: SettingName): fc.Arbitrary<unknown> | null {
  const given = special[name];
  if (given !== undefined) return given;
  return arbitraryFor(settingsFields[name] as Schema);
}

/** Partial settings objects that are possible when laid over the defaults. */
export const arbitraryChange: fc.Arbitrary<Record<string, unknown>> = fc
  .record(
    Object.fromEntries(
      settingNames.flatMap((name) => {
        const arbitrary = arbitraryOf(name);
        return arbitrary === null ? [] : [[name, arbitrary]];
      }),
    ),
    { requiredKeys: [] },
  )
  .filter((change) => checkSettings(change).kind === 'fine');
