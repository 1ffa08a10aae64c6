import t from 'tap';
import { betweenRows } from './between-rows.js';
import { accessOf, categoryKeys, checkSettings, defaultSettings, settingNames, siteIdentity } from './index.js';

const site = (over: object = {}) => ({ name: 'shop', prefix: '/', upstream: 'http://10.0.0.1:80', ...over });

const brief = { mode: 'DetectionOnly', paranoia_level: 2, sites: [site({ protected: false })] };
const briefly = [checkSettings({ ...brief, categories: { sqli: { enabled: false } } }), checkSettings(brief)];

t.test('settings that say little are what the whole check makes of them', async (t) => {
  const again = [checkSettings({ ...brief, categories: { sqli: { enabled: false } } }), checkSettings(brief)];
  for (const [index, one] of briefly.entries()) {
    t.equal(one.kind, 'fine');
    t.same(one, again[index]);
    if (one.kind === 'fine') t.strictSame(Object.keys(one.settings).sort(), [...settingNames].sort());
    t.equal(JSON.stringify(one), JSON.stringify(again[index]), 'in the same order, too');
  }
});

t.test('defaults the specification states', async (t) => {
  const s = defaultSettings();
  t.match(s, {
    inbound_threshold: 5,
    outbound_threshold: 4,
    bot_score_threshold: 5,
    ai_risk_threshold: 80,
    ai_window_sec: 300,
    attack_mode: 'off',
  });
  for (const name of settingNames.filter((n) => /^(flood|challenge|rl)_.*enabled$/.test(n)))
    t.equal(s[name], false, name);
  t.same(Object.keys(s.categories).sort(), [...categoryKeys].sort());
  t.equal(categoryKeys.length, 13);
  t.equal(settingNames.length, Object.keys(s).length, 'every field has a default');
});

t.test('every field the specification names exists', async (t) => {
  const named = `
    mode paranoia_level inbound_threshold outbound_threshold rl_enabled rl_events rl_window rl_distributed
    rl_zones rl_trust_proxy rl_trusted_proxies endpoint_limits flood_global_enabled flood_global_events
    flood_global_window flood_burst_enabled flood_burst_events flood_burst_window flood_timeouts_enabled
    flood_read_header flood_read_body flood_write flood_idle flood_autoban_enabled flood_autoban_threshold
    flood_autoban_window_sec flood_autoban_duration_sec attack_mode attack_spike_factor attack_min_rpm
    attack_burst_events attack_burst_window challenge_enabled challenge_paths bot_action bot_score_threshold
    bot_allow_verified bot_verify_rdns bot_check_headers bot_block_automation bot_ja3_blocklist ai_enabled
    ai_action ai_risk_threshold ai_window_sec ai_w_signature ai_w_anomaly ai_w_api_abuse ai_w_bot
    ai_block_seconds api_protect_mode api_bola_threshold api_bola_window_sec api_block_seconds auth_enabled
    auth_protected_paths auth_alg auth_secret auth_jwks_url schema_action pii_detect pii_mask privacy_mode
    graphql_protect ti_tor_enabled ti_feed_url ti_feed_interval_hours mrf_enabled mrf_url mrf_interval_hours
    retention_requests_days retention_audit_days policy_block_pwned siem_connectors siem_webhook_url sites`
    .trim()
    .split(/\s+/);
  t.equal(named.length, 76);
  for (const name of named) t.ok((settingNames as string[]).includes(name), name);
});

const limitOf = (path: string) => ({ path, method: 'GET', events: 5, window: '1m' });
const visualRule = { id: 1000000, name: 'x', variable: 'ARGS', operator: 'contains', value: 'x' };

