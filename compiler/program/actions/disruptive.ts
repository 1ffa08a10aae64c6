// Actions that decide about the transaction. `block` asks for the default action of the phase.
import { quoteForMessage, type DisruptiveChoice } from '../bound-rule.js';
import type { ActionCall, ActionEntry } from './entry.js';

export function disruptive(
  choose: (call: ActionCall) => DisruptiveChoice | string,
  value: ActionEntry['value'] = 'none',
): ActionEntry {
  return {
    group: 'disruptive',
    value,
    apply: (call) => {
      const choice = choose(call);
      if (typeof choice === 'string') return choice;
      const { set, context, node } = call;
      // `block` asks for the default action; an explicit action beside it wins, whatever their order.
      if (choice.kind === 'block' && set.disruptive !== null) return null;
      if (set.disruptive !== null && set.disruptive.kind !== 'block' && set.disruptive.kind !== choice.kind)
        context.report('GH-C4008', `"${choice.kind}" replaces "${set.disruptive.kind}"`, node);
      set.disruptive = choice;
      return null;
    },
  };
}

export function allowScope(value: string): DisruptiveChoice | string {
  const scope = value === '' ? 'all' : value.toLowerCase();
  return scope === 'all' || scope === 'phase' || scope === 'request'
    ? { kind: 'allow', scope }
    : `${quoteForMessage(value)} is not a scope; use allow, allow:phase or allow:request`;
}
