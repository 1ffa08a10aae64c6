// Sites that want other rules than the installation → policies: the distinct combinations of what they want. A policy
// has a key made of its content, so that the compiler and a data-plane node, which both work it out from the same
// settings, mean the same by it, and so that a site more or less of the same kind changes nothing.
import { createHash } from 'node:crypto';
import { categoryKeys, type CategoryKey } from './rows/categories.js';
import type { siteRules } from './rows/site-rules.js';
import { basePolicy, strictPolicy } from './rows/words.js';
import type { Settings } from './table.js';

type SiteRuleName = keyof typeof siteRules;
/** What of a site bears on rules. */
export type RulesOfSite = Pick<Settings['sites'][number], 'name' | SiteRuleName>;

/** What policies are made from: settings, or what of them becomes rules. */
export type PolicySettings = Pick<Settings, SiteRuleName | 'custom_rules' | 'rule_exclusions' | 'virtual_patches'> & {
  readonly sites: readonly RulesOfSite[];
};

export interface SitePolicy {
  /** What TX.gatehouse_policy says: `base`, `strict`, or `p` and ten hexadecimal digits. */
  readonly key: string;
  readonly paranoia_level: number;
  readonly inbound_threshold: number;
  readonly outbound_threshold: number;
  readonly early_blocking: boolean;
  readonly disabled: readonly CategoryKey[];
  /** Paths where categories are off; a category without any is left out. */
  readonly path_exclusions: Readonly<Partial<Record<CategoryKey, readonly string[]>>>;
  readonly allowed_methods: readonly string[];
  readonly allowed_content_types: readonly string[];
  readonly restricted_headers: readonly string[];
  /** null: the list of the rule set. */
  readonly restricted_extensions: readonly string[] | null;
  readonly request_body_limit_bytes: number;
  /** 0: bodies of responses are left alone; then there are no types either. */
  readonly response_body_limit_bytes: number;
  readonly response_body_types: readonly string[];
  /** Ids of the rules, patches and exclusions for some sites that are for those of this policy. */
  readonly scoped: readonly number[];
}

/** More would make the artifact large and the compile long. */
export const sitePoliciesMax = 100;

export interface SitePolicies {
  /** Empty where no site wants anything of its own; else the base first and the strict one last. */
  readonly policies: readonly SitePolicy[];
  /** By the site's name; a site that is not in it has the base. */
  readonly ofSite: ReadonlyMap<string, string>;
}

const isForSome = ({ sites, enabled }: { readonly sites: readonly string[]; readonly enabled: boolean }): boolean =>
  enabled && sites.length > 0;

/** Bodies of responses are looked at where there are both a limit and a type. */
function responseBodies(bytes: number, types: readonly string[]) {
  return bytes === 0 || types.length === 0
    ? { response_body_limit_bytes: 0, response_body_types: [] }
    : { response_body_limit_bytes: bytes, response_body_types: types };
}

/** Sorted, so that lists that mean the same are the same policy. */
function pathExclusions(settings: PolicySettings, site: RulesOfSite | null): SitePolicy['path_exclusions'] {
  const lists = categoryKeys.map((key) => {
    const paths = site?.categories?.[key]?.path_exclusions ?? settings.categories[key].path_exclusions;
    return [key, [...new Set(paths)].sort()] as const;
  });
  return Object.fromEntries(lists.filter(([, paths]) => paths.length > 0));
}

/** What a site has, of its own or of the installation; null: of everything else. */
export function contentOfSite(settings: PolicySettings, site: RulesOfSite | null): Omit<SitePolicy, 'key'> {
  const isEnabled = (key: CategoryKey): boolean => site?.categories?.[key]?.enabled ?? settings.categories[key].enabled;
  const rules = [...settings.custom_rules, ...settings.rule_exclusions, ...settings.virtual_patches];
  const scoped = site === null ? [] : rules.filter((rule) => isForSome(rule) && rule.sites.includes(site.name));
  return {
    paranoia_level: site?.paranoia_level ?? settings.paranoia_level,
    inbound_threshold: site?.inbound_threshold ?? settings.inbound_threshold,
    outbound_threshold: site?.outbound_threshold ?? settings.outbound_threshold,
    early_blocking: site?.early_blocking ?? settings.early_blocking,
    disabled: categoryKeys.filter((key) => !isEnabled(key)),
    path_exclusions: pathExclusions(settings, site),
    allowed_methods: site?.allowed_methods ?? settings.allowed_methods,
    allowed_content_types: site?.allowed_content_types ?? settings.allowed_content_types,
    restricted_headers: site?.restricted_headers ?? settings.restricted_headers,
    restricted_extensions: site?.restricted_extensions ?? settings.restricted_extensions,
    request_body_limit_bytes: site?.request_body_limit_bytes ?? settings.request_body_limit_bytes,
    ...responseBodies(
      site?.response_body_limit_bytes ?? settings.response_body_limit_bytes,
      site?.response_body_types ?? settings.response_body_types,
    ),
    scoped: scoped.map(({ id }) => id),
  };
}

