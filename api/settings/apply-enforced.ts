// Which settings the data plane enforces today. ONE table: a field that is not in it is accepted, stored, and named as
// `not_enforced_yet` by every apply that finds it changed from its default. Whoever builds an enforcement adds its row.
import type { SettingName } from './schema.js';

export const enforcedSettings = {
  mode: 'compiler/policy: SecRuleEngine, and the proxy’s mode',
  paranoia_level: 'compiler/policy: CRS set-up',
  inbound_threshold: 'compiler/policy: CRS set-up',
  outbound_threshold: 'compiler/policy: CRS set-up',
  categories: 'compiler/policy: removal by tag and by path',
  custom_rules: 'compiler/policy: rules of their own',
  virtual_patches: 'compiler/policy: texts of the catalogue',
  rule_exclusions: 'compiler/policy: run-time exclusions before the rule set',
  sites: 'proxy/config: routing, mode and fail mode per site',
  rl_trust_proxy: 'proxy/config: whose X-Forwarded-For is believed',
  rl_trusted_proxies: 'proxy/config: whose X-Forwarded-For is believed',
  flood_read_body: 'proxy/config: time between two pieces of a request body, when flood_timeouts_enabled is on',
  limits: 'proxy/config: sizes, enforced where contract.ts says what is beyond each',
  timeouts: 'proxy/config: waiting times',
  accept_request_id: 'proxy/config: X-Request-Id of trusted proxies',
  audit_request_body_bytes_max: 'proxy/config: bodies in the audit log of a node',
  replay_sampling: 'proxy/config: which ordinary requests are kept for replays',
  // the control plane itself enforces these; nothing has to reach the data plane
  retention_requests_days: 'api/jobs',
  retention_audit_days: 'api/jobs',
  policy_block_pwned: 'api/auth',
  policy_password_min_length: 'api/auth',
  policy_password_min_classes: 'api/auth',
  policy_session_ttl_minutes: 'api/auth',
  policy_session_idle_minutes: 'api/auth',
  policy_lockout_threshold: 'api/auth',
  policy_lockout_minutes: 'api/auth',
  policy_2fa_required_admin: 'api/auth',
  sso_enabled: 'api/auth',
  sso_issuer: 'api/auth',
  sso_client_id: 'api/auth',
  sso_client_secret: 'api/auth',
  sso_redirect_uri: 'api/auth',
  sso_default_role: 'api/auth',
  sso_allowed_domain: 'api/auth',
} as const satisfies Partial<Record<SettingName, string>>;

export const enforcedNames: ReadonlySet<SettingName> = new Set(Object.keys(enforcedSettings) as SettingName[]);
