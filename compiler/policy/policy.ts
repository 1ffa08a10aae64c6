// Settings → Policy → rule text. A Policy is what the settings mean for a given rule set; rendering it cannot fail.
//
// Order of the sources (it is the order in which rules are heard):
//   engine        body access, limits, body processors                       200000–200011
//   crs-setup     levels, thresholds, allowed methods and types              900000–900990
//   sites         what policies of sites want otherwise                     1008000–1008999
//   rule-excl.    single rules that leave something alone                   1009500–1009999
//   exclusions    categories that do not run on some paths                   1009000–1009499
//   custom/allow  custom rules that prepare the CRS or let requests through  1000000–1005999
//   CRS           plugins before, rules/*.conf, plugins after
//   second op.    what values look like that no rule scores                1006600–1006603
//   conclusion    what an older generation of the CRS does not do by itself    (generations.ts)
//   categories    SecRuleRemoveByTag of what is switched off
//   custom        the other custom rules                                     1000000–1005999
//   patches       virtual patches                                            1007000–1007999
// 1006xxx (threat intelligence) and 1010000 upwards (endpoint authorisation) are reserved for their own sources.
import {
  categoryKeys,
  ruleIdRanges,
  sitePoliciesOf,
  type CategoryKey,
  type RuleSettings,
  type SitePolicy,
} from '#settings';
import { Diagnostics, type Diagnostic } from '../diagnostics/diagnostics.js';
import type { SourceText } from '../text/source.js';
import { checkRuleExclusions, renderCustomRules, renderVirtualPatches } from './custom-rules.js';
import type { CoreRuleSet } from './crs.js';
import { renderCrsSetup, renderEngineConfig } from './engine-config.js';
import { listExclusions, renderDisabledCategories, renderExclusions, type CategoryExclusion } from './exclusions.js';
import { renderUnreadablePaths } from './paths/path-conditions.js';
import { renderRuleExclusions, type ScopedExclusion } from './rule-exclusions.js';
import { renderSecondOpinion, wantsSecondOpinion } from './second-opinion/evidence-rules.js';
import { categoryTags } from './settings.js';
import { disabledForAll, renderSitePolicies, siteGroupsMax, SiteGates, type ScopedText } from './site-policies.js';

export interface Policy {
  readonly settings: RuleSettings;
  readonly crs: CoreRuleSet;
  readonly exclusions: readonly CategoryExclusion[];
  /** What sites want otherwise; empty: all have the same. */
  readonly sitePolicies: readonly SitePolicy[];
  /** Categories that no site has. */
  readonly disabled: readonly CategoryKey[];
  /** Custom rules before and behind the CRS, and virtual patches. */
  readonly before: readonly ScopedText[];
  readonly after: readonly ScopedText[];
  readonly patches: readonly ScopedText[];
}

export interface PolicyResult {
  /** null when there is an error. */
  readonly policy: Policy | null;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Checks settings that fit their schema against the rule set, and their rules by compiling them. Never throws; problems
 * carry JSON pointers.
 */
export function resolvePolicy(settings: RuleSettings, crs: CoreRuleSet): PolicyResult {
  const diagnostics = new Diagnostics();
  const { policies: sitePolicies } = sitePoliciesOf(settings);
  const disabled =
    sitePolicies.length > 0
      ? disabledForAll(sitePolicies)
      : categoryKeys.filter((key) => !settings.categories[key].enabled);
  const exclusions = listExclusions(settings, disabled, sitePolicies);
  const [from, to] = ruleIdRanges.categoryExclusions;
  if (exclusions.length > to - from + 1)
    diagnostics.reportSetting('GH-C7001', `has more than ${to - from + 1} excluded paths`, '/categories');
  for (const key of categoryKeys) {
    for (const tag of categoryTags[key])
      if (!crs.tags.has(tag) && !crs.generation.lacks.has(tag))
        diagnostics.reportSetting('GH-C7004', `the rule set has no rule with the tag ${tag}`, `/categories/${key}`);
  }
  const custom = renderCustomRules(settings.custom_rules, diagnostics);
  checkRuleExclusions(settings.rule_exclusions, diagnostics);
  const patches = renderVirtualPatches(settings.virtual_patches, diagnostics);
  if ([custom.before, custom.after, patches].reduce((sum, list) => sum + countGroups(list), 0) > siteGroupsMax)
    diagnostics.reportSetting('GH-C7001', `are for more than ${siteGroupsMax} groups of sites`, '/custom_rules');
  const policy: Policy = { settings, crs, exclusions, sitePolicies, disabled, ...custom, patches };
  return { policy: diagnostics.hasErrors ? null : policy, diagnostics: diagnostics.list };
}

const countGroups = (rules: readonly ScopedText[]): number =>
  new Set(rules.map(({ sites }) => JSON.stringify([...sites].sort()))).size;

/**
 * The ordered sources for `compileProgram`; empty ones are left out. CRS files keep their paths, so that their data
 * files are found. `tried`: exclusions that are not in the settings (yet).
 */
export function renderPolicy(policy: Policy, tried: readonly ScopedExclusion[] = []): SourceText[] {
  const { settings, crs, exclusions, sitePolicies, disabled } = policy;
  const gates = new SiteGates(sitePolicies);
  const excluded = [...settings.rule_exclusions, ...tried];
  const own = (name: string, text: string): SourceText[] =>
    text === '' ? [] : [{ path: `gatehouse/${name}.conf`, text: crs.generation.translate(text) }];
  return [
    ...own('engine', renderEngineConfig(settings, sitePolicies)),
    ...own('crs-setup', renderCrsSetup(settings, crs.setupVersion)),
    ...own('site-policies', renderSitePolicies(sitePolicies)),
    // a ctl holds for the rules behind it
    ...own('rule-exclusions', renderRuleExclusions(excluded, sitePolicies, wantsSecondOpinion(settings))),
    ...own('exclusions', exclusions.length === 0 ? '' : renderExclusions(exclusions)),
    ...own('custom-allow', gates.render(policy.before)),
    ...crs.pluginsBefore,
    ...crs.rules,
    ...crs.pluginsAfter,
    ...own('second-opinion', renderSecondOpinion(settings)),
    ...own('crs-conclusion', crs.generation.conclude(settings, sitePolicies)),
    ...own('categories', disabled.length === 0 ? '' : renderDisabledCategories(disabled)),
    ...own('path-readings', renderUnreadablePaths(settings.custom_rules, policy.patches)),
    ...own('custom', gates.render(policy.after)),
    ...own('virtual-patches', gates.render(policy.patches)),
  ];
}
