// Data protection, feeds, retention, people and integrations: what an administrator answers for.
import { Type } from '@sinclair/typebox';
import { Choice, closed, Flag, HttpUrl, Line, Secret, setting, Shaped, Whole } from '../row.js';

const siemKinds = ['splunk_hec', 'elasticsearch', 'sentinel', 'syslog', 'cef', 'webhook'] as const;

const SiemConnector = Type.Object(
  {
    name: Shaped('^[a-z0-9][a-z0-9_-]{0,63}$', 'write small letters, digits, _ and -'),
    kind: Type.Unsafe<(typeof siemKinds)[number]>({ type: 'string', enum: [...siemKinds] }),
    enabled: Flag(true),
    target: Shaped('^(https?|tcp|tls|udp)://[^\\s@]+$', 'write a URL, or tcp://, tls:// or udp:// with host and port', {
      minLength: 1,
      maxLength: 2048,
      description: 'URL, or tcp://, tls:// or udp:// host and port for syslog and CEF',
      'x-url': 'webhook',
    }),
    token: Secret(),
    index: Line(200),
    options: Type.Record(Type.String({ pattern: '^[a-z][a-z0-9_]{0,63}$' }), Type.String({ maxLength: 1000 }), {
      default: {},
      maxProperties: 20,
      'x-named-secrets': true,
    }),
  },
  closed,
);

export const governanceRows = {
  pii_detect: setting(Flag(true), {
    access: 'admin',
    reach: ['data', 'control'],
    enforcedBy: 'proxy/observation/observe-finished.ts',
    description: 'flag personal data in requests and responses: kinds and places in the inventory, never values',
  }),
  pii_mask: setting(Flag(false), {
    access: 'admin',
    reach: ['data'],
    enforcedBy: 'proxy/response-mask/reply-mask.ts',
    description:
      'mask card numbers in text answers of protected sites at their length, but for the last four digits; signed, ' +
      'partial (206) and binary answers and streams of events stay as they are',
  }),

  ti_tor_enabled: setting(Flag(false), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/threat-intel/feeds.ts',
    description: 'refuse exit nodes of anonymity networks',
  }),
  ti_feed_url: setting(HttpUrl(), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/threat-intel/feeds.ts',
    description: 'list of bad addresses, one a line or JSON',
  }),
  ti_feed_interval_hours: setting(Whole(1, 720, 24), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/threat-intel/feeds.ts',
    description: 'how often the list is fetched',
    unit: 'hours',
  }),
  mrf_enabled: setting(Flag(false), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/managed-feed/refresh.ts',
    description: 'managed rule and reputation feed',
  }),
  mrf_url: setting(HttpUrl(), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/managed-feed/refresh.ts',
    description: 'feed; empty uses the bundled baseline',
  }),
  mrf_interval_hours: setting(Whole(1, 720, 24), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/managed-feed/refresh.ts',
    description: 'how often the feed is fetched',
    unit: 'hours',
  }),

  retention_requests_days: setting(Whole(1, 3650, 30), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/retention/job.ts',
    description: 'requests and verdict history are kept this long',
    unit: 'days',
  }),
  retention_embedded_gigabytes: setting(Whole(0, 100_000, 10), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/retention/job.ts',
    description:
      'the embedded database stays below this size: the oldest days of requests and events go first; 0 = no bound. ' +
      'PostgreSQL is not bounded',
    unit: 'GB',
  }),
  retention_audit_days: setting(Whole(1, 36_500, 365), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/retention/job.ts',
    description: 'audit entries are kept this long',
    unit: 'days',
  }),

  event_share_links: setting(Flag(true), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/event-shares/routes.ts',
    description:
      'operators may make links to single events that open without a login, for 30 days at most; off: none can be ' +
      'made, and those that exist do not open',
  }),

  backup_every_hours: setting(Whole(0, 744, 0), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/backup/schedule/job.ts',
    description:
      'how often the control plane makes a backup and reads it back, to the place that BACKUP_TO names; 0 = never',
    unit: 'hours',
  }),
  backup_keep: setting(Whole(1, 1000, 14), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/backup/schedule/job.ts',
    description: 'so many of the newest backups stay at that place; older ones are removed after each new one',
  }),
  backup_encrypt: setting(Flag(true), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/backup/schedule/job.ts',
    description: 'seal backups whole, not only the secrets in them, for the key of BACKUP_RECIPIENT',
  }),

  policy_block_pwned: setting(Flag(true), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/auth/new-password.ts',
    description:
      'refuse passwords that a range service knows from breaches; the embedded list of common passwords applies always',
  }),
  policy_password_min_length: setting(Whole(8, 128, 12), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/auth/new-password.ts',
    description: 'shortest password',
    unit: 'characters',
  }),
  policy_password_min_classes: setting(Whole(0, 4, 0), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/auth/new-password.ts',
    description: 'kinds of characters a password mixes',
    unit: 'kinds',
  }),
  policy_session_ttl_minutes: setting(Whole(5, 43_200, 480), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/auth/login.ts',
    description: 'a login lasts this long',
    unit: 'minutes',
  }),
  policy_session_idle_minutes: setting(Whole(1, 43_200, 60), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/auth/guard.ts',
    description: 'a login ends after this long without a request',
    unit: 'minutes',
  }),
  policy_lockout_threshold: setting(Whole(3, 100, 5), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/auth/login.ts',
    description: 'wrong passwords before an account is locked for a source address',
    unit: 'attempts',
  }),
  policy_lockout_minutes: setting(Whole(1, 1440, 15), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/auth/login.ts',
    description: 'longest lock',
    unit: 'minutes',
  }),
  policy_2fa_required_admin: setting(Flag(false), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/auth/guard.ts',
    description: 'administrators have to use two-factor authentication',
  }),

  siem_connectors: setting(Type.Array(SiemConnector, { maxItems: 20, default: [] }), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/siem/connector.ts',
    description: 'where security events go',
  }),
  siem_webhook_url: setting(HttpUrl('webhook'), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/siem/connector.ts',
    description: 'one webhook for every security event (older form)',
  }),
  sso_enabled: setting(Flag(false), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/sso/routes.ts',
    description: 'login through an OpenID Connect provider',
  }),
  sso_issuer: setting(HttpUrl('plain'), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/sso/provider.ts',
    description: 'issuer; its discovery document is read from there',
  }),
  sso_client_id: setting(Line(512), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/sso/provider.ts',
    description: 'client id',
  }),
  sso_client_secret: setting(Secret(), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/sso/provider.ts',
    description: 'client secret',
  }),
  sso_redirect_uri: setting(HttpUrl('plain'), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/sso/provider.ts',
    description: 'ends with /api/sso/callback, at the dashboard origin',
  }),
  sso_default_role: setting(Choice(['viewer', 'operator'], 'viewer'), {
    access: 'admin',
    reach: ['control'],
    enforcedBy: 'api/sso/provision.ts',
    description: 'role of users who log in for the first time; never administrator',
  }),
  sso_allowed_domain: setting(
    Type.String({ maxLength: 253, default: '', pattern: '^([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?)?$' }),
    {
      access: 'admin',
      reach: ['control'],
      enforcedBy: 'api/sso/provision.ts',
      description: 'e-mail domain that may log in; empty allows all the provider verifies',
    },
  ),
};
