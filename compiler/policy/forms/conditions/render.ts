// A custom rule of conditions as rule text: one chain where there is one group; else a rule for each group that says so
// in a variable, and one behind them that goes by it. "Not" of something that there may be several of, or none, is said
// of the whole: a rule of its own looks for it, and the chain goes on where it found nothing. (A negated operator of
// the rule language holds when one of several differs, and never where there is none.)
import { ruleIdRanges, type RuleCondition } from '#settings';
import { Diagnostics, type Diagnostic } from '../../../diagnostics/diagnostics.js';
import { renderLabel } from '../../quoting.js';
import { checkRuleText, type CheckedRule } from '../../raw-rule.js';
import { visualAction } from '../rule-action.js';
import type { CustomRule } from '../../settings.js';
import { ConditionFault, phaseOf, renderCondition, type Comparison } from './condition.js';

/** Of each custom rule. */
const helpersMax = 100;
const ids = [ruleIdRanges.custom[0], ruleIdRanges.conditions[1]] as const;

/** The links of a chain, one below the other. `last`: actions of the one that holds last. */
function renderChain(links: readonly Comparison[], head: string, last = ''): string {
  return links
    .map(({ variables, operator }, at) => {
      const isLast = at === links.length - 1;
      const actions = [at === 0 ? head : 't:none', ...(isLast ? (last === '' ? [] : [last]) : ['chain'])].join(',');
      return `${'    '.repeat(Math.min(at, 1))}SecRule ${variables} "${operator}" \\\n    "${actions}"\n`;
    })
    .join('');
}

class RuleWriter {
  private readonly helpers: string[] = [];
  private readonly firstId: number;
  private readonly phase: number;

  constructor(
    private readonly rule: CustomRule,
    private readonly isStored: boolean,
  ) {
    this.firstId = ruleIdRanges.conditions[0] + (rule.id - ruleIdRanges.custom[0]) * helpersMax;
    this.phase = Math.max(...rule.any.flatMap(({ all }) => all.map(phaseOf)));
  }

  /** Rules that set a variable where one of the lists holds; the variable. */
  private note(lists: readonly (readonly Comparison[])[], value = '1'): string {
    const name = `gatehouse_${this.rule.id}_${this.helpers.length}`;
    for (const links of lists) {
      if (this.helpers.length >= helpersMax)
        throw new ConditionFault('values', `make more than ${helpersMax} rules of it: split the rule`);
      const head = `id:${this.firstId + this.helpers.length},phase:${this.phase},pass,nolog,t:none`;
      this.helpers.push(renderChain(links, head, `setvar:'tx.${name}=${value}'`));
    }
    return name;
  }

  /** The links that a condition is in a chain. Throws ConditionFault. */
  private linksOf(condition: RuleCondition): readonly Comparison[] {
    const rendered = renderCondition(condition, this.rule.action, this.isStored);
    const lists = 'alternatives' in rendered ? rendered.alternatives : [rendered.comparisons];
    const [only, ...more] = lists;
    if (only !== undefined && more.length === 0 && (rendered.saysNot || !condition.is_not)) return only;
    return [{ variables: `&TX:${this.note(lists)}`, operator: condition.is_not ? '@eq 0' : '@gt 0' }];
  }

  render(action: string, locate: (group: number, at: number) => void): string {
    const { rule } = this;
    const groups = rule.any.map(({ all }, group) =>
      all.flatMap((condition, at) => {
        locate(group, at);
        return this.linksOf(condition);
      }),
    );
    const [only, ...more] = groups;
    const name = more.length === 0 ? null : this.note(groups, '%{MATCHED_VAR_NAME}: %{MATCHED_VAR}');
    const links = name === null ? (only ?? []) : [{ variables: `&TX:${name}`, operator: '@gt 0' }];
    const label = renderLabel(rule.name === '' ? `Custom rule ${rule.id}` : rule.name);
    const head = [
      `id:${rule.id},phase:${this.phase},${action},log,auditlog,t:none,msg:'${label}',tag:'gatehouse/custom-rule'`,
      ...(name === null ? [] : [`logdata:'%{tx.${name}}'`]),
    ].join(',');
    return `${this.helpers.join('')}${renderChain(links, head)}`;
  }
}

const noText = (diagnostics: readonly Diagnostic[]): CheckedRule => ({
  text: null,
  ids: [],
  heads: [],
  isEmpty: false,
  diagnostics,
});

/** What is wrong with a condition alone is at its values. */
function checkAlone(rule: CustomRule, group: number, at: number, condition: RuleCondition): readonly Diagnostic[] {
  const alone = { ...rule, any: [{ all: [condition] }] };
  const text = new RuleWriter(alone, true).render('pass', () => undefined);
  return checkRuleText(Buffer.from(text, 'latin1').toString('utf8'), ids, `rule ${rule.id}`)
    .diagnostics.filter(({ severity, code }) => severity === 'error' || code === 'GH-C3007') // fits no address
    .map((found) => ({
      ...found,
      severity: 'error',
      path: `/any/${group}/all/${at}/values`,
      line: 1,
      column: 1,
      excerpt: condition.values.join(', ').slice(0, 500),
    }));
}

/**
 * The text that a rule of conditions stands for, with what is wrong with it, each at a JSON pointer into the rule such
 * as `/any/0/all/1/values`. Its `ids` are the rule's and those of the rules that its conditions need.
 * `isStored`: it was saved before, maybe by a release that took more: what only never fits must not keep the others
 * from being applied.
 */
export function checkConditions(rule: CustomRule, isStored = false): CheckedRule {
  const diagnostics = new Diagnostics();
  let place = '/any';
  const fail = (path: string, message: string): CheckedRule => {
    diagnostics.reportSetting('GH-C7001', message, path);
    return noText(diagnostics.list);
  };
  const action = visualAction(rule);
  if (action === null) return fail('/redirect_url', 'must be an address in URL characters');
  if (rule.any.length === 0) return fail('/any', 'needs at least one group with a condition');
  try {
    const text = new RuleWriter(rule, isStored).render(action, (group, at) => (place = `/any/${group}/all/${at}`));
    const wrong = rule.any.flatMap(({ all }, group) =>
      all.flatMap((condition, at) => checkAlone(rule, group, at, condition)),
    );
    if (wrong.length > 0) return noText(wrong);
    const checked = checkRuleText(Buffer.from(text, 'latin1').toString('utf8'), ids, `rule ${rule.id}`);
    return { ...checked, diagnostics: checked.diagnostics.map((found) => ({ ...found, path: '/any' })) };
  } catch (error) {
    if (!(error instanceof ConditionFault)) throw error;
    return fail(`${place}/${error.member}`, error.message);
  }
}