t.test('impossible values are refused with path and reason', async (t) => {
  const cases: [object, string, RegExp][] = [
    [{ mode: 'Off' }, '/mode', /one of On, DetectionOnly/],
    [{ paranoia_level: 5 }, '/paranoia_level', /<= 4/],
    [{ paranoia_level: '2' }, '/paranoia_level', /integer/],
    [{ paranoia_level: 1.5 }, '/paranoia_level', /integer/],
    [{ unknown_thing: 1 }, '/unknown_thing', /not a known field/],
    [{ categories: { sqli: { enabled: true, x: 1 } } }, '/categories/sqli/x', /not a known field/],
    [{ categories: { sqlx: {} } }, '/categories/sqlx', /not a known field/],
    [{ auth_issuer: 'https://id.example\n' }, '/auth_issuer', /one line/],
    [{ auth_jwks_url: 'https://id.example:70000/keys' }, '/auth_jwks_url', /not a URL.*65535/],
    [{ vm_kev_url: 'http://mirror:99999/' }, '/vm_kev_url', /65535/],
    [
      { siem_connectors: [{ name: 'a', kind: 'syslog', target: 'tcp://log:70000' }] },
      '/siem_connectors/0/target',
      /65535/,
    ],
    [{ sites: [site()], self_test_site: 'shpo' }, '/self_test_site', /names no site/],
    [{ endpoint_limits: [limitOf('/a/*/b')] }, '/endpoint_limits/0/path', /at the end only/],
    [{ endpoint_limits: [limitOf('/a*b')] }, '/endpoint_limits/0/path', /at the end only/],
    [{ endpoint_limits: [limitOf('/a/x{id}')] }, '/endpoint_limits/0/path', /one whole segment/],
    [{ auth_protected_paths: ['/admin/*'] }, '/auth_protected_paths/0', /a pattern .*such as \/admin:/],
    [{ auth_protected_paths: ['/a/../b'] }, '/auth_protected_paths/0', /never be met/],
    [{ challenge_paths: ['/u/{id}/secret'] }, '/challenge_paths/0', /such as \/u:/],
    [{ graphql_paths: ['/g*'] }, '/graphql_paths/0', /a pattern/],
    [
      { rl_zones: [{ name: 'z', match_path: '/z/*', key: 'ip', events: 1, window: '1h' }] },
      '/rl_zones/0/match_path',
      /a pat/,
    ],
    [{ sites: [site({ host: 'x.org:80' })] }, '/sites/0/host', /has a port/],
    [{ sites: [site({ host: '[::1]:80' })] }, '/sites/0/host', /has a port/],
    [{ rl_window: '1 minute' }, '/rl_window', /such as 30s/],
    [{ rl_window: '2d' }, '/rl_window', /at most 86400 seconds/],
    [{ flood_read_header: '2h' }, '/flood_read_header', /at most 3600/],
    [{ sites: [{ name: 'a', prefix: '/' }] }, '/sites/0/upstream', /missing/],
    [{ sites: [site({ upstream: 'ftp://x' })] }, '/sites/0/upstream', /right form/],
    [{ sites: [site({ upstream: 'http://[' })] }, '/sites/0/upstream', /not a URL/],
    [{ sites: [site(), site({ name: 'b' })] }, '/sites/1', /same host and prefix as \/sites\/0/],
    [{ sites: [site({ prefix: '/a' }), site({ name: 'b', prefix: '/a/' })] }, '/sites/1', /same host and prefix/],
    [{ sites: [site(), site({ prefix: '/b', name: 'SHOP' })] }, '/sites/1', /same name/],
    [{ sites: [site({ prefix: 'a' })] }, '/sites/0/prefix', /right form/],
    [{ custom_rules: [{ id: 1006000, name: 'x' }] }, '/custom_rules/0/id', /<= 1005999/],
    [{ custom_rules: [{ id: 1000000, name: 'x', kind: 'raw' }] }, '/custom_rules/0/seclang', /needs its text/],
    [{ custom_rules: [{ id: 1000000, name: 'x' }] }, '/custom_rules/0/variable', /needs a variable/],
    [{ custom_rules: [{ id: 1000000, name: 'x', variable: 'ARGS' }] }, '/custom_rules/0/operator', /needs an operator/],
    [
      { custom_rules: [0, 1].map(() => ({ id: 1000000, name: 'x', kind: 'raw', seclang: 'SecAction "id:1"' })) },
      '/custom_rules/1',
      /same id/,
    ],
    [{ virtual_patches: [0, 1].map(() => ({ id: 1007000, cve: 'CVE-2021-44228' })) }, '/virtual_patches/1', /same id/],
    [{ rule_exclusions: [{ id: 1009500 }] }, '/rule_exclusions/0', /either a rule_id or a tag/],
    [{ rule_exclusions: [0, 1].map(() => ({ id: 1009500, rule_id: 1 })) }, '/rule_exclusions/1', /same id/],
    [{ rl_zones: [0, 1].map(() => ({ name: 'a', match_path: '/', events: 1 })) }, '/rl_zones/1', /same name/],
    [{ rl_zones: [{ name: 'a', match_path: '/', events: 1, key: 'cookie' }] }, '/rl_zones/0/key', /header:<Name>/],
    [{ rl_zones: [{ name: 'a', match_path: '/', events: 1, window: '9d' }] }, '/rl_zones/0/window', /at most/],
    [
      { endpoint_limits: [0, 1].map(() => ({ path: '/a', method: 'GET', events: 1 })) },
      '/endpoint_limits/1',
      /same method and path/,
    ],
    [{ rl_trusted_proxies: ['10.0.0.0/40'] }, '/rl_trusted_proxies/0', /not an IP address or network/],
    [{ rl_trusted_proxies: ['0.0.0.0/0'] }, '/rl_trusted_proxies/0', /everybody/],
    [{ rl_trusted_proxies: ['::/0'] }, '/rl_trusted_proxies/0', /everybody/],
    [{ rl_trust_proxy: true }, '/rl_trusted_proxies', /must list the proxies/],
    [{ proxy_protocol: true }, '/proxy_protocol', /none are trusted/],
    [{ challenge_enabled: true }, '/challenge_paths', /at least one path/],
    [{ flood_autoban_exempt: ['10.0.0.0/40'] }, '/flood_autoban_exempt/0', /not an IP address or network/],
    [{ ai_risk_threshold: 0 }, '/ai_risk_threshold', />= 1 \(at 0 every client would be blocked\)/],
    [{ ai_risk_threshold: 101 }, '/ai_risk_threshold', /<= 100/],
    [
      { ai_enabled: true, ai_w_signature: 0, ai_w_anomaly: 0, ai_w_api_abuse: 0, ai_w_bot: 0 },
      '/ai_w_signature',
      /above 0/,
    ],
    [{ auth_enabled: true }, '/auth_protected_paths', /at least one path/],
    [{ auth_jwks_url: 'https://id.example/keys' }, '/auth_alg', /HS256 uses auth_secret/],
    [{ auth_alg: 'RS256', auth_secret: 'x' }, '/auth_secret', /HS256 only/],
    [{ policy_session_idle_minutes: 500 }, '/policy_session_idle_minutes', /must not exceed/],
    [{ vm_model_url: 'https://a/v1' }, '/vm_model_name', /needed with vm_model_url/],
    [{ otel_metrics: true }, '/otel_endpoint', /needed/],
    [{ otel_endpoint: 'https://a/#x' }, '/otel_endpoint', /fragment/],
    [{ otel_headers: [{ name: 'Content-Type', value: 'x' }] }, '/otel_headers/0/name', /itself/],
    [{ sso_enabled: true }, '/sso_issuer', /needed/],
    [
      { sso_enabled: true, sso_issuer: 'https://a', sso_client_id: 'x', sso_redirect_uri: 'https://a/cb' },
      '/sso_redirect_uri',
      /must end with/,
    ],
    [{ sso_default_role: 'admin' }, '/sso_default_role', /one of viewer, operator/],
    [{ ti_feed_url: 'https://user:pw@x/' }, '/ti_feed_url', /right form/],
    [{ ti_feed_url: 'http://[' }, '/ti_feed_url', /not a URL/],
    [
      { siem_connectors: [0, 1].map(() => ({ name: 'a', kind: 'webhook', target: 'https://a' })) },
      '/siem_connectors/1',
      /same name/,
    ],
    [{ siem_connectors: [{ name: 'a', kind: 'syslog', target: 'https://a' }] }, '/siem_connectors/0/target', /tcp:/],
    [{ bot_crawler_ranges: [{ crawler: 'Googlebot', prefixes: [{}] }] }, '/bot_crawler_ranges/0/prefixes/0', /either/],
    [
      { bot_crawler_ranges: [{ crawler: 'Googlebot', prefixes: [{ ipv4Prefix: '2001:db8::/32' }] }] },
      '/bot_crawler_ranges/0/prefixes/0/ipv4Prefix',
      /not an IPv4 network/,
    ],
    [{ bot_ja3_blocklist: ['zz'] }, '/bot_ja3_blocklist/0', /right form/],
    [
      { limits: { request_body_bytes_max: 1_048_576, held_body_bytes_max: 65_536 } },
      '/limits/request_body_bytes_max',
      /held_body_bytes_max/,
    ],
    [{ limits: { response_body_bytes_max: 4_194_304 } }, '/limits/response_body_bytes_max', /decoded_body_bytes_max/],
    [{ sites: [site({ prefix: '/a//b' })] }, '/sites/0/prefix', /plain path/],
    [{ sites: [site({ prefix: '/a/../b' })] }, '/sites/0/prefix', /plain path/],
    [{ sites: [site({ host: 'a*b' })] }, '/sites/0/host', /not a host name/],
    [{ sites: [site({ name: 'n'.repeat(65) })] }, '/sites/0/name', /64 characters/],
    [{ sites: [site({ upstreams: [{ url: 'http://10.0.0.2' }] })] }, '/sites/0/upstream', /not among/],
    [
      { sites: [site({ upstream: '', upstreams: [{ url: 'http://a' }, { url: 'http://a/' }] })] },
      '/sites/0/upstreams/1',
      /same url/,
    ],
    [
      { sites: [site({ upstream: '', upstreams: [{ url: 'http://a/x' }, { url: 'http://b' }] })] },
      '/sites/0/upstreams/1/url',
      /another path/,
    ],
    [
      { sites: [site({ upstream: '', upstreams: [{ url: 'http://u:p@a' }] })] },
      '/sites/0/upstreams/0/url',
      /right form/,
    ],
    [{ sites: [site({ health_check: { path: 'x' } })] }, '/sites/0/health_check/path', /begins with/],
    [{ sites: [site({ upstream: 'http://u/?a=1' })] }, '/sites/0/upstream', /query or a fragment/],
    [{ categories: { xss: { path_exclusions: ['/a/./b'] } } }, '/categories/xss/path_exclusions/0', /never be met/],
    [
      { custom_rules: [{ id: 1000000, name: 'x', variable: 'ARGS', operator: 'rx', action: 'redirect' }] },
      '/custom_rules/0/redirect_url',
      /where to/,
    ],
    [{ virtual_patches: [{ id: 1007000 }] }, '/virtual_patches/0/cve', /name the CVE/],
    [
      { rule_exclusions: [{ id: 1009500, rule_id: 942100, target: 'ARGS:a b' }] },
      '/rule_exclusions/0/target',
      /a variable such as/,
    ],
    [{ rule_exclusions: [{ id: 1009500, tag: "attack-sqli'" }] }, '/rule_exclusions/0/tag', /tag of the rule set/],
    [
      { rule_exclusions: [{ id: 1009500, rule_id: 942100, expires_at: '2026-13-01T00:00:00Z' }] },
      '/rule_exclusions/0/expires_at',
      /moment that does not exist/,
    ],
    [{ allowed_methods: ['get'] }, '/allowed_methods/0', /in capitals/],
    [{ allowed_content_types: ['text/plain; a=b'] }, '/allowed_content_types/0', /without parameters/],
    [{ limits: { uri_bytes_max: 255 } }, '/limits/uri_bytes_max', />= 256/],
    [{ limits: { uri_bytes: 4096 } }, '/limits/uri_bytes', /not a known field/],
    [{ limits: { request_body_over_limit: 'drop' } }, '/limits/request_body_over_limit', /one of reject, partial/],
    [{ timeouts: { drain_ms: '1s' } }, '/timeouts/drain_ms', /integer/],
    [
      { flood_timeouts_enabled: true, timeouts: { client_body_idle_ms: 1000 } },
      '/timeouts/client_body_idle_ms',
      /set flood_read_body/,
    ],
    [
      { sites: [site()], custom_rules: [{ ...visualRule, sites: ['shop', 'shoo'] }] },
      '/custom_rules/0/sites/1',
      /names no site/,
    ],
    [{ rule_exclusions: [{ id: 1009500, rule_id: 1, sites: ['x'] }] }, '/rule_exclusions/0/sites/0', /names no site/],
    [
      {
        sites: [site()],
        custom_rules: [
          { id: 1000000, name: 'x', kind: 'raw', sites: ['shop'], seclang: '\n SecRuleRemoveById 942100' },
        ],
      },
      '/custom_rules/0/seclang',
      /changes rules of all sites.*ctl:ruleRemove/,
    ],
    [
      {
        sites: Array.from({ length: 110 }, (_, index) =>
          site({ name: `s${index}`, prefix: `/s${index}`, inbound_threshold: index + 10 }),
        ),
      },
      '/sites',
      /112 different sets of rules, of at most 100/,
    ],
    [
      { sites: [site({ request_body_limit_bytes: 2 ** 30 })] },
      '/sites/0/request_body_limit_bytes',
      /must not exceed limits\/held_body_bytes_max/,
    ],
    [
      { api_specs: [{ site: 'a' }, { site: 'a' }].map((one) => ({ ...one, name: 'x', version: 1 })) },
      '/api_specs/1',
      /same site and name/,
    ],
    [
      { sites: [site({})], api_specs: [{ site: 'nobody', name: 'x', version: 1 }] },
      '/api_specs/0/site',
      /names no site/,
    ],
    [{ sites: [site({ paranoia_level: 9 })] }, '/sites/0/paranoia_level', /<= 4/],
    [{ sites: [site({ categories: { sqlx: { enabled: false } } })] }, '/sites/0/categories/sqlx', /not a known field/],
    [{ restricted_extensions: ['bak'] }, '/restricted_extensions/0', /with its dot/],
    [{ restricted_headers: ['a b'] }, '/restricted_headers/0', /name of a field/],
    [{ replay_sampling: { per_second_max: 0 } }, '/replay_sampling/per_second_max', />= 1/],
    [[] as object, '', /object/],
  ];
  for (const [candidate, path, reason] of cases) {
    const checked = checkSettings(candidate);
    const found = checked.kind === 'refused' ? checked.problems.find((p) => p.path === path) : undefined;
    t.match(
      `${found?.reason} (${found?.fix})`,
      reason,
      `${JSON.stringify(candidate)} → ${JSON.stringify(checked).slice(0, 300)}`,
    );
  }
  t.equal(betweenRows.length, 41, 'a new rule needs a case above');
});

