import { Type } from '@sinclair/typebox';
import { Choice, field, Flag, HttpUrl, Path, Secret, Whole } from './field.js';

const weight = (value: number) => Type.Number({ minimum: 0, maximum: 100, default: value });

export const detectionFields = {
  bot_action: field(Choice(['monitor', 'block'], 'monitor'), 'operator', 'what happens to bots'),
  bot_score_threshold: field(Whole(1, 1000, 5), 'operator', 'bot score at which a client counts as a bot', 'points'),
  bot_allow_verified: field(Flag(true), 'operator', 'exempt verified good crawlers'),
  bot_verify_rdns: field(Flag(true), 'operator', 'check crawlers by forward-confirmed reverse DNS'),
  bot_check_headers: field(Flag(true), 'operator', 'score missing browser headers'),
  bot_block_automation: field(
    Flag(false),
    'operator',
    'score HTTP libraries; off by default, because health checks and mobile apps are such clients',
  ),
  bot_ja3_blocklist: field(
    Type.Array(Type.String({ pattern: '^[0-9a-f]{32}$' }), { maxItems: 10_000, default: [], uniqueItems: true }),
    'operator',
    'JA3 hashes that are refused',
  ),

  ai_enabled: field(Flag(false), 'operator', 'fuse the layers into one risk; scores in monitor mode too'),
  ai_action: field(Choice(['monitor', 'block'], 'monitor'), 'operator', 'block enforces the verdict ladder'),
  ai_risk_threshold: field(
    Whole(0, 100, 80),
    'operator',
    'risk T at which a client is blocked; challenged from T-20, throttled from T-35, both never below 1',
    'risk points',
  ),
  ai_window_sec: field(Whole(10, 86_400, 300), 'operator', 'live scoring window', 'seconds'),
  ai_w_signature: field(weight(40), 'operator', 'weight of signatures; weights are normalised to their sum'),
  ai_w_anomaly: field(weight(20), 'operator', 'weight of anomalies'),
  ai_w_api_abuse: field(weight(25), 'operator', 'weight of API abuse'),
  ai_w_bot: field(weight(15), 'operator', 'weight of bot signals'),
  ai_block_seconds: field(Whole(1, 2_592_000, 600), 'operator', 'how long an offender is blocked', 'seconds'),

  api_protect_mode: field(Choice(['monitor', 'block'], 'monitor'), 'operator', 'what happens to API abuse'),
  api_bola_threshold: field(
    Whole(2, 1_000_000, 20),
    'operator',
    'distinct objects or admin hits within the window',
    'objects',
  ),
  api_bola_window_sec: field(Whole(1, 86_400, 60), 'operator', 'window of that count', 'seconds'),
  api_block_seconds: field(Whole(1, 2_592_000, 600), 'operator', 'how long an offender is blocked', 'seconds'),
  auth_enabled: field(Flag(false), 'admin', 'demand credentials on protected paths'),
  auth_protected_paths: field(
    Type.Array(Path(), { maxItems: 500, default: [], uniqueItems: true }),
    'admin',
    'path prefixes that need Authorization or X-API-Key',
  ),
  auth_alg: field(
    Choice(['HS256', 'RS256', 'RS384', 'RS512', 'PS256', 'ES256', 'ES384', 'EdDSA'], 'HS256'),
    'admin',
    'signature algorithm of tokens at the data plane',
  ),
  auth_secret: field(Secret(), 'admin', 'HS256 key; empty checks presence only'),
  auth_jwks_url: field(HttpUrl(), 'admin', 'key set for the other algorithms'),
  schema_action: field(
    Choice(['ignore', 'alert', 'block'], 'ignore'),
    'operator',
    'requests that do not fit the uploaded OpenAPI document',
  ),
  graphql_protect: field(Flag(false), 'operator', 'refuse GraphQL introspection'),
};
