// Custom rules and virtual patches → rule text, checked by compiling each on its own.
import { ruleIdRanges } from '#settings';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { compileProgram } from '../compile-program.js';
import { checkFormRule } from './forms/check-form.js';
import { checkRuleText, findRuleIds } from './raw-rule.js';
import { renderRuleExclusions, type ScopedExclusion } from './rule-exclusions.js';
import { isSetUp } from './set-up-rules.js';
import type { CustomRule, VirtualPatch } from './settings.js';
import type { ScopedText } from './site-policies.js';

function renderRawRule(
  rule: CustomRule | VirtualPatch,
  range: readonly [number, number],
  path: string,
  diagnostics: Diagnostics,
): string | null {
  const { text, diagnostics: found } = checkRuleText(rule.seclang, range, `rule ${rule.id}`);
  for (const one of found.filter(({ severity }) => severity === 'error')) {
    diagnostics.reportSetting('GH-C7001', `line ${one.line}, column ${one.column}: ${one.message}`, `${path}/seclang`);
  }
  return text;
}

/** Ids that two entries have, told at the second: the text of all rules has other lines than that of an entry. */
function reportSharedIds(rules: readonly CustomRule[], diagnostics: Diagnostics): void {
  const first = new Map<number, number>();
  for (const [index, rule] of rules.entries()) {
    if (!rule.enabled) continue;
    for (const id of new Set(rule.kind === 'raw' ? findRuleIds(rule.seclang) : [rule.id])) {
      const earlier = first.get(id);
      const at = `/custom_rules/${index}/${rule.kind === 'raw' ? 'seclang' : 'id'}`;
      if (earlier === undefined) first.set(id, index);
      else diagnostics.reportSetting('GH-C2002', `the rule id ${id} is used already at /custom_rules/${earlier}`, at);
    }
  }
}

/** Exclusions that cannot be a rule; everything in their text but the target is ours. */
export function checkRuleExclusions(exclusions: readonly ScopedExclusion[], diagnostics: Diagnostics): void {
  for (const [index, exclusion] of exclusions.entries()) {
    if (!exclusion.enabled || exclusion.target === null) continue;
    const checked = checkRuleText(renderRuleExclusions([exclusion]), ruleIdRanges.ruleExclusions, 'exclusion');
    for (const { severity, message } of checked.diagnostics)
      if (severity === 'error') diagnostics.reportSetting('GH-C7001', message, `/rule_exclusions/${index}/target`);
  }
}

export interface RenderedRules {
  /** Rules that prepare the CRS, and those that let requests through, must be heard before it. */
  readonly before: readonly ScopedText[];
  readonly after: readonly ScopedText[];
}

/** Enabled rules as text; everything that cannot be is reported under its JSON pointer. */
export function renderCustomRules(rules: readonly CustomRule[], diagnostics: Diagnostics): RenderedRules {
  const before: ScopedText[] = [];
  const after: ScopedText[] = [];
  reportSharedIds(rules, diagnostics);
  for (const [index, rule] of rules.entries()) {
    if (!rule.enabled) continue;
    const { id, sites } = rule;
    const path = `/custom_rules/${index}`;
    if (rule.kind === 'raw') {
      const text = renderRawRule(rule, ruleIdRanges.custom, path, diagnostics);
      if (text === null) continue;
      const { program } = compileProgram([{ path: `rule ${id}`, text }]);
      (program !== null && isSetUp(text, program) ? before : after).push({ id, text, sites });
      continue;
    }
    const { text, diagnostics: found } = checkFormRule(rule, true);
    for (const one of found.filter(({ severity }) => severity === 'error'))
      diagnostics.reportSetting('GH-C7001', one.message, `${path}${one.path ?? ''}`);
    if (text !== null) (rule.action === 'allow' ? before : after).push({ id, text, sites });
  }
  return { before, after };
}

/** Enabled patches as text; problems are reported under their JSON pointers. */
export function renderVirtualPatches(patches: readonly VirtualPatch[], diagnostics: Diagnostics): ScopedText[] {
  return patches.flatMap((patch, index) => {
    const { id, sites, enabled } = patch;
    if (!enabled) return [];
    const text = renderRawRule(patch, ruleIdRanges.virtualPatches, `/virtual_patches/${index}`, diagnostics);
    return text === null ? [] : [{ id, text, sites }];
  });
}
