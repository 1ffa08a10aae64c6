// Settings → Policy → rule text. A Policy is what the settings mean for a given rule set; rendering it cannot fail.
//
// Order of the sources (it is the order in which rules are heard):
//   engine        body access, limits, body processors                       200000–200008
//   crs-setup     levels, thresholds, allowed methods and types              900000–900990
//   rule-excl.    single rules that leave something alone                   1009500–1009999
//   exclusions    categories that do not run on some paths                   1009000–1009499
//   custom/allow  custom rules that let requests through                     1000000–1005999
//   CRS           plugins before, rules/*.conf, plugins after
//   categories    SecRuleRemoveByTag of what is switched off
//   custom        the other custom rules                                     1000000–1005999
//   patches       virtual patches                                            1007000–1007999
// 1006xxx (threat intelligence) and 1010000 upwards (endpoint authorisation) are reserved for their own sources.
import { Diagnostics, type Diagnostic } from '../diagnostics/diagnostics.js';
import type { SourceText } from '../text/source.js';
import { renderCustomRules, renderVirtualPatches } from './custom-rules.js';
import type { CoreRuleSet } from './crs.js';
import { renderCrsSetup, renderEngineConfig } from './engine-config.js';
import { listExclusions, renderDisabledCategories, renderExclusions, type CategoryExclusion } from './exclusions.js';
import { renderRuleExclusions, type ScopedExclusion } from './rule-exclusions.js';
import { categoryKeys, categoryTags, ruleIdRanges, type WafSettings } from './settings.js';
import { validateWafSettings } from './validate.js';

export interface Policy {
  readonly settings: WafSettings;
  readonly crs: CoreRuleSet;
  readonly exclusions: readonly CategoryExclusion[];
  /** Rule text of custom rules before and behind the CRS, and of virtual patches. */
  readonly allowText: string;
  readonly customText: string;
  readonly patchText: string;
}

export interface PolicyResult {
  /** null when there is an error. */
  readonly policy: Policy | null;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Checks settings of any shape (JSON from a file or the API) against the rule set. Never throws; problems carry JSON
 * pointers.
 */
export function resolvePolicy(settings: unknown, crs: CoreRuleSet): PolicyResult {
  const diagnostics = new Diagnostics();
  const valid = validateWafSettings(settings, diagnostics);
  const exclusions = listExclusions(valid);
  const [from, to] = ruleIdRanges.categoryExclusions;
  if (exclusions.length > to - from + 1)
    diagnostics.reportSetting('GH-C7001', `has more than ${to - from + 1} excluded paths`, '/categories');
  for (const key of categoryKeys) {
    for (const tag of categoryTags[key])
      if (!crs.tags.has(tag))
        diagnostics.reportSetting('GH-C7004', `the rule set has no rule with the tag ${tag}`, `/categories/${key}`);
  }
  const custom = renderCustomRules(valid.custom_rules, diagnostics);
  const patchText = renderVirtualPatches(valid.virtual_patches, diagnostics);
  const policy: Policy = {
    settings: valid,
    crs,
    exclusions,
    allowText: custom.before,
    customText: custom.after,
    patchText,
  };
  return { policy: diagnostics.hasErrors ? null : policy, diagnostics: diagnostics.list };
}

/**
 * The ordered sources for `compileProgram`; empty ones are left out. CRS files keep their paths, so that their data
 * files are found. What `ruleExclusions` may hold is for the caller to check: they are written as they are.
 */
export function renderPolicy(policy: Policy, ruleExclusions: readonly ScopedExclusion[] = []): SourceText[] {
  const { settings, crs, exclusions } = policy;
  const isDisabling = categoryKeys.some((key) => !settings.categories[key].enabled);
  const own = (name: string, text: string): SourceText[] =>
    text === '' ? [] : [{ path: `gatehouse/${name}.conf`, text }];
  return [
    ...own('engine', renderEngineConfig(settings)),
    ...own('crs-setup', renderCrsSetup(settings, crs.setupVersion)),
    ...own('rule-exclusions', renderRuleExclusions(ruleExclusions)), // a ctl holds for the rules behind it
    ...own('exclusions', exclusions.length === 0 ? '' : renderExclusions(exclusions)),
    ...own('custom-allow', policy.allowText),
    ...crs.pluginsBefore,
    ...crs.rules,
    ...crs.pluginsAfter,
    ...own('categories', isDisabling ? renderDisabledCategories(settings) : ''),
    ...own('custom', policy.customText),
    ...own('virtual-patches', policy.patchText),
  ];
}
