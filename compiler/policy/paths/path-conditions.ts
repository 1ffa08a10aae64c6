// Custom rules that go by the path. What such a rule refuses, or reports, it has to find in every spelling that some
// server takes for the path, as the gates do: `/;/admin`, `/%2561dmin`, `/ADMIN` (engine/parse/path-keys.ts).
import { ruleIdRanges } from '#settings';
import type { CustomRule } from '../settings.js';

/** Whether a rule of conditions refuses by the path, in any of its spellings. */
const goesByPath = ({ any }: CustomRule): boolean =>
  any.some(({ all }) =>
    all.some(({ field, is_not: isNot }) => field === 'operation' || (!isNot && (field === 'path' || field === 'uri'))),
  );

/** Variables of the path, and where its readings are. */
const pathVariables: ReadonlyMap<string, string> = new Map([
  ['REQUEST_FILENAME', 'path'],
  ['REQUEST_URI', 'path'],
  ['REQUEST_URI_RAW', 'path'],
  ['PATH_INFO', 'path'],
  ['REQUEST_BASENAME', 'basename'],
]);

export interface PathCondition {
  /** For behind the variables of the rule: `|PATH_READINGS:path`, or ''. */
  readonly more: string;
  /** All that is looked at is the path, and the value has capitals. */
  readonly isCaseless: boolean;
}

/**
 * What a visual rule looks at besides. A negated operator holds when anything differs, and of many readings one always
 * does: it gets the reading of most servers, with dots resolved. `allow` takes protection away and gets nothing.
 */
export function pathConditionOf(
  rule: Pick<CustomRule, 'variable' | 'action' | 'value'>,
  isNegated: boolean,
): PathCondition {
  const named = rule.variable.split('|').map((name) => name.toUpperCase());
  const members = new Set(named.flatMap((name) => pathVariables.get(name) ?? []));
  if (members.size === 0 || rule.action === 'allow') return { more: '', isCaseless: false };
  if (isNegated) return { more: members.has('path') ? '|PATH_READINGS:resolved' : '', isCaseless: false };
  return {
    more: [...members].map((member) => `|PATH_READINGS:${member}`).join(''),
    isCaseless: named.every((name) => pathVariables.has(name)) && /[A-Z]/.test(rule.value),
  };
}

/**
 * In front of such rules: a path with more readings than are looked at is refused, because a rule might mean one of the
 * others. '' where no rule and no virtual patch refuses by the path.
 */
export function renderUnreadablePaths(rules: readonly CustomRule[], patches: readonly { text: string }[]): string {
  const refuses = rules.some(
    (rule) =>
      rule.enabled &&
      !['log', 'pass', 'allow'].includes(rule.action) &&
      (rule.kind === 'conditions'
        ? goesByPath(rule)
        : rule.kind === 'visual' && !rule.operator.startsWith('!') && pathConditionOf(rule, false).more !== ''),
  );
  if (!refuses && !patches.some(({ text }) => text.includes('PATH_READINGS:path'))) return '';
  return `SecRule PATH_READINGS:unreadable "@streq 1" \\
    "id:${ruleIdRanges.pathReadings[0]},phase:1,deny,status:400,log,auditlog,t:none,\
msg:'Path with too many readings for the rules that go by it',tag:'gatehouse/custom-rule'"
`;
}
