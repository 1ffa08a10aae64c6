// Bots, the detection engine, API abuse, and what a protected site asks for before it lets anybody in.
import { Type } from '@sinclair/typebox';
import {
  Choice,
  closed,
  Flag,
  HttpUrl,
  Line,
  member,
  Network,
  Path,
  Secret,
  setting,
  Shaped,
  Text,
  Whole,
} from '../row.js';

const weight = (value: number) => Type.Number({ minimum: 0, maximum: 100, default: value });

/** One entry of the lists that operators of crawlers publish, as it stands there. */
const Prefix = Type.Object({ ipv4Prefix: Type.Optional(Network()), ipv6Prefix: Type.Optional(Network()) }, closed);

const CrawlerRanges = Type.Object(
  {
    crawler: Line(64, { minLength: 1, description: 'its name in GET /api/bots' }),
    creationTime: Type.Optional(Text(64)),
    prefixes: Type.Array(Prefix, { maxItems: 5000, minItems: 1 }),
  },
  closed,
);

const CrawlerList = Type.Object(
  {
    crawler: Line(64, { minLength: 1, description: 'its name in GET /api/bots' }),
    url: Shaped('^https?://[^\\s@/]+(/[^\\s]*)?$', 'write an http or https address without user and password', {
      maxLength: 2048,
      'x-url': 'keyed',
    }),
  },
  closed,
);

const bots = 'proxy/admit/bots/bots.ts';
/** The detection engine. */
const engine = 'api/ai/engine/policy.ts';
const siteAuth = 'proxy/admit/site-auth/site-auth.ts';

