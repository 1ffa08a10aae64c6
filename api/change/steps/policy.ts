// The settings people edit → what the compiler takes: the same, with the rules of the catalogue and of the feed in
// their places. Pure. Indices of lists stay as they are, so that the compiler's JSON pointers fit the settings.
import { ruleSettingsOf, type RuleSettings, type Settings } from '#settings';
import { findPatchIn } from '../../vpatch/catalog/index.js';
import type { ApplyDiagnostic } from '../contract.js';
import { withManagedRules, type ManagedRules } from './managed-rules.js';

/** Something wrong with a setting that only becomes visible when it is to be put in force. */
export function settingProblem(
  path: string,
  message: string,
  hint = 'Fix the setting and apply again.',
): ApplyDiagnostic {
  return {
    severity: 'error',
    code: 'GH-A0001',
    message,
    file: 'settings',
    line: 1,
    column: 1,
    excerpt: '',
    path,
    hint,
  };
}

export interface Policy {
  /** What the compiler takes; every virtual patch that is on has its rule. */
  readonly rules: RuleSettings;
  readonly problems: readonly ApplyDiagnostic[];
}

/** `managed`: the rules of the feed that go with these settings. */
export function toPolicy(settings: Settings, managed: ManagedRules): Policy {
  const findPatch = findPatchIn(managed.delivered);
  const problems: ApplyDiagnostic[] = [];
  const virtual_patches = withManagedRules(settings, managed).virtual_patches.map((patch, index) => {
    if (patch.seclang !== '') return patch;
    const found = findPatch(patch.cve, patch.id);
    if (found !== null) return { ...patch, name: found.name, seclang: found.text };
    if (patch.enabled)
      problems.push(
        settingProblem(`/virtual_patches/${index}/cve`, `the catalogue has no virtual patch for ${patch.cve}`),
      );
    return { ...patch, enabled: false };
  });
  return { rules: { ...ruleSettingsOf(settings), virtual_patches }, problems };
}
