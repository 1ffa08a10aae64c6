// Scoped exclusions → rules with a ctl: one rule (or tag) does not look at one variable (or at all) on one path, for
// one method, until one moment. Expiry is a condition of the rule itself: nothing has to be compiled when it comes.
import type { RuleSettings, SitePolicy } from '#settings';
import { pathCondition } from './exclusions.js';
import { wholeTag } from './quoting.js';
import { siteCondition } from './site-policies.js';

export type ScopedExclusion = RuleSettings['rule_exclusions'][number];

/** Rules of match scoring that look for what a file of the CRS looks for, by the first three digits of its ids. */
const evidenceOf: Readonly<Record<string, readonly number[]>> = {
  930: [1_006_600],
  932: [1_006_602, 1_006_605],
  933: [1_006_602],
  934: [1_006_602],
  941: [1_006_603],
  942: [1_006_601, 1_006_604],
  944: [1_006_602],
};

/**
 * What match scoring would deny in place of the rule is excluded with it: else the request of which a person said that
 * it is no attack would still be refused. A rule that is excluded everywhere and in whole says nothing of a value.
 */
function evidenceBeside({ rule_id, target, path }: ScopedExclusion): readonly number[] {
  if (rule_id === null || (target === null && path === null)) return [];
  return evidenceOf[String(rule_id).slice(0, 3)] ?? [];
}

function control(exclusion: ScopedExclusion, isScored: boolean): string {
  const { rule_id, tag, target } = exclusion;
  const rules = rule_id === null ? [] : [rule_id, ...(isScored ? evidenceBeside(exclusion) : [])];
  const all = rules.length > 0 ? rules.map((id) => `ById=${id}`) : [byTag(tag ?? '')];
  return all
    .map((what) => (target === null ? `ctl:ruleRemove${what}` : `ctl:ruleRemoveTarget${what};${target}`))
    .join(',');
}

const byTag = (tag: string): string => `ByTag=${wholeTag(tag.replaceAll('.', '\\.'))}`;

function conditions({ path, method, expires_at }: ScopedExclusion, ofSites: string | null): string[] {
  const links: string[] = ofSites === null ? [] : [ofSites];
  if (method !== null && method !== '*') links.push(`SecRule REQUEST_METHOD "@streq ${method}"`);
  if (expires_at !== null) links.push(`SecRule TIME_EPOCH "@lt ${Math.floor(Date.parse(expires_at) / 1000)}"`);
  if (path !== null) links.push(pathCondition(path));
  return links;
}

/** The rule of one exclusion; its ctl stands on the last link, for it takes effect when its link matches. */
function renderRuleExclusion(exclusion: ScopedExclusion, policies: readonly SitePolicy[], isScored: boolean): string {
  const links = conditions(exclusion, siteCondition(exclusion, policies));
  const head = `id:${exclusion.id},phase:1,pass,nolog,t:none,tag:'gatehouse/rule-exclusion'`;
  if (links.length === 0) return `SecAction \\\n    "${head},${control(exclusion, isScored)}"\n`;
  return links
    .map((link, index) => {
      const isLast = index === links.length - 1;
      const actions = `${index === 0 ? head : 't:none'},${isLast ? control(exclusion, isScored) : 'chain'}`;
      return `${index === 0 ? '' : '    '}${link} \\\n${index === 0 ? '    ' : '        '}"${actions}"\n`;
    })
    .join('');
}

/** What is disabled is left out; '' when nothing is left. `isScored`: match scoring is on for some site. */
export function renderRuleExclusions(
  exclusions: readonly ScopedExclusion[],
  policies: readonly SitePolicy[] = [],
  isScored = false,
): string {
  return exclusions
    .filter(({ enabled }) => enabled)
    .map((exclusion) => renderRuleExclusion(exclusion, policies, isScored))
    .join('');
}
