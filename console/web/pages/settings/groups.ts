// Which setting stands on which page. Every setting of the schema has a place: what no group names is under "Other",
// so that a new one is never missing.
export interface SettingGroup {
  readonly key: string;
  readonly title: string;
  readonly about: string;
  readonly names: RegExp;
}

const group = (key: string, title: string, about: string, names: RegExp): SettingGroup => ({
  key,
  title,
  about,
  names,
});

/** In the order of the menu; the first that fits has it. */
export const groups: readonly SettingGroup[] = [
  group('sites', 'Sites', 'What is protected, and where it answers. Empty: the bundled demo.', /^sites$/),
  group(
    'rules',
    'Rule set',
    'How the OWASP Core Rule Set inspects. Mode, levels and categories also have a page of their own.',
    /^(mode|paranoia_|(in|out)bound_|categories|allowed_|early_|re(quest|sponse)_body|restricted_|crs_|xml_|profile)/,
  ),
  group('exclusions', 'Exclusions', 'Rules that are left out, where and until when.', /^rule_exclusions$/),
  group('proxies', 'Proxies in front', 'Whose word is taken for a client’s address.', /^(rl_trust|accept_request_id)/),
  group('limits', 'Limits', 'Sizes and waiting times of the data plane.', /^(limits|timeouts|ws_|upstream)/),
  group(
    'rates',
    'Rates and floods',
    'How much a client may ask for.',
    /^(rl_|endpoint_limits|flood_|attack_|challenge_)/,
  ),
  group('bots', 'Bots', 'Programs that pretend to be people.', /^bot_/),
  group('auth', 'Site authentication', 'Who may reach protected paths.', /^auth_/),
  group('api', 'API security', 'Schemas, abuse of objects and functions, GraphQL.', /^(api_|schema_|graphql_)/),
  group('engine', 'Detection engine', 'One verdict from several signals.', /^ai_/),
  group('privacy', 'Privacy', 'What is kept of requests, and what is masked.', /^(privacy_|pii_|audit_|replay_)/),
  group('feeds', 'Feeds', 'Addresses and rules from elsewhere.', /^(ti_|mrf_)/),
  group('retention', 'Retention', 'How long records stay.', /^(retention_|storage_)/),
  group('logins', 'Logins', 'Passwords, sessions, single sign-on.', /^(policy_|sso_)/),
  group('delivery', 'Delivery', 'Where events are sent.', /^siem_/),
];

export const other: SettingGroup = group('other', 'Other', 'Everything else.', /^/);

/** Settings with pages of their own; the form would be a poor copy. */
export const elsewhere: ReadonlySet<string> = new Set(['custom_rules', 'virtual_patches']);

export function groupOf(name: string): SettingGroup | null {
  if (elsewhere.has(name)) return null;
  return groups.find(({ names }) => names.test(name)) ?? other;
}
