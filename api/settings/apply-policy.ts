// The settings people edit → what the compiler takes (rules) and what the data plane takes (everything else). Pure and
// deterministic: the configuration of an older version can be made again from its settings, so it is stored nowhere
// (it may one day hold secrets).
import { exclusionTagPattern, exclusionTargetPattern, type WafSettings } from '#compiler';
import { chooseSelfTest, resolveProxyConfig, type ProxyConfig } from '#proxy/contract';
import type { PolicyInput } from './apply-messages.js';
import type { ApplyDiagnostic } from './contract.js';
import { parseWindow } from './schema/field.js';
import type { Settings } from './schema.js';

export interface Upstreams {
  readonly customer: string;
  readonly payment: string;
}

/** Text of the catalogue's rule for a CVE under the given id; null when the catalogue has none. */
export type FindVirtualPatch = (cve: string, id: number) => { readonly name: string; readonly text: string } | null;

type CompilerRule = WafSettings['custom_rules'][number];

export interface PolicySettings extends PolicyInput {
  readonly problems: readonly ApplyDiagnostic[];
}

const actions = { block: 'block', deny: 'block', allow: 'allow', log: 'log', pass: 'log' } as const;

function settingProblem(path: string, message: string): ApplyDiagnostic {
  return { severity: 'error', code: 'GH-A0001', message, file: 'settings', line: 1, column: 1, excerpt: '', path, hint: 'Mend the setting and apply again.' };
}

/** A custom rule of the settings in the compiler's words. */
export function toCompilerRule(rule: Settings['custom_rules'][number]): CompilerRule {
  const head = { id: rule.id, name: rule.name, enabled: rule.enabled };
  if (rule.kind === 'raw') return { kind: 'raw', ...head, text: rule.seclang };
  return { kind: 'visual', ...head, variable: rule.variable, operator: rule.operator, value: rule.value, action: actions[rule.action], phase: rule.phase as 1 | 2 | 3 | 4 | 5, transformations: [], redirect_url: '' };
}

/** Indices of lists stay as they are, so that the compiler's JSON pointers fit the settings. */
export function toPolicyInput(settings: Settings, findVirtualPatch: FindVirtualPatch): PolicySettings {
  const problems: ApplyDiagnostic[] = [];
  const categories = Object.fromEntries(Object.entries(settings.categories).map(([key, category]) => [key, { enabled: category.enabled, excluded_paths: category.path_exclusions }])) as unknown as WafSettings['categories'];
  const patches = settings.virtual_patches.map((patch, index) => {
    const found = findVirtualPatch(patch.cve, patch.id);
    if (found === null && patch.enabled) problems.push(settingProblem(`/virtual_patches/${index}/cve`, `the catalogue has no virtual patch for ${patch.cve}`));
    return { id: patch.id, name: found?.name ?? patch.cve, enabled: patch.enabled && found !== null, text: found?.text ?? '' };
  });
  const { mode, paranoia_level, inbound_threshold, outbound_threshold } = settings;
  return { waf: { mode, paranoia_level: paranoia_level as 1 | 2 | 3 | 4, inbound_threshold, outbound_threshold, categories, custom_rules: settings.custom_rules.map(toCompilerRule), virtual_patches: patches }, exclusions: settings.rule_exclusions.filter(({ enabled }) => enabled), problems: [...problems, ...checkExclusions(settings)] };
}

/** The schema knows their shape; whether they can be written as a rule is asked here. */
function checkExclusions(settings: Settings): ApplyDiagnostic[] {
  return settings.rule_exclusions.flatMap(({ enabled, target, tag, expires_at }, index) => {
    if (!enabled) return [];
    const at = `/rule_exclusions/${index}`;
    const found: ApplyDiagnostic[] = [];
    if (target !== null && !exclusionTargetPattern.test(target)) found.push(settingProblem(`${at}/target`, 'must be a variable such as ARGS:comment or REQUEST_HEADERS:User-Agent'));
    if (tag !== null && !exclusionTagPattern.test(tag)) found.push(settingProblem(`${at}/tag`, 'must be a tag of the rule set'));
    if (expires_at !== null && Number.isNaN(Date.parse(expires_at))) found.push(settingProblem(`${at}/expires_at`, 'is a moment that does not exist'));
    return found;
  });
}

/** The compiler's pointer, in the names of our settings. */
export function toSettingsPointer(path: string): string {
  return path.replace(/^(\/custom_rules\/\d+)\/text$/, '$1/seclang').replace(/^(\/virtual_patches\/\d+)\/text$/, '$1/cve').replace(/^(\/categories\/[^/]+)\/excluded_paths/, '$1/path_exclusions');
}

/** `sites[0].prefix` → `/sites/0/prefix`. */
const toPointer = (path: string): string => `/${path.replace(/\[(\d+)\]/g, '/$1').replaceAll('.', '/')}`.replace(/^\/$/, '');

export interface ProxySettings {
  /** null when there are problems. */
  readonly config: ProxyConfig | null;
  readonly problems: readonly ApplyDiagnostic[];
}

/** Sites, trusted proxies, sizes and waiting times for the data plane, by its own resolver: one meaning of a site in the whole house. */
export function toProxyConfig(settings: Settings, upstreams: Upstreams): ProxySettings {
  const milliseconds = (window: string): number => (parseWindow(window) ?? 0) * 1000;
  const { mode, sites, rl_trust_proxy, rl_trusted_proxies, limits, accept_request_id, audit_request_body_bytes_max, replay_sampling, privacy_mode } = settings;
  const flood = settings.flood_timeouts_enabled ? { client_head_ms: milliseconds(settings.flood_read_header), client_body_idle_ms: milliseconds(settings.flood_read_body), client_idle_ms: milliseconds(settings.flood_idle) } : {};
  const { config, problems } = resolveProxyConfig({ mode, sites, rl_trust_proxy, rl_trusted_proxies, limits, timeouts: { ...settings.timeouts, ...flood }, accept_request_id, audit_request_body_bytes_max, replay_sampling, privacy_mode }, upstreams);
  return { config, problems: problems.map(({ path, message, mend }) => ({ ...settingProblem(toPointer(path), message), hint: mend })) };
}

/** For settings that served once: what was possible then is possible now, so anything else is a bug. */
export function requireProxyConfig(settings: Settings, upstreams: Upstreams): ProxyConfig {
  const { config, problems } = toProxyConfig(settings, upstreams);
  if (config === null) throw new Error(`settings that were active are not possible for the data plane: ${problems.map(({ path, message }) => `${path} ${message}`).join('; ')}`);
  return config;
}

export function selfTestOf({ categories: { sqli }, inbound_threshold }: Settings): 'inspect' | 'skip' {
  return chooseSelfTest({ isSqliOn: sqli.enabled, sqliExclusions: sqli.path_exclusions.length, inboundThreshold: inbound_threshold });
}
