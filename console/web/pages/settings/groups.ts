// Which setting stands on which page. Every setting of the schema has a place: what no group names is under "Other",
// so that a new one is never missing.
import { settingsText as text } from '../../texts/settings.js';

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
  group('sites', text.sites, text.whatProtectedWhereAnswers, /^sites$/),
  group(
    'rules',
    text.ruleSet,
    text.howOwaspCoreRule,
    /^(mode|paranoia_|(in|out)bound_|categories|allowed_|early_|re(quest|sponse)_|restricted_|xml_|profile|second)/,
  ),
  group('exclusions', text.exclusions, text.rulesAreLeftOut, /^rule_exclusions$/),
  group('https', text.https, text.certificatesRedirects, /^(https_|hsts_|acme_)/),
  group('proxies', text.proxiesFront, text.whoseWordTakenFor, /^(rl_trust|accept_request_id|proxy_protocol)/),
  group('limits', text.limits, text.sizesWaitingTimesData, /^(limits|timeouts|ws_|upstream)/),
  group('rates', text.ratesFloods, text.howMuchClientMay, /^(rl_|endpoint_limits|flood_|attack_|challenge_)/),
  group('bots', text.bots, text.programsPretendBePeople, /^bot_/),
  group('auth', text.siteAuthentication, text.whoMayReachProtected, /^auth_/),
  group('api', text.apiSecurity, text.schemasAbuseObjectsFunctions, /^(api_|schema_|graphql_)/),
  group('engine', text.detectionEngine, text.oneVerdictFromSeveral, /^(ai_|self_test_)/),
  group('privacy', text.privacy, text.whatKeptRequestsWhat, /^(privacy_|pii_|audit_|replay_|event_share)/),
  group('feeds', text.feeds, text.addressesRulesFromElsewhere, /^(ti_|mrf_)/),
  group('retention', text.retention, text.howLongRecordsStay, /^(retention_|storage_|backup_)/),
  group('logins', text.logins, text.passwordsSessionsSingleSign, /^(policy_|sso_)/),
  group('delivery', text.delivery, text.whereEventsAreSent, /^siem_/),
  group('telemetry', text.telemetry, text.tracesMetricsCollector, /^otel_/),
  group('vulnerabilities', text.vulnerabilities, text.whichChainsAreMade, /^vm_/),
];

export const other: SettingGroup = group('other', text.other, text.everythingElse, /^/);

/** Settings with pages of their own; the form would be a poor copy. */
export const elsewhere: ReadonlySet<string> = new Set(['custom_rules', 'virtual_patches']);

export function groupOf(name: string): SettingGroup | null {
  if (elsewhere.has(name)) return null;
  return groups.find(({ names }) => names.test(name)) ?? other;
}
