// Category switches and path exclusions → rules by tag.
import { categoryKeys, ruleIdRanges, type CategoryKey, type RuleSettings } from '#settings';
import { hexEscape, toBytes } from './quoting.js';
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

/** `%20` is a blank: the form takes no blanks, and people paste what the address bar shows. */
function decodeOnce(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_escape, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}

/** `/a/b` → an expression for it and everything below it; `*` is one segment; a slash at the end means nothing. */
export function pathExpression(path: string): string {
  const trimmed = toBytes(path).replace(/(?:\/\*?)+$/, '');
  const segments = trimmed.split('/').map((segment) =>
    segment
      .split('*')
      .map((part) => hexEscape(decodeOnce(part)))
      .join('[^/]*'),
  );
  return `\\A${segments.join('/')}(?:/|\\z)`;
}

/** The same for a path behind t:urlDecodeUni, which reads `+` as a blank. */
export function understoodPathExpression(path: string): string {
  return pathExpression(path).replaceAll('\\x2b', '\\x20');
}

/**
 * Both the path as decoded once (REQUEST_FILENAME) and as an application may understand it after decoding again and
 * resolving dots and slashes must lie below the excluded one: an exclusion switches protection off, so that neither
 * `/open/..%2fadmin` nor `/admin/..%2fopen` may reach it. The ctl stands on the last link, for it takes effect when its
 * link matches.
 */
export function renderExclusions(exclusions: readonly CategoryExclusion[]): string {
  const rules = exclusions.map(({ id, category, path }) => {
    const controls = categoryTags[category].map((tag) => `ctl:ruleRemoveByTag=${wholeTag(tag)}`).join(',');
    return `SecRule REQUEST_FILENAME "@rx ${pathExpression(path)}" \\
    "id:${id},phase:1,pass,nolog,t:none,tag:'gatehouse/exclusion/${category}',chain"
    SecRule REQUEST_FILENAME "@rx ${understoodPathExpression(path)}" \\
        "t:none,t:urlDecodeUni,t:urlDecodeUni,t:normalizePathWin,${controls}"
`;
  });
  return `# Categories that do not run on some paths.\n${rules.join('')}`;
}

/** For behind the CRS: the rules of disabled categories are taken out for good. */
export function renderDisabledCategories(disabled: readonly CategoryKey[]): string {
  const lines = disabled.flatMap((key) => categoryTags[key].map((tag) => `SecRuleRemoveByTag "${wholeTag(tag)}"\n`));
  return `# Categories that are switched off.\n${lines.join('')}`;
}
