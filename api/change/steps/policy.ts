// The settings people edit → what the compiler takes. Pure and deterministic. Indices of lists stay as they are, so
// that the compiler's JSON pointers fit the settings.
import { exclusionTagPattern, exclusionTargetPattern, type WafSettings } from '#compiler';
import type { Settings } from '#settings';
import { findPatchIn, type FindVirtualPatch } from '../../vpatch/catalog/index.js';
import type { PolicyInput } from '../compile-messages.js';
import type { ApplyDiagnostic } from '../contract.js';
import { toCompilerRule } from './compiler-words.js';
import { withManagedRules, type ManagedRules } from './managed-rules.js';

export interface PolicySettings extends PolicyInput {
  readonly problems: readonly ApplyDiagnostic[];
}

/** Something wrong with a setting that only becomes visible when it is to be put in force. */
export function settingProblem(
  path: string,
  message: string,
  hint = 'Mend the setting and apply again.',
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

/** `managed`: the rules of the feed that go with these settings. */
export function toPolicy(settings: Settings, managed: ManagedRules): PolicySettings {
  return toPolicyInput(withManagedRules(settings, managed), findPatchIn(managed.delivered));
}

function toPolicyInput(settings: Settings, findVirtualPatch: FindVirtualPatch): PolicySettings {
  const problems: ApplyDiagnostic[] = [];
  const categories = Object.fromEntries(
    Object.entries(settings.categories).map(([key, category]) => [
      key,
      { enabled: category.enabled, excluded_paths: category.path_exclusions },
    ]),
  ) as unknown as WafSettings['categories'];
  const patches = settings.virtual_patches.map((patch, index) => {
    const own = patch.seclang === '' ? null : { name: patch.name || patch.cve, text: patch.seclang };
    const found = own ?? findVirtualPatch(patch.cve, patch.id);
    if (found === null && patch.enabled)
      problems.push(
        settingProblem(`/virtual_patches/${index}/cve`, `the catalogue has no virtual patch for ${patch.cve}`),
      );
    return {
      id: patch.id,
      name: found?.name ?? patch.cve,
      enabled: patch.enabled && found !== null,
      text: found?.text ?? '',
    };
  });
  const { paranoia_level, allowed_methods, allowed_content_types, early_blocking, response_body_types } = settings;
  return {
    waf: {
      mode: settings.mode,
      paranoia_level: paranoia_level as 1 | 2 | 3 | 4,
      inbound_threshold: settings.inbound_threshold,
      outbound_threshold: settings.outbound_threshold,
      allowed_methods,
      allowed_content_types,
      early_blocking,
      request_body_limit_bytes: settings.request_body_limit_bytes,
      request_body_no_files_limit_bytes: settings.request_body_no_files_limit_bytes,
      response_body_limit_bytes: settings.response_body_limit_bytes,
      response_body_types,
      categories,
      custom_rules: settings.custom_rules.map(toCompilerRule),
      virtual_patches: patches,
    },
    exclusions: settings.rule_exclusions.filter(({ enabled }) => enabled),
    problems: [...problems, ...checkExclusions(settings)],
  };
}

/** The schema knows their shape; whether they can be written as a rule is asked here. */
function checkExclusions(settings: Settings): ApplyDiagnostic[] {
  return settings.rule_exclusions.flatMap(({ enabled, target, tag, expires_at }, index) => {
    if (!enabled) return [];
    const at = `/rule_exclusions/${index}`;
    const found: ApplyDiagnostic[] = [];
    if (target !== null && !exclusionTargetPattern.test(target))
      found.push(
        settingProblem(`${at}/target`, 'must be a variable such as ARGS:comment or REQUEST_HEADERS:User-Agent'),
      );
    if (tag !== null && !exclusionTagPattern.test(tag))
      found.push(settingProblem(`${at}/tag`, 'must be a tag of the rule set'));
    if (expires_at !== null && Number.isNaN(Date.parse(expires_at)))
      found.push(settingProblem(`${at}/expires_at`, 'is a moment that does not exist'));
    return found;
  });
}
