// The order of what every request meets, for people: `GET /api/pipeline` and `gatehouse explain` show it. The gates in
// it are those of admit/index.ts, in that order; pipeline.test.ts holds both together.

export interface PipelineStage {
  readonly name: string;
  readonly kind: 'road' | 'gate' | 'rules';
  /** Gates of unprotected sites are those that say `all`. */
  readonly appliesTo: 'protected' | 'all';
  readonly description: string;
  /** What it answers when it refuses; null: it never does. */
  readonly refuses: string | null;
  /** Settings that decide what it does. */
  readonly settings: readonly string[];
  /** Its name in metrics and records, where that is another one. */
  readonly countedAs?: string;
}

const stage = (
  kind: PipelineStage['kind'],
  name: string,
  appliesTo: PipelineStage['appliesTo'],
  description: string,
  refuses: string | null,
  settings: readonly string[] = [],
): PipelineStage => ({ name, kind, appliesTo, description, refuses, settings });

export const pipeline: readonly PipelineStage[] = [
  stage('road', 'take', 'all', 'connections of a client; syntax, framing and size of the head', '400, 408, 414, 431', [
    'limits',
    'timeouts',
    'proxy_protocol',
    'flood_connections_enabled',
    'flood_connections_max',
    'flood_timeouts_enabled',
    'flood_read_header',
    'flood_read_body',
    'flood_write',
    'flood_idle',
  ]),
  stage('road', 'route', 'all', 'site by host and longest prefix; the client behind trusted proxies', '404', [
    'sites',
    'rl_trust_proxy',
    'rl_trusted_proxies',
  ]),
  stage('gate', 'crash-requests', 'all', 'requests that ended workers of this node again and again', '503'),
  stage(
    'gate',
    'deny-list',
    'protected',
    'addresses that a client measure denies: of users, lists, bans of all nodes, the detection engine',
    '403',
    ['ti_tor_enabled', 'ti_feed_url', 'mrf_enabled'],
  ),
  stage('gate', 'bans', 'protected', 'clients that this node banned by itself', '403', [
    'flood_autoban_enabled',
    'flood_autoban_threshold',
    'flood_autoban_window_sec',
    'flood_autoban_duration_sec',
    'flood_autoban_exempt',
  ]),
  stage('gate', 'tls-fingerprints', 'protected', 'TLS clients by their JA3; requests without TLS have none', '403', [
    'bot_ja3_blocklist',
  ]),
  stage('gate', 'verdicts', 'protected', 'clients that somebody decided to slow down (POST /api/bans)', '429'),
  stage('gate', 'flood-global', 'all', 'all clients together', '429', [
    'flood_global_enabled',
    'flood_global_events',
    'flood_global_window',
    'flood_dry_run',
  ]),
  stage('gate', 'flood-burst', 'protected', 'the burst of one client', '429', [
    'flood_burst_enabled',
    'flood_burst_events',
    'flood_burst_window',
    'flood_dry_run',
  ]),
  stage('gate', 'attack-mode', 'protected', 'the burst of one client while the node is under attack', '429', [
    'attack_mode',
    'attack_spike_factor',
    'attack_min_rpm',
    'attack_burst_events',
    'attack_burst_window',
  ]),
  stage('gate', 'rate-zones', 'protected', 'rate limits by client, header field or all together, under a path', '429', [
    'rl_enabled',
    'rl_events',
    'rl_window',
    'rl_zones',
    'rl_dry_run',
    'rl_headers',
    'rl_distributed',
  ]),
  stage('gate', 'endpoint-limits', 'protected', 'tight limits of a client on expensive endpoints', '429', [
    'rl_enabled',
    'endpoint_limits',
    'rl_distributed',
  ]),
  stage('gate', 'challenge', 'protected', 'browsers only: a small piece of work, then a cookie', '403', [
    'challenge_enabled',
    'challenge_paths',
    'challenge_difficulty',
    'challenge_pass_sec',
  ]),
  stage('gate', 'site-auth', 'protected', 'credentials on protected paths, and signatures of tokens', '401, 503', [
    'auth_enabled',
    'auth_protected_paths',
    'auth_alg',
    'auth_secret',
    'auth_jwks_url',
    'auth_issuer',
    'auth_audience',
    'auth_clock_skew_sec',
    'auth_require_exp',
    'auth_token_life_max_sec',
    'auth_preflight',
  ]),
  stage(
    'gate',
    'principal-verdicts',
    'protected',
    'principals that the detection engine or a user decided to refuse, challenge or slow down',
    '403, 429',
  ),
  stage(
    'gate',
    'bots',
    'protected',
    'bot signals as points (tx.apb_score), crawlers by forward-confirmed names',
    '403',
    [
      'bot_action',
      'bot_score_threshold',
      'bot_allow_verified',
      'bot_verify_rdns',
      'bot_crawler_ranges',
      'bot_check_headers',
      'bot_block_automation',
    ],
  ),
  stage('rules', 'request head', 'protected', 'rules of phase 1', '403', ['mode', 'categories', 'custom_rules']),
  stage('road', 'request body', 'all', 'read, bounded', '408, 413, 503', ['limits', 'timeouts']),
  stage('rules', 'request body', 'protected', 'rules of phase 2, and the anomaly score', '403', [
    'inbound_threshold',
    'second_opinion',
  ]),
  stage('road', 'graphql', 'protected', 'introspection, and documents beyond the limits', '403', [
    'graphql_protect',
    'graphql_paths',
    'graphql_limits',
  ]),
  {
    ...stage('road', 'specification', 'protected', 'what the OpenAPI documents of the site declare', '403', [
      'schema_action',
      'api_specs',
    ]),
    countedAs: 'api-schema',
  },
  stage('road', 'forward', 'all', 'to the upstream', '502, 504', ['sites']),
  stage('rules', 'response', 'protected', 'rules of phases 3 and 4', '403', ['outbound_threshold']),
  stage('road', 'masking', 'protected', 'card numbers in answers, before the client has them', null, ['pii_mask']),
  stage('rules', 'websocket messages', 'protected', 'text of clients, each before the application has it', '1008', [
    'ws_inspect',
  ]),
];
