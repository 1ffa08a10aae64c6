// Scoped exclusions → rules with a ctl: one rule (or tag) does not look at one variable (or at all) on one path, for
// one method, until one moment. Expiry is a condition of the rule itself: nothing has to be compiled when it comes.
import type { RuleSettings, SitePolicy } from '#settings';
import { pathCondition } from './exclusions.js';
import { wholeTag } from './quoting.js';
import { siteCondition } from './site-policies.js';

export type ScopedExclusion = RuleSettings['rule_exclusions'][number];

function control({ rule_id, tag, target }: ScopedExclusion): string {
  const what = rule_id !== null ? `ById=${rule_id}` : `ByTag=${wholeTag((tag ?? '').replaceAll('.', '\\.'))}`;
  return target === null ? `ctl:ruleRemove${what}` : `ctl:ruleRemoveTarget${what};${target}`;
}

function conditions({ path, method, expires_at }: ScopedExclusion, ofSites: string | null): string[] {
  const links: string[] = ofSites === null ? [] : [ofSites];
  if (method !== null && method !== '*') links.push(`SecRule REQUEST_METHOD "@streq ${method}"`);
  if (expires_at !== null) links.push(`SecRule TIME_EPOCH "@lt ${Math.floor(Date.parse(expires_at) / 1000)}"`);
  if (path !== null) links.push(pathCondition(path));
  return links;
}

/** The rule of one exclusion; its ctl stands on the last link, for it takes effect when its link matches. */
function renderRuleExclusion(exclusion: ScopedExclusion, policies: readonly SitePolicy[]): string {
  const links = conditions(exclusion, siteCondition(exclusion, policies));
  const head = `id:${exclusion.id},phase:1,pass,nolog,t:none,tag:'gatehouse/rule-exclusion'`;
  if (links.length === 0) return `SecAction \\\n    "${head},${control(exclusion)}"\n`;
  return links
    .map((link, index) => {
      const actions = [index === 0 ? head : 't:none', index === links.length - 1 ? control(exclusion) : 'chain'].join(
        ',',
      );
      return `${index === 0 ? '' : '    '}${link} \\\n${index === 0 ? '    ' : '        '}"${actions}"\n`;
    })
    .join('');
}

/** What is disabled is left out; '' when nothing is left. */
export function renderRuleExclusions(
  exclusions: readonly ScopedExclusion[],
  policies: readonly SitePolicy[] = [],
): string {
  return exclusions
    .filter(({ enabled }) => enabled)
    .map((exclusion) => renderRuleExclusion(exclusion, policies))
    .join('');
}