const inAll = (lists: readonly (readonly string[])[]): string[] =>
  (lists[0] ?? []).filter((one) => lists.every((list) => list.includes(one)));
const inAny = (lists: readonly (readonly string[])[]): string[] => [...new Set(lists.flat())];

/** Paths that no policy wants a category for; one that has it off wants it nowhere. */
function excludedByAll(policies: readonly SitePolicy[]): SitePolicy['path_exclusions'] {
  const shared = categoryKeys.map((key) => {
    const on = policies.filter(({ disabled }) => !disabled.includes(key));
    return [key, inAll(on.map(({ path_exclusions: paths }) => paths[key] ?? []))] as const;
  });
  return Object.fromEntries(shared.filter(([, paths]) => paths.length > 0));
}

/** At least as strict as each of the others; what lets requests through for some sites is not in it. */
function strictestOf(policies: readonly SitePolicy[], settings: PolicySettings): SitePolicy {
  const of = <Name extends keyof SitePolicy>(name: Name): SitePolicy[Name][] => policies.map((one) => one[name]);
  const extensions = of('restricted_extensions');
  const blocking = [
    ...settings.custom_rules.filter(({ action }) => action !== 'allow'),
    ...settings.virtual_patches,
  ].filter(isForSome);
  return {
    key: strictPolicy,
    paranoia_level: Math.max(...of('paranoia_level')),
    inbound_threshold: Math.min(...of('inbound_threshold')),
    outbound_threshold: Math.min(...of('outbound_threshold')),
    early_blocking: of('early_blocking').includes(true),
    disabled: inAll(of('disabled')) as CategoryKey[],
    path_exclusions: excludedByAll(policies),
    allowed_methods: inAll(of('allowed_methods')),
    allowed_content_types: inAll(of('allowed_content_types')),
    restricted_headers: inAny(of('restricted_headers')),
    restricted_extensions: extensions.some((list) => list === null) ? null : inAny(extensions as (readonly string[])[]),
    request_body_limit_bytes: Math.min(...of('request_body_limit_bytes')),
    response_body_limit_bytes: Math.max(...of('response_body_limit_bytes')),
    response_body_types: inAny(of('response_body_types')),
    scoped: blocking.map(({ id }) => id),
  };
}

/**
 * What a key is made of. Fields that came later count only where they are not the base's, so that the keys of settings
 * without them stay those of artifacts that an earlier release compiled: a node may get such an artifact together with
 * a configuration of today, and a key that the artifact does not know would mean the base.
 */
function identityOf(content: Omit<SitePolicy, 'key'>, base: Omit<SitePolicy, 'key'>): string {
  const { path_exclusions, response_body_limit_bytes, response_body_types, ...first } = content;
  const later = { path_exclusions, response_body_limit_bytes, response_body_types };
  const own = Object.entries(later).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(base[name as keyof typeof later]),
  );
  return JSON.stringify({ ...first, ...Object.fromEntries(own) });
}

/** `settings` are complete. Pure; the order of policies is that of the first site of each. */
export function sitePoliciesOf(settings: PolicySettings): SitePolicies {
  const base = contentOfSite(settings, null);
  const baseText = identityOf(base, base);
  const policies = new Map<string, SitePolicy>();
  const ofSite = new Map<string, string>();
  for (const site of settings.sites) {
    const content = contentOfSite(settings, site);
    const text = identityOf(content, base);
    if (text === baseText) continue;
    const key = `p${createHash('sha256').update(text).digest('hex').slice(0, 10)}`;
    policies.set(key, { key, ...content });
    ofSite.set(site.name, key);
  }
  if (policies.size === 0) return { policies: [], ofSite };
  const all = [{ key: basePolicy, ...base }, ...policies.values()];
  return { policies: [...all, strictestOf(all, settings)], ofSite };
}
