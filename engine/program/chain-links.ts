// What a link of a chain leaves behind when it matches but the chain fails later: the planner and the quick checks may
// look at a later link first only when nothing before it does anything that can be seen.
import type { LinkIR, Program, RuleIR, Template } from './ir.js';

/**
 * True when a match of the link alone changes TX or a collection: setvar runs, and captures are stored, per match;
 * negated operators have none.
 */
export function isActingLink(link: LinkIR): boolean {
  return (link.capture && link.operator?.negated !== true) || link.actions.some((action) => action.kind === 'setvar');
}

/** True when the link looks at what earlier links matched (MATCHED_VAR…, RULE). */
export function readsEarlierLinks(link: LinkIR): boolean {
  const reads = (variable: string): boolean => variable.startsWith('MATCHED_') || variable === 'RULE';
  const inTemplate = (template: Template | null | undefined): boolean =>
    (template ?? []).some((part) => typeof part !== 'string' && reads(part.variable));
  return link.targets.some((target) => reads(target.variable)) || inTemplate(link.operator?.template);
}

/**
 * True when some rule looks, before it matches anything itself, at what the rule before it matched. Then a chain that
 * fails in the middle is visible after all, and only heads may be looked at ahead of time.
 */
export function seesEarlierRules(program: Program): boolean {
  return program.items.some((item) => {
    if (item.kind !== 'rule') return false;
    const head = item.links[0] as LinkIR;
    return readsEarlierLinks(head) || (head.operator === null && mentionsMatches(item));
  });
}

/**
 * A SecAction leaves MATCHED_VAR as it was: whatever its rule says or does with it shows the match of a rule before it.
 */
function mentionsMatches(rule: RuleIR): boolean {
  // Logging shows the last match, and here no link makes one.
  if (rule.log && rule.links.length > 1 && rule.links.every((link) => link.operator === null)) return true;
  if (rule.tags.some((tag) => /%\{matched_/i.test(tag))) return true;
  const templates: (Template | null)[] = rule.disruptive.kind === 'redirect' ? [rule.disruptive.url] : [];
  for (const link of rule.links) {
    if (readsEarlierLinks(link)) return true;
    templates.push(link.msg, link.logdata);
    for (const action of link.actions) {
      if ('key' in action) templates.push(action.key);
      if ('seconds' in action) templates.push(action.seconds);
      if ('value' in action && typeof action.value !== 'string') templates.push(action.value);
    }
  }
  return templates.some((template) =>
    (template ?? []).some((part) => typeof part !== 'string' && part.variable.startsWith('MATCHED_')),
  );
}