export const detectionRows = {
  bot_action: setting(Choice(['monitor', 'block'], 'monitor'), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: bots,
    description: 'what happens to bots',
  }),
  bot_score_threshold: setting(Whole(1, 1000, 5), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: bots,
    description: 'bot score at which a client counts as a bot',
    unit: 'points',
  }),
  bot_allow_verified: setting(Flag(true), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: bots,
    description: 'exempt verified good crawlers',
    under: 'bot_action',
  }),
  bot_verify_rdns: setting(Flag(true), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: bots,
    description: 'check crawlers by forward-confirmed reverse DNS',
    under: 'bot_action',
  }),
  bot_check_headers: setting(Flag(true), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: bots,
    description: 'score missing browser headers',
    under: 'bot_action',
  }),
  bot_block_automation: setting(Flag(false), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: bots,
    description: 'score HTTP libraries; off by default, because health checks and mobile apps are such clients',
  }),
  bot_crawler_ranges: setting(Type.Array(CrawlerRanges, { maxItems: 64, default: [] }), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: bots,
    description:
      'addresses of crawlers as their operators publish them (`prefixes` with `ipv4Prefix` or `ipv6Prefix`); ' +
      'who claims to be such a crawler from elsewhere is an impostor, unless its name proves it (bot_verify_rdns)',
  }),
  bot_crawler_range_urls: setting(Type.Array(CrawlerList, { maxItems: 16, default: [] }), {
    access: 'operator',
    reach: ['control'],
    enforcedBy: 'api/edge/crawler-lists/job.ts',
    description: 'the same by URL: lists that are fetched as their operators publish them; the last good copy is kept',
  }),
  bot_crawler_range_hours: setting(Whole(1, 720, 24), {
    access: 'operator',
    reach: ['control'],
    enforcedBy: 'api/edge/crawler-lists/job.ts',
    description: 'how often these lists are fetched',
    unit: 'hours',
  }),
  bot_ja3_blocklist: setting(
    Type.Array(Shaped('^[0-9a-f]{32}$', 'write 32 hexadecimal digits in small letters'), {
      maxItems: 10_000,
      default: [],
      uniqueItems: true,
    }),
    {
      access: 'operator',
      reach: ['data'],
      enforcedBy: 'proxy/admit/bots/ja3-blocklist.ts',
      description:
        'JA3 of TLS clients that are refused with 403; requests on the plain port have none, and are not judged by it',
    },
  ),

  ai_enabled: setting(Flag(false), {
    access: 'operator',
    reach: ['control', 'data'],
    enforcedBy: 'proxy/road/finish.ts',
    description: 'fuse the layers into one risk; scores in monitor mode too',
  }),
  ai_action: setting(Choice(['monitor', 'block'], 'monitor'), {
    access: 'operator',
    reach: ['control'],
    enforcedBy: engine,
    description: 'block enforces the verdict ladder',
  }),
  ai_risk_threshold: setting(Whole(1, 100, 80), {
    access: 'operator',
    reach: ['control'],
    enforcedBy: engine,
    description: 'risk T at which a client is blocked; challenged from T-20, throttled from T-35, both never below 1',
    unit: 'risk points',
    fix: 'at 0 every client would be blocked',
  }),
  ai_window_sec: setting(Whole(10, 86_400, 300), {
    access: 'operator',
    reach: ['control'],
    enforcedBy: engine,
    description: 'live scoring window',
    unit: 'seconds',
  }),
  ai_w_signature: setting(weight(40), {
    access: 'operator',
    reach: ['control'],
    enforcedBy: engine,
    description: 'weight of signatures; weights are normalised to their sum',
  }),
  ai_w_anomaly: setting(weight(20), {
    access: 'operator',
    reach: ['control'],
    enforcedBy: engine,
    description: 'weight of anomalies',
  }),
  ai_w_api_abuse: setting(weight(25), {
    access: 'operator',
    reach: ['control'],
    enforcedBy: engine,
    description: 'weight of API abuse',
  }),
  ai_w_bot: setting(weight(15), {
    access: 'operator',
    reach: ['control'],
    enforcedBy: engine,
    description: 'weight of bot signals',
  }),
  ai_block_seconds: setting(Whole(1, 2_592_000, 600), {
    access: 'operator',
    reach: ['control'],
    enforcedBy: engine,
    description: 'how long an offender is blocked',
    unit: 'seconds',
  }),

  api_discovery_enabled: setting(Flag(true), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: 'proxy/road/finish.ts',
    description: 'learn which APIs there are from the traffic: methods, paths, credentials, parameters, never values',
  }),
  api_protect_mode: setting(Choice(['monitor', 'block'], 'monitor'), {
    access: 'operator',
    reach: ['control'],
    enforcedBy: 'api/threats/block.ts',
    description: 'what happens to API abuse: monitor makes findings, block bans their addresses as well',
  }),
  api_bola_threshold: setting(Whole(2, 1_000_000, 20), {
    access: 'operator',
    reach: ['control'],
    enforcedBy: 'api/threats/job.ts',
    description: 'distinct objects, requests for functions of administrators, or accounts within the window',
    unit: 'objects',
  }),
  api_bola_window_sec: setting(Whole(1, 86_400, 60), {
    access: 'operator',
    reach: ['control'],
    enforcedBy: 'api/threats/job.ts',
    description: 'window of that count',
    unit: 'seconds',
  }),
  api_abuse_memory_hours: setting(Whole(1, 720, 6), {
    access: 'operator',
    reach: ['control'],
    enforcedBy: 'api/threats/job.ts',
    description: 'tries at logins that come slowly or from many addresses count by half after that long',
    unit: 'hours',
  }),
  api_block_seconds: setting(Whole(1, 2_592_000, 600), {
    access: 'operator',
    reach: ['control'],
    enforcedBy: 'api/threats/block.ts',
    description: 'how long an offender is blocked',
    unit: 'seconds',
  }),
  auth_enabled: setting(Flag(false), {
    access: 'admin',
    reach: ['data'],
    enforcedBy: siteAuth,
    description:
      'demand credentials on protected paths; while `mode` of the installation or of the site is DetectionOnly, ' +
      'requests without them are recorded and pass',
  }),
  auth_protected_paths: setting(Type.Array(Path(), { maxItems: 500, default: [], uniqueItems: true }), {
    access: 'admin',
    reach: ['data'],
    enforcedBy: siteAuth,
    description: 'path prefixes that need Authorization or X-API-Key',
  }),
  auth_alg: setting(Choice(['HS256', 'RS256', 'RS384', 'RS512', 'PS256', 'ES256', 'ES384', 'EdDSA'], 'HS256'), {
    access: 'admin',
    reach: ['data'],
    enforcedBy: siteAuth,
    description: 'signature algorithm of tokens at the data plane',
  }),
  auth_secret: setting(Secret(), {
    access: 'admin',
    reach: ['data'],
    enforcedBy: siteAuth,
    description: 'HS256 key of at least 32 bytes; empty checks presence only',
  }),
  auth_jwks_url: setting(HttpUrl(), {
    access: 'admin',
    reach: ['data'],
    enforcedBy: siteAuth,
    description: 'key set for the other algorithms',
  }),
  auth_issuer: setting(Line(512), {
    access: 'admin',
    reach: ['data'],
    enforcedBy: siteAuth,
    description: 'what `iss` of a token has to be; empty accepts any',
  }),
  auth_audience: setting(Line(512), {
    access: 'admin',
    reach: ['data'],
    enforcedBy: siteAuth,
    description: 'what `aud` of a token has to be or to contain; empty accepts any',
  }),
  auth_clock_skew_sec: setting(Whole(0, 600, 60), {
    access: 'admin',
    reach: ['data'],
    enforcedBy: siteAuth,
    description: 'how far clocks may differ, for `exp`, `nbf` and `iat`',
    unit: 'seconds',
  }),
  auth_require_exp: setting(Flag(true), {
    access: 'admin',
    reach: ['data'],
    enforcedBy: siteAuth,
    description: 'refuse tokens without `exp`: off accepts them for ever, unless the key changes',
  }),
  auth_token_life_max_sec: setting(Whole(0, 315_576_000, 31_622_400), {
    access: 'admin',
    reach: ['data'],
    enforcedBy: siteAuth,
    description: 'refuse tokens whose `exp` is further ahead than that; 0 accepts any',
    unit: 'seconds',
  }),
  auth_preflight: setting(Choice(['forward', 'refuse'], 'forward'), {
    access: 'admin',
    reach: ['data'],
    enforcedBy: siteAuth,
    description:
      'CORS preflight requests to protected paths: forward sends them on without query, body and credentials, and ' +
      'returns only the CORS fields of the answer; refuse asks them for credentials, too',
  }),
  schema_action: setting(Choice(['ignore', 'alert', 'block'], 'ignore'), {
    access: 'operator',
    reach: ['control'],
    enforcedBy: 'api/change/steps/specifications.ts',
    description:
      'requests of protected sites that do not fit the specifications that api_specs names: alert records them, ' +
      'block refuses them with 403 (rules 1006500 to 1006502)',
  }),
  graphql_protect: setting(Flag(false), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: 'proxy/graphql/step.ts',
    description:
      'refuse GraphQL introspection (the fields __schema and __type; __typename is none of it) and what is beyond ' +
      'graphql_limits, of protected sites (rules 1006510 to 1006512)',
  }),
  self_test_site: setting(Line(100), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/simulation/job.ts',
    description: 'the site that attacks are sent to every night, to see that rules still stop them; empty = none',
  }),
  graphql_limits: setting(
    Type.Object(
      {
        depth_max: member(Whole(1, 100, 20), 'fields inside each other', 'fields'),
        aliases_max: member(
          Whole(0, 5000, 30),
          'aliases of a document, of a fragment as often as it is spread',
          'aliases',
        ),
        cost_max: member(
          Whole(1, 1_000_000_000, 10_000),
          'fields that are resolved at most: below `first: 50` each counts fifty times',
          'fields',
        ),
        batch_max: member(Whole(1, 1000, 20), 'operations that come in one list', 'operations'),
        tokens_max: member(Whole(1, 5000, 2000), 'words, numbers, texts and signs of a document', 'tokens'),
        directives_max: member(
          Whole(0, 5000, 50),
          'directives of a document, those of a fragment as often as it is spread',
          'directives',
        ),
        variables_max: member(Whole(0, 5000, 100), 'variables that one operation declares', 'variables'),
        variables_depth_max: member(Whole(1, 100, 20), 'lists and objects inside each other in variables', 'levels'),
        operations_max: member(Whole(1, 1000, 20), 'operations that stand in one document', 'operations'),
        root_repeats_max: member(
          Whole(1, 5000, 30),
          'how often one field of the root is asked for, under whatever alias',
          'times',
        ),
      },
      { ...closed, default: {} },
    ),
    {
      access: 'operator',
      reach: ['data'],
      enforcedBy: 'proxy/graphql/step.ts',
      description: 'how much one GraphQL request may ask for; in force with graphql_protect',
    },
  ),
};
