// Policies of sites → rule text. One rule program serves all sites: a node says in TX.gatehouse_policy which policy a
// request has, before phase 1, and the rules below set what that policy wants otherwise. The compiler folds the program
// once for each policy with that constant (passes/fold-constants.ts), so that a site pays for no other's gates; the
// automata are shared. A request that names no policy has the base.
import { basePolicy, ruleIdRanges, type CategoryKey, type SitePolicy } from '#settings';
import { crsSetupVariables, setTx } from './engine-config.js';
import { wholeTag } from './exclusions.js';
import { categoryTags } from './settings.js';

/** The variable of TX that a node sets; engine/transaction/begin.ts has the same name. */
const variable = 'TX:gatehouse_policy';
const [firstId, lastId] = ruleIdRanges.sitePolicies;
/** Gates of rules that are for some sites, one for each phase; below are two ids for each policy. */
const firstGateId = firstId + 300;
const phases = [1, 2, 3, 4, 5];
/** Distinct groups of sites that custom rules may be for. */
export const siteGroupsMax = Math.floor((lastId - firstGateId + 1) / phases.length);

/** Keys of the policies that a rule for some sites is for, as an expression for the variable. */
function keysExpression(keys: readonly string[]): string {
  return `^(?:${keys.join('|')})$`;
}

const keysOf = (id: number, policies: readonly SitePolicy[]): string[] =>
  policies.filter(({ scoped }) => scoped.includes(id)).map(({ key }) => key);

/** Categories that no policy has: their rules are taken out for good. */
export function disabledForAll(policies: readonly SitePolicy[]): CategoryKey[] {
  return (policies[0]?.disabled ?? []).filter((key) => policies.every(({ disabled }) => disabled.includes(key)));
}

/** For behind the set-up of the CRS; '' where no site wants anything of its own. */
export function renderSitePolicies(policies: readonly SitePolicy[]): string {
  const [base] = policies;
  if (base === undefined) return '';
  const usual = new Map([...crsSetupVariables(base).values()].flat());
  const gone = disabledForAll(policies);
  const rules = policies.flatMap((policy, index) => {
    const sets = [...crsSetupVariables(policy).values()].flat().filter(([name, value]) => usual.get(name) !== value);
    const controls = policy.disabled
      .filter((key) => !gone.includes(key))
      .flatMap((key) => categoryTags[key].map((tag) => `ctl:ruleRemoveByTag=${wholeTag(tag)}`));
    if (policy.request_body_limit_bytes !== base.request_body_limit_bytes)
      controls.push(`ctl:requestBodyLimit=${policy.request_body_limit_bytes}`);
    // Apart, because what only sets constants happens at load.
    return [sets.map(setTx), controls].map((actions, part) =>
      actions.length === 0
        ? ''
        : `SecRule ${variable} "@streq ${policy.key}" \\\n` +
          `    "id:${firstId + 1 + 2 * index + part},phase:1,pass,nolog,t:none,` +
          `tag:'gatehouse/site-policy',${actions.join(',')}"\n`,
    );
  });
  return `# Sites that want other rules than the installation.
SecRule &${variable} "@eq 0" "id:${firstId},phase:1,pass,nolog,t:none,setvar:'tx.gatehouse_policy=${basePolicy}'"
${rules.join('')}`;
}

/** A condition for rules that are for some sites; null: for all. */
export function siteCondition(
  rule: { readonly id: number; readonly sites: readonly string[] },
  policies: readonly SitePolicy[],
): string | null {
  return rule.sites.length === 0 ? null : `SecRule ${variable} "@rx ${keysExpression(keysOf(rule.id, policies))}"`;
}

export interface ScopedText {
  readonly id: number;
  readonly text: string;
  /** Names; empty: all. */
  readonly sites: readonly string[];
}

/** Rule texts for all sites, then those for some, each group behind gates that skip it for the others. */
export class SiteGates {
  private groups = 0;

  constructor(private readonly policies: readonly SitePolicy[]) {}

  render(rules: readonly ScopedText[]): string {
    const forAll = rules.filter(({ sites }) => sites.length === 0).map(({ text }) => text);
    const groups = new Map<string, string[]>();
    for (const { id, text, sites } of rules) {
      if (sites.length === 0) continue;
      const expression = keysExpression(keysOf(id, this.policies));
      groups.set(expression, [...(groups.get(expression) ?? []), text]);
    }
    return [...forAll, ...[...groups].map(([expression, texts]) => this.gated(expression, texts))].join('');
  }

  private gated(expression: string, texts: readonly string[]): string {
    const marker = `GATEHOUSE-SITES-${this.groups}`;
    const id = firstGateId + this.groups * phases.length;
    this.groups += 1;
    const gates = phases.map(
      (phase) =>
        `SecRule ${variable} "!@rx ${expression}" "id:${id + phase - 1},phase:${phase},pass,nolog,t:none,` +
        `skipAfter:${marker}"\n`,
    );
    return `${gates.join('')}${texts.join('')}SecMarker ${marker}\n`;
  }
}
