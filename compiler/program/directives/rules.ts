// SecMarker and SecDefaultAction; SecRule and SecAction are bound in program/bind.ts.
import { applyActions, type ActionGroup } from '../actions/index.js';
import { createActionSet } from '../bound-rule.js';
import { parseActions } from '../../tree/parse-actions.js';
import type { ActionNode } from '../../tree/ast.js';
import { argument, type Directive } from './directive.js';

const secMarker: Directive = {
  name: 'SecMarker',
  argsMin: 1,
  argsMax: 1,
  apply: (node, configuration) => {
    configuration.items.push({ kind: 'marker', name: argument(node, 0) });
  },
};

/** Actions that belong to one rule and make no sense as a default. */
const ruleOnly: ReadonlySet<string> = new Set([
  'id',
  'chain',
  'skip',
  'skipafter',
  'msg',
  'severity',
  'ver',
  'rev',
  'maturity',
  'accuracy',
  'capture',
  'multimatch',
  'xmlns',
]);

const secDefaultAction: Directive = {
  name: 'SecDefaultAction',
  argsMin: 1,
  argsMax: 1,
  apply: (node, configuration, context) => {
    const [source] = node.args;
    if (source === undefined) return;
    const nodes = parseActions(source, context.file(source.file), context.diagnostics);
    if (nodes === null) return;
    const set = createActionSet();
    const allows = (name: string, _group: ActionGroup, action: ActionNode): boolean => {
      const isReset = name === 't' && action.value?.text.toLowerCase() === 'none';
      if (!ruleOnly.has(name) && !isReset) return true;
      context.report('GH-C5005', `"${isReset ? 't:none' : name}" cannot be a default action`, action);
      return false;
    };
    if (!applyActions(nodes, set, context, allows)) return;
    if (set.disruptive === null || set.disruptive.kind === 'block') {
      context.report('GH-C5003', 'SecDefaultAction has no disruptive action', source);
      return;
    }
    const phase = set.phase ?? 1; // as ModSecurity v3 does
    if (set.phase === null) context.report('GH-C2014', 'SecDefaultAction without a phase means phase 1', source);
    if (configuration.defaults.has(phase))
      context.report('GH-C5004', `phase ${phase} has a SecDefaultAction already`, node);
    else configuration.defaults.set(phase, set);
  },
};

export const ruleDirectives: readonly Directive[] = [secMarker, secDefaultAction];
