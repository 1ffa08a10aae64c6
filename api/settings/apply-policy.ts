// The settings people edit → what the compiler takes (rules) and what the data plane takes (everything else). Pure and
// deterministic: the configuration of an older version can be made again from its settings, so it is stored nowhere
// (it may one day hold secrets).
import type { WafSettings } from '#compiler';
import { defaultLimits, defaultTimeouts, type ProxyConfig, type SiteConfig } from '#proxy/contract';
import type { ApplyDiagnostic } from './contract.js';
import { parseWindow } from './schema/field.js';
import type { Settings } from './schema.js';

export interface Upstreams {
  readonly customer: string;
  readonly payment: string;
}

/** Text of the catalogue's rule for a CVE under the given id; null when the catalogue has none. */
export type FindVirtualPatch = (cve: string, id: number) => { readonly name: string; readonly text: string } | null;

export interface PolicySettings {
  readonly waf: Partial<WafSettings>;
  readonly problems: readonly ApplyDiagnostic[];
}

const actions = { block: 'block', deny: 'block', allow: 'allow', log: 'log', pass: 'log' } as const;

export function settingProblem(path: string, message: string): ApplyDiagnostic {
  return { severity: 'error', code: 'GH-A0001', message, file: 'settings', line: 1, column: 1, excerpt: '', path, hint: 'Mend the setting and apply again.' };
}

/** Indices of lists stay as they are, so that the compiler's JSON pointers fit the settings. */
export function toWafSettings(settings: Settings, findVirtualPatch: FindVirtualPatch): PolicySettings {
  const problems: ApplyDiagnostic[] = [];
  const categories = Object.fromEntries(Object.entries(settings.categories).map(([key, category]) => [key, { enabled: category.enabled, excluded_paths: category.path_exclusions }])) as unknown as WafSettings['categories'];
  const customRules = settings.custom_rules.map((rule): WafSettings['custom_rules'][number] => {
    const head = { id: rule.id, name: rule.name, enabled: rule.enabled };
    if (rule.kind === 'raw') return { kind: 'raw', ...head, text: rule.seclang };
    return { kind: 'visual', ...head, variable: rule.variable, operator: rule.operator, value: rule.value, action: actions[rule.action], phase: rule.phase as 1 | 2 | 3 | 4 | 5, transformations: [], redirect_url: '' };
  });
  const patches = settings.virtual_patches.map((patch, index) => {
    const found = findVirtualPatch(patch.cve, patch.id);
    if (found === null && patch.enabled) problems.push(settingProblem(`/virtual_patches/${index}/cve`, `the catalogue has no virtual patch for ${patch.cve}`));
    return { id: patch.id, name: found?.name ?? patch.cve, enabled: patch.enabled && found !== null, text: found?.text ?? '' };
  });
  const { mode, paranoia_level, inbound_threshold, outbound_threshold } = settings;
  return { waf: { mode, paranoia_level: paranoia_level as 1 | 2 | 3 | 4, inbound_threshold, outbound_threshold, categories, custom_rules: customRules, virtual_patches: patches }, problems };
}

/** The compiler's pointer, in the names of our settings. */
export function toSettingsPointer(path: string): string {
  return path.replace(/^(\/custom_rules\/\d+)\/text$/, '$1/seclang').replace(/^(\/virtual_patches\/\d+)\/text$/, '$1/cve').replace(/^(\/categories\/[^/]+)\/excluded_paths/, '$1/path_exclusions');
}

const plain = { host: null, protected: true, failMode: 'closed', mode: null, hostPolicy: 'preserve', verifyUpstreamCertificate: true } as const;

/** Sites and limits for the data plane. It checks them again at its own door; what it refuses is answered as its refusal. */
export function toProxyConfig(settings: Settings, upstreams: Upstreams): ProxyConfig {
  const demo: SiteConfig[] = [
    { name: 'customer', prefix: '/', upstream: upstreams.customer, ...plain },
    { name: 'payment', prefix: '/payment', upstream: upstreams.payment, ...plain },
  ];
  const sites = settings.sites.map((site): SiteConfig => ({
    name: site.name, prefix: site.prefix, host: site.host?.toLowerCase() ?? null, upstream: site.upstream, protected: site.protected, failMode: site.fail_mode,
    mode: site.mode, hostPolicy: site.host_policy, verifyUpstreamCertificate: site.verify_upstream_certificate,
  }));
  const seconds = (window: string): number => (parseWindow(window) ?? 0) * 1000;
  const timeouts = settings.flood_timeouts_enabled
    ? { ...defaultTimeouts, clientHeadMs: seconds(settings.flood_read_header), clientBodyIdleMs: seconds(settings.flood_read_body), clientIdleMs: seconds(settings.flood_idle) }
    : defaultTimeouts;
  return {
    mode: settings.mode,
    sites: sites.length > 0 ? sites : demo,
    limits: defaultLimits,
    timeouts,
    trustedProxies: settings.rl_trust_proxy ? settings.rl_trusted_proxies : [],
    acceptRequestId: false,
    auditRequestBodyBytesMax: 0,
  };
}

/** What the data plane's configuration does not take although the schema does, with the place in the settings. */
export function checkSites(settings: Settings): ApplyDiagnostic[] {
  return settings.sites.flatMap((site, index) => {
    const found: ApplyDiagnostic[] = [];
    if (/[%\\]|\/\/|\/\.{1,2}(\/|$)/.test(site.prefix)) found.push(settingProblem(`/sites/${index}/prefix`, `"${site.prefix}" is not a plain path: leave out "%", "\\", "//" and dot segments`));
    if (site.host?.startsWith('*') === true) found.push(settingProblem(`/sites/${index}/host`, 'a site answers for one host or, with null, for any; patterns are not served'));
    const url = new URL(site.upstream);
    if (url.search !== '' || url.hash !== '') found.push(settingProblem(`/sites/${index}/upstream`, 'has a query or a fragment; remove everything from "?" or "#" on'));
    return found;
  });
}
