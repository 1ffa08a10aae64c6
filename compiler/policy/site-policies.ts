// Policies of sites → rule text. One rule program serves all sites: a node says in TX.gatehouse_policy which policy a
// request has, before phase 1, and the rules below set what that policy wants otherwise. The compiler folds the program
// once for each policy with that constant (passes/fold-constants.ts), so that a site pays for no other's gates; the
// automata are shared. A request that names no policy has the base.
import { basePolicy, ruleIdRanges, sitePoliciesMax, type CategoryKey, type SitePolicy } from '#settings';
import { crsSetupVariables, responseBodiesOf, setTx } from './engine-config.js';
import { wholeTag } from './quoting.js';
import { categoryTags } from './settings.js';

/** The variable of TX that a node sets; engine/transaction/begin.ts has the same name. */
const variable = 'TX:gatehouse_policy';
const [firstId, lastId] = ruleIdRanges.sitePolicies;
/** Below the gates are so many ids for each policy. */
const idsOfPolicy = 3;
/** Gates of rules that are for some sites, one for each phase. */
const firstGateId = firstId + 1 + idsOfPolicy * sitePoliciesMax;
const phases = [1, 2, 3, 4, 5];
/** Distinct groups of sites that custom rules may be for. */
export const siteGroupsMax = Math.floor((lastId - firstGateId + 1) / phases.length);

/** Keys of the policies that a rule for some sites is for, as an expression for the variable. */
function keysExpression(keys: readonly string[]): string {
  return `^(?:${keys.join('|')})$`;
}

/** Holds for requests of these policies. */
export function policyCondition(keys: readonly string[]): string {
  return `SecRule ${variable} "@rx ${keysExpression(keys)}"`;
}

const keysOf = (id: number, policies: readonly SitePolicy[]): string[] =>
  policies.filter(({ scoped }) => scoped.includes(id)).map(({ key }) => key);

/** Categories that no policy has: their rules are taken out for good. */
export function disabledForAll(policies: readonly SitePolicy[]): CategoryKey[] {
  return (policies[0]?.disabled ?? []).filter((key) => policies.every(({ disabled }) => disabled.includes(key)));
}

const literal = (text: string): string => text.toLowerCase().replace(/[^a-z0-9/-]/g, '\\$&');

/** Bodies of responses: what a policy wants otherwise than the engine's configuration, which has what any wants. */
function responseControls(policy: SitePolicy, policies: readonly SitePolicy[]) {
  const { response_body_limit_bytes: bytes, response_body_types: types } = policy;
  const engine = responseBodiesOf(policies);
  const isOff = bytes === 0 && engine.bytes > 0;
  const others = !isOff && engine.types.some((type) => !types.includes(type));
  return {
    controls: isOff ? ['ctl:responseBodyAccess=Off'] : bytes === engine.bytes ? [] : [`ctl:responseBodyLimit=${bytes}`],
    /** What has to be among the response's types; null: whatever the engine takes. */
    types: others ? `^(?:${types.map(literal).join('|')})$` : null,
  };
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
    const responses = responseControls(policy, policies);
    controls.push(...responses.controls);
    const rule = (part: number, phase: number, actions: readonly string[]): string =>
      `SecRule ${variable} "@streq ${policy.key}" \\\n` +
      `    "id:${firstId + 1 + idsOfPolicy * index + part},phase:${phase},pass,nolog,t:none,` +
      `tag:'gatehouse/site-policy',${actions.join(',')}"\n`;
    // Apart, because what only sets constants happens at load.
    const texts = [sets.map(setTx), controls].map((actions, part) =>
      actions.length === 0 ? '' : rule(part, 1, actions),
    );
    if (responses.types === null) return texts;
    const otherType = `SecRule RESPONSE_CONTENT_TYPE "!@rx ${responses.types}"`;
    return [...texts, `${rule(2, 3, ['chain'])}    ${otherType} "t:none,t:lowercase,ctl:responseBodyAccess=Off"\n`];
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
  return rule.sites.length === 0 ? null : policyCondition(keysOf(rule.id, policies));
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
