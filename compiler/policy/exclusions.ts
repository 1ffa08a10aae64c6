// Category switches and path exclusions → rules by tag.
import { categoryKeys, ruleIdRanges, type CategoryKey, type RuleSettings, type SitePolicy } from '#settings';
import { toBytes, wholeTag } from './quoting.js';
import { categoryTags } from './settings.js';
import { policyCondition } from './site-policies.js';

export interface CategoryExclusion {
  readonly id: number;
  readonly category: CategoryKey;
  readonly path: string;
  /** Keys of the policies whose sites have it; null: all. */
  readonly policies: readonly string[] | null;
}

/**
 * One per category and path, in the order of the keys; ids count from 1009000. Categories that no site has (`gone`)
 * need none.
 */
export function listExclusions(
  settings: RuleSettings,
  gone: readonly CategoryKey[],
  sitePolicies: readonly SitePolicy[] = [],
): CategoryExclusion[] {
  const exclusions: CategoryExclusion[] = [];
  for (const category of categoryKeys) {
    if (gone.includes(category)) continue;
    const { path_exclusions } = settings.categories[category];
    const paths = [path_exclusions, ...sitePolicies.map((policy) => policy.path_exclusions[category] ?? [])].flat();
    for (const path of new Set(paths)) {
      const having = sitePolicies.filter((policy) => policy.path_exclusions[category]?.includes(path));
      if (sitePolicies.length > 0 && having.length === 0) continue;
      const policies = having.length === sitePolicies.length ? null : having.map(({ key }) => key);
      exclusions.push({ id: ruleIdRanges.categoryExclusions[0] + exclusions.length, category, path, policies });
    }
  }
  return exclusions;
}

/**
 * `/a/b` → the argument of @pathBelow for it and everything below it; `*` is one segment, `%20` a blank. What a rule's
 * text could take for something else is written `%XX`, which the operator decodes.
 */
export function pathArgument(path: string): string {
  return toBytes(path).replace(
    /[^A-Za-z0-9_.~/*%-]|%(?![0-9a-fA-F]{2})/g,
    (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}

/**
 * An exclusion switches protection off, so that it holds only where every reading of the path lies below the excluded
 * one: neither `/open/..%2fadmin` nor `/admin/..%2fopen` may reach it (engine/parse/path-readings.ts).
 */
export function pathCondition(path: string): string {
  return `SecRule REQUEST_URI_RAW "@pathBelow ${pathArgument(path)}"`;
}

/** Before the CRS: categories that do not run on some paths. */
export function renderExclusions(exclusions: readonly CategoryExclusion[]): string {
  const rules = exclusions.map(({ id, category, path, policies }) => {
    const controls = categoryTags[category].map((tag) => `ctl:ruleRemoveByTag=${wholeTag(tag)}`).join(',');
    const head = `id:${id},phase:1,pass,nolog,t:none,tag:'gatehouse/exclusion/${category}'`;
    // A ctl takes effect when its own link matches, so that it stands on the last one.
    return policies === null
      ? `${pathCondition(path)} \\\n    "${head},${controls}"\n`
      : `${policyCondition(policies)} \\\n    "${head},chain"\n` +
          `    ${pathCondition(path)} \\\n        "t:none,${controls}"\n`;
  });
  return `# Categories that do not run on some paths.\n${rules.join('')}`;
}

/** For behind the CRS: the rules of disabled categories are taken out for good. */
export function renderDisabledCategories(disabled: readonly CategoryKey[]): string {
  const lines = disabled.flatMap((key) => categoryTags[key].map((tag) => `SecRuleRemoveByTag "${wholeTag(tag)}"\n`));
  return `# Categories that are switched off.\n${lines.join('')}`;
}
