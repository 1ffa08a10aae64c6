// The actions of the rule language as one table: name → what it adds to an ActionSet. Refusals are in a table too, so
// that the reader of a diagnostic learns the reason.
import type { DiagnosticCode } from '../../diagnostics/codes.js';
import type { ActionNode } from '../../tree/ast.js';
import { quoteForMessage, type ActionSet, type BindContext } from '../bound-rule.js';
import { bindControl } from './controls.js';
import { allowScope, disruptive } from './disruptive.js';
import { data, flag, macros, numeric, text, type ActionEntry, type ActionGroup } from './entry.js';
import { phase, setMsg, severity, transformation, xmlns } from './rule-facts.js';
import { deprecatevar, expirevar, identity, initcol, setenv, setvar } from './variables.js';

export type { ActionGroup } from './entry.js';
export { severityNames } from './rule-facts.js';

const actions: ReadonlyMap<string, ActionEntry> = new Map<string, ActionEntry>([
  ['id', numeric('identity', 1, 999_999_999_999, (set, value) => (set.id = value))],
  ['phase', { group: 'identity', value: 'required', apply: phase }],
  ['chain', flag('flow', (set) => (set.chain = true))],
  ['skip', numeric('flow', 1, 1_000_000, (set, value) => (set.skip = value))],
  ['skipafter', text('flow', (set, value) => (set.skipAfter = value))],
  ['pass', disruptive(() => ({ kind: 'pass' }))],
  ['deny', disruptive(() => ({ kind: 'deny' }))],
  ['drop', disruptive(() => ({ kind: 'drop' }))],
  ['block', disruptive(() => ({ kind: 'block' }))],
  ['allow', disruptive((call) => allowScope(call.value), 'optional')],
  ['redirect', disruptive((call) => ({ kind: 'redirect', url: macros(call) }), 'required')],
  ['status', numeric('data', 100, 599, (set, value) => (set.status = value))],
  ['log', flag('log', (set) => ((set.log = true), (set.auditlog ??= true)))],
  ['nolog', flag('log', (set) => ((set.log = false), (set.auditlog = false)))],
  ['auditlog', flag('log', (set) => (set.auditlog = true))],
  ['noauditlog', flag('log', (set) => (set.auditlog = false))],
  ['msg', { group: 'metadata', value: 'required', apply: setMsg }],
  ['logdata', { group: 'metadata', value: 'required', apply: (call) => ((call.set.logdata = macros(call)), null) }],
  ['tag', text('metadata', (set, value) => set.tags.push(value))],
  ['severity', { group: 'metadata', value: 'required', apply: severity }],
  ['ver', text('metadata', (set, value) => (set.ver = value))],
  ['rev', text('metadata', (set, value) => (set.rev = value))],
  ['maturity', numeric('metadata', 0, 9, (set, value) => (set.maturity = value))],
  ['accuracy', numeric('metadata', 0, 9, (set, value) => (set.accuracy = value))],
  ['t', { group: 'transformation', value: 'required', apply: transformation }],
  ['multimatch', flag('matching', (set) => (set.multiMatch = true))],
  ['capture', flag('matching', (set) => (set.capture = true))],
  ['xmlns', { group: 'matching', value: 'required', apply: xmlns }],
  ['ctl', data(({ node, value, set, context }) => bindControl(node, value, set, context))],
  ['setvar', data(setvar)],
  ['expirevar', data(expirevar)],
  ['deprecatevar', data(deprecatevar)],
  ['initcol', data(initcol)],
  ['setenv', data(setenv)],
  ['setsid', data(identity('setsid'))],
  ['setuid', data(identity('setuid'))],
  ['setrsc', data(identity('setrsc'))],
]);

const refusedActions: ReadonlyMap<string, { readonly code: DiagnosticCode; readonly reason: string }> = new Map<
  string,
  { readonly code: DiagnosticCode; readonly reason: string }
>([
  ['exec', { code: 'GH-C6001', reason: 'it runs a program for every match' }],
  ['append', { code: 'GH-C6006', reason: 'bodies are not rewritten' }],
  ['prepend', { code: 'GH-C6006', reason: 'bodies are not rewritten' }],
  [
    'pause',
    { code: 'GH-C6006', reason: 'holding requests open helps an attacker to exhaust the proxy; use rate limits' },
  ],
  ['proxy', { code: 'GH-C6006', reason: 'upstreams are chosen by the site settings' }],
  ['sanitisearg', { code: 'GH-C6006', reason: 'masking is a setting of the event log' }],
  ['sanitisematched', { code: 'GH-C6006', reason: 'masking is a setting of the event log' }],
  ['sanitisematchedbytes', { code: 'GH-C6006', reason: 'masking is a setting of the event log' }],
  ['sanitiserequestheader', { code: 'GH-C6006', reason: 'masking is a setting of the event log' }],
  ['sanitiseresponseheader', { code: 'GH-C6006', reason: 'masking is a setting of the event log' }],
]);

/** A rule has one of each; written twice, the first is lost without a trace. */
const singular: ReadonlySet<string> = new Set([
  'id',
  'phase',
  'msg',
  'logdata',
  'severity',
  'status',
  'ver',
  'rev',
  'skip',
  'skipafter',
]);

/**
 * Applies a list of actions to `set`. `allows` may refuse by name and group (SecDefaultAction, updates) with a message.
 * False when something was reported as an error.
 */
export function applyActions(
  nodes: readonly ActionNode[],
  set: ActionSet,
  context: BindContext,
  allows?: (name: string, group: ActionGroup, node: ActionNode) => boolean,
): boolean {
  let clean = true;
  const seen = new Set<string>();
  for (const node of nodes) {
    const name = node.name.text.toLowerCase().replace(/^sanitize/, 'sanitise');
    const refusal = refusedActions.get(name);
    const entry = actions.get(name);
    if (refusal !== undefined) context.report(refusal.code, `the action "${name}" is refused: ${refusal.reason}`, node);
    else if (entry === undefined)
      context.report('GH-C4001', `there is no action ${quoteForMessage(node.name.text)}`, node);
    if (entry === undefined) {
      clean = false;
      continue;
    }
    if (allows !== undefined && !allows(name, entry.group, node)) {
      clean = false;
      continue;
    }
    if (singular.has(name) && seen.has(name)) context.report('GH-C4008', `"${name}" stands twice`, node);
    seen.add(name);
    const value = node.value?.text ?? '';
    if (entry.value === 'none' && value !== '')
      context.report('GH-C4005', `"${name}" takes no value`, node.value ?? node);
    const problem =
      entry.value === 'required' && value === ''
        ? `"${name}" needs a value`
        : entry.apply({ node, value, set, context });
    if (problem !== null) {
      context.report('GH-C4002', `${node.name.text}: ${problem}`, node.value ?? node);
      clean = false;
    }
  }
  return clean;
}