t.test('all problems are reported at once', async (t) => {
  const checked = checkSettings({ mode: 'x', paranoia_level: 9, nope: 1 });
  t.equal(checked.kind === 'refused' ? checked.problems.length : 0, 3);
});

t.test('governance fields are for administrators', async (t) => {
  const admin = settingNames.filter((name) => accessOf(name) === 'admin');
  for (const name of [
    'sites',
    'retention_audit_days',
    'policy_block_pwned',
    'sso_issuer',
    'siem_connectors',
    'auth_secret',
    'rl_trust_proxy',
    'privacy_mode',
    'accept_request_id',
    'replay_sampling',
  ] as const)
    t.ok(admin.includes(name), name);
  for (const name of [
    'mode',
    'paranoia_level',
    'custom_rules',
    'rl_zones',
    'flood_burst_events',
    'bot_action',
    'ai_action',
    'schema_action',
    'limits',
    'timeouts',
  ] as const)
    t.notOk(admin.includes(name), name);
});

t.test('sites are compared by host and prefix', async (t) => {
  t.equal(siteIdentity({ host: 'A.example', prefix: '/x/' }), siteIdentity({ host: 'a.EXAMPLE', prefix: '/x' }));
  t.equal(siteIdentity({ host: null, prefix: '/' }), '/');
  t.not(siteIdentity({ host: null, prefix: '/a' }), siteIdentity({ host: null, prefix: '/A' }));
});
