import { Type } from '@sinclair/typebox';
import { Choice, closed, field, Flag, HttpUrl, Path, Secret, Text, Whole } from './field.js';

const Site = Type.Object(
  {
    name: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9 ._-]{0,99}$' }),
    prefix: Path(),
    host: Type.Union(
      [Type.String({ maxLength: 253, pattern: '^[A-Za-z0-9*]([A-Za-z0-9.-]*[A-Za-z0-9])?$' }), Type.Null()],
      { default: null, description: 'host the site answers for; null answers for any' },
    ),
    upstream: Type.String({ minLength: 1, maxLength: 2048, pattern: '^https?://[^\\s@/]+(/[^\\s]*)?$' }),
    protected: Flag(true),
    mode: Type.Union(
      [Type.Unsafe<'On' | 'DetectionOnly'>({ type: 'string', enum: ['On', 'DetectionOnly'] }), Type.Null()],
      { default: null, description: 'null follows the global mode' },
    ),
    fail_mode: Choice(['closed', 'open'], 'closed'),
    host_policy: Choice(['preserve', 'upstream'], 'preserve'),
    verify_upstream_certificate: Flag(true),
  },
  closed,
);

const siemKinds = ['splunk_hec', 'elasticsearch', 'sentinel', 'syslog', 'cef', 'webhook'] as const;

const SiemConnector = Type.Object(
  {
    name: Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,63}$' }),
    kind: Type.Unsafe<(typeof siemKinds)[number]>({ type: 'string', enum: [...siemKinds] }),
    enabled: Flag(true),
    target: Type.String({
      minLength: 1,
      maxLength: 2048,
      description: 'URL, or tcp://, tls:// or udp:// host and port for syslog and CEF',
      pattern: '^(https?|tcp|tls|udp)://[^\\s@]+$',
    }),
    token: Secret(),
    index: Text(200),
    options: Type.Record(Type.String({ pattern: '^[a-z][a-z0-9_]{0,63}$' }), Type.String({ maxLength: 1000 }), {
      default: {},
      maxProperties: 20,
    }),
  },
  closed,
);

export const governanceFields = {
  sites: field(
    Type.Array(Site, { maxItems: 5000, default: [] }),
    'admin',
    'protected sites; empty uses the demo upstreams. Their number is the licensed domain count',
  ),

  pii_detect: field(Flag(true), 'admin', 'flag personal data in responses'),
  pii_mask: field(Flag(false), 'admin', 'mask card numbers in responses'),
  privacy_mode: field(
    Flag(false),
    'admin',
    'mask personal data (e-mail addresses, telephone numbers, IBANs, national ids, values of fields named after them) in what is stored of requests from now on: at the control plane at once, in the audit log of a node with the next apply. Credentials and card numbers are masked at the control plane in any case. Client addresses stay',
  ),

  ti_tor_enabled: field(Flag(false), 'admin', 'refuse exit nodes of anonymity networks'),
  ti_feed_url: field(HttpUrl(), 'admin', 'list of bad addresses, one a line or JSON'),
  ti_feed_interval_hours: field(Whole(1, 720, 24), 'admin', 'how often the list is fetched', 'hours'),
  mrf_enabled: field(Flag(false), 'admin', 'managed rule and reputation feed'),
  mrf_url: field(HttpUrl(), 'admin', 'feed; empty uses the bundled baseline'),
  mrf_interval_hours: field(Whole(1, 720, 24), 'admin', 'how often the feed is fetched', 'hours'),

  retention_requests_days: field(
    Whole(1, 3650, 30),
    'admin',
    'requests and verdict history are kept this long',
    'days',
  ),
  retention_audit_days: field(Whole(1, 36_500, 365), 'admin', 'audit entries are kept this long', 'days'),

  policy_block_pwned: field(Flag(true), 'admin', 'refuse passwords known from breaches'),
  policy_password_min_length: field(Whole(8, 128, 12), 'admin', 'shortest password', 'characters'),
  policy_password_min_classes: field(Whole(0, 4, 0), 'admin', 'kinds of characters a password mixes', 'kinds'),
  policy_session_ttl_minutes: field(Whole(5, 43_200, 480), 'admin', 'a login lasts this long', 'minutes'),
  policy_session_idle_minutes: field(
    Whole(1, 43_200, 60),
    'admin',
    'a login ends after this long without a request',
    'minutes',
  ),
  policy_lockout_threshold: field(
    Whole(3, 100, 5),
    'admin',
    'wrong passwords before an account is locked for a source address',
    'attempts',
  ),
  policy_lockout_minutes: field(Whole(1, 1440, 15), 'admin', 'longest lock', 'minutes'),
  policy_2fa_required_admin: field(Flag(false), 'admin', 'administrators have to use two-factor authentication'),

  siem_connectors: field(Type.Array(SiemConnector, { maxItems: 20, default: [] }), 'admin', 'where security events go'),
  siem_webhook_url: field(HttpUrl(), 'admin', 'one webhook for every security event (older form)'),
  sso_enabled: field(Flag(false), 'admin', 'login through an OpenID Connect provider'),
  sso_issuer: field(HttpUrl(), 'admin', 'issuer; its discovery document is read from there'),
  sso_client_id: field(Text(512), 'admin', 'client id'),
  sso_client_secret: field(Secret(), 'admin', 'client secret'),
  sso_redirect_uri: field(HttpUrl(), 'admin', 'ends with /api/sso/callback, at the dashboard origin'),
  sso_default_role: field(
    Choice(['viewer', 'operator'], 'viewer'),
    'admin',
    'role of people who log in for the first time; never administrator',
  ),
  sso_allowed_domain: field(
    Type.String({ maxLength: 253, default: '', pattern: '^([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?)?$' }),
    'admin',
    'e-mail domain that may log in; empty allows all the provider verifies',
  ),
};
