// Category switches and path exclusions → rules by tag.
import { categoryKeys, ruleIdRanges, type CategoryKey, type RuleSettings } from '#settings';
import { toBytes } from './quoting.js';
import { categoryTags } from './settings.js';

export interface CategoryExclusion {
  readonly id: number;
  readonly category: CategoryKey;
  readonly path: string;
}

/**
 * One per category and path, in the order of the keys; ids count from 1009000. Categories that no site has (`gone`)
 * need none.
 */
export function listExclusions(settings: RuleSettings, gone: readonly CategoryKey[]): CategoryExclusion[] {
  const exclusions: CategoryExclusion[] = [];
  for (const category of categoryKeys) {
    if (gone.includes(category)) continue;
    const { path_exclusions } = settings.categories[category];
    for (const path of new Set(path_exclusions))
      exclusions.push({ id: ruleIdRanges.categoryExclusions[0] + exclusions.length, category, path });
  }
  return exclusions;
}

/** A tag compared whole, also by engines that search tags with regular expressions. */
export function wholeTag(tag: string): string {
  return `^${tag}$`;
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
  const rules = exclusions.map(({ id, category, path }) => {
    const controls = categoryTags[category].map((tag) => `ctl:ruleRemoveByTag=${wholeTag(tag)}`).join(',');
    return `${pathCondition(path)} \\
    "id:${id},phase:1,pass,nolog,t:none,tag:'gatehouse/exclusion/${category}',${controls}"
`;
  });
  return `# Categories that do not run on some paths.\n${rules.join('')}`;
}

/** For behind the CRS: the rules of disabled categories are taken out for good. */
export function renderDisabledCategories(disabled: readonly CategoryKey[]): string {
  const lines = disabled.flatMap((key) => categoryTags[key].map((tag) => `SecRuleRemoveByTag "${wholeTag(tag)}"\n`));
  return `# Categories that are switched off.\n${lines.join('')}`;
}
