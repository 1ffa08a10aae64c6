// What a link of a chain leaves behind when it matches but the chain fails later: the planner and the quick checks may
// look at a later link first only when nothing before it does anything that can be seen.
import type { LinkIR, Template } from './ir.js';

/** True when a match of the link alone changes TX or a collection: setvar runs, and captures are stored, per match. */
export function isActingLink(link: LinkIR): boolean {
  return link.capture || link.actions.some((action) => action.kind === 'setvar');
}

/** True when the link looks at what earlier links matched (MATCHED_VAR…, RULE). */
export function readsEarlierLinks(link: LinkIR): boolean {
  const reads = (variable: string): boolean => variable.startsWith('MATCHED_') || variable === 'RULE';
  const inTemplate = (template: Template | null | undefined): boolean => (template ?? []).some((part) => typeof part !== 'string' && reads(part.variable));
  return link.targets.some((target) => reads(target.variable)) || inTemplate(link.operator?.template);
}
