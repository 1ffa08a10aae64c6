// The actions of the rule language as one table: name → what it adds to an ActionSet. A handler returns null or why its
// value is wrong. Refusals are in the table too, so that the reader of a diagnostic learns the reason.
import { canonicalTransformationName, type Phase } from '#engine/compile';
import type { ActionNode } from '../../tree/ast.js';
import {
  parseDecimal,
  quoteForMessage,
  type ActionSet,
  type BindContext,
  type DisruptiveChoice,
} from '../bound-rule.js';
import { bindControl } from './controls.js';
import type { DiagnosticCode } from '../../diagnostics/diagnostics.js';
import { sliceFragment } from '../../text/fragment.js';
import { hasMacro, lowerTemplate, parseTemplate } from '../template.js';

/** Which group an action belongs to: SecDefaultAction and SecRuleUpdateActionById take only some. */
export type ActionGroup =
  | 'identity'
  | 'metadata'
  | 'disruptive'
  | 'data'
  | 'log'
  | 'flow'
  | 'transformation'
  | 'matching';

interface ActionCall {
  readonly node: ActionNode;
  readonly value: string;
  readonly set: ActionSet;
  readonly context: BindContext;
}

interface ActionEntry {
  readonly group: ActionGroup;
  readonly value: 'none' | 'required' | 'optional';
  /** Returns what is wrong, or null. */
  readonly apply: (call: ActionCall) => string | null;
}

/** By number: 0 EMERGENCY to 7 DEBUG. */
export const severityNames = ['EMERGENCY', 'ALERT', 'CRITICAL', 'ERROR', 'WARNING', 'NOTICE', 'INFO', 'DEBUG'];
const phaseNames: ReadonlyMap<string, Phase> = new Map<string, Phase>([
  ['1', 1],
  ['2', 2],
  ['3', 3],
  ['4', 4],
  ['5', 5],
  ['request', 2],
  ['response', 4],
  ['logging', 5],
]); // prettier-ignore

/** Collections that setvar writes. */
const writableCollections: ReadonlySet<string> = new Set(['TX', 'IP', 'GLOBAL', 'RESOURCE', 'USER', 'SESSION']);
const persistentCollections: ReadonlySet<string> = new Set(['IP', 'GLOBAL', 'RESOURCE', 'USER', 'SESSION']);

function macros(call: ActionCall, text = call.value): ReturnType<typeof parseTemplate> {
  const { node, context } = call;
  return parseTemplate(text, (index, length) => {
    const { value } = node;
    const from = value === null ? -1 : value.text.indexOf(text.slice(index, index + length));
    context.report(
      'GH-C3006',
      'this macro names no variable',
      value === null || from < 0 ? node : sliceFragment(value, from, from + length),
    );
  });
}

function flag(group: ActionGroup, apply: (set: ActionSet) => void): ActionEntry {
  return { group, value: 'none', apply: ({ set }) => (apply(set), null) };
}

function numeric(
  group: ActionGroup,
  min: number,
  max: number,
  apply: (set: ActionSet, value: number) => void,
): ActionEntry {
  return {
    group,
    value: 'required',
    apply: ({ value, set }) => {
      const number = parseDecimal(value, min, max);
      if (number === null) return `${quoteForMessage(value)} is not a number from ${min} to ${max}`;
      apply(set, number);
      return null;
    },
  };
}

function text(group: ActionGroup, apply: (set: ActionSet, value: string) => void): ActionEntry {
  return { group, value: 'required', apply: ({ value, set }) => (apply(set, value), null) };
}

function disruptive(
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

function allowScope(value: string): DisruptiveChoice | string {
  const scope = value === '' ? 'all' : value.toLowerCase();
  return scope === 'all' || scope === 'phase' || scope === 'request'
    ? { kind: 'allow', scope }
    : `${quoteForMessage(value)} is not a scope; use allow, allow:phase or allow:request`;
}

/** `collection.member` or `collection:member`. */
function splitMember(value: string): { collection: string; member: string } | null {
  const match = /^([A-Za-z_]+)[.:]([^]+)$/.exec(value);
  return match === null
    ? null
    : { collection: (match[1] as string).toUpperCase(), member: (match[2] as string).trim() };
}

function setvar(call: ActionCall): string | null {
  const unset = call.value.startsWith('!');
  const body = unset ? call.value.slice(1) : call.value;
  // The first "=" ends the name, except inside a macro.
  const equals = /^(?:%\{[^}]*\}|[^=])*/.exec(body)?.[0].length ?? body.length;
  const member = splitMember(body.slice(0, equals).trim());
  if (member === null) return `${quoteForMessage(call.value)} is not collection.name=value`;
  if (!writableCollections.has(member.collection)) {
    call.context.report(
      'GH-C4007',
      `${quoteForMessage(member.collection)} cannot be written`,
      call.node.value ?? call.node,
    );
    return null;
  }
  const key = lowerTemplate(macros(call, member.member));
  const { collection } = member;
  let value = equals < body.length ? body.slice(equals + 1) : null;
  if (unset) {
    call.set.actions.push({ kind: 'setvar', collection, key, operation: 'unset', value: [] });
    return null;
  }
  // Without "=" the variable becomes 1, as in ModSecurity.
  value ??= '1';
  const operation = value.startsWith('+') ? 'add' : value.startsWith('-') ? 'subtract' : 'set';
  call.set.actions.push({
    kind: 'setvar',
    collection,
    key,
    operation,
    value: macros(call, operation === 'set' ? value : value.slice(1)),
  });
  return null;
}

function splitAssignment(
  call: ActionCall,
  allowed: ReadonlySet<string>,
): { collection: string; member: string; value: string } | string {
  const equals = /^(?:%\{[^}]*\}|[^=])*/.exec(call.value)?.[0].length ?? call.value.length;
  if (equals >= call.value.length) return `${quoteForMessage(call.value)} has no "="`;
  const member = splitMember(call.value.slice(0, equals).trim());
  if (member === null || !allowed.has(member.collection))
    return `${quoteForMessage(call.value)} does not begin with a member of ${[...allowed].join(', ')}`;
  return { ...member, value: call.value.slice(equals + 1).trim() };
}

function expirevar(call: ActionCall): string | null {
  const parts = splitAssignment(call, writableCollections);
  if (typeof parts === 'string') return parts;
  const seconds = macros(call, parts.value);
  if (!hasMacro(seconds) && parseDecimal(parts.value, 0, 2 ** 31) === null)
    return `${quoteForMessage(parts.value)} is not a number of seconds`;
  call.set.actions.push({
    kind: 'expirevar',
    collection: parts.collection,
    key: lowerTemplate(macros(call, parts.member)),
    seconds,
  });
  return null;
}

function deprecatevar(call: ActionCall): string | null {
  const parts = splitAssignment(call, writableCollections);
  if (typeof parts === 'string') return parts;
  const match = /^(\d{1,9})\/(\d{1,9})$/.exec(parts.value);
  if (match === null || Number(match[2]) === 0)
    return `${quoteForMessage(parts.value)} is not amount/seconds such as 60/300`;
  call.set.actions.push({
    kind: 'deprecatevar',
    collection: parts.collection,
    key: lowerTemplate(macros(call, parts.member)),
    amount: Number(match[1]),
    everySeconds: Number(match[2]),
  });
  return null;
}

function initcol(call: ActionCall): string | null {
  const match = /^([A-Za-z_]+)\s*=\s*([^]+)$/.exec(call.value);
  const collection = (match?.[1] ?? '').toUpperCase();
  if (match === null || !persistentCollections.has(collection))
    return `${quoteForMessage(call.value)} is not IP, GLOBAL, RESOURCE, USER or SESSION = key`;
  call.set.actions.push({ kind: 'initcol', collection, key: macros(call, match[2]) });
  return null;
}

function setenv(call: ActionCall): string | null {
  const equals = call.value.indexOf('=');
  const name = (equals === -1 ? call.value : call.value.slice(0, equals)).trim();
  if (!/^[A-Za-z_][A-Za-z0-9_.-]*$/.test(name)) return `${quoteForMessage(name)} is not a name`;
  call.set.actions.push({
    kind: 'setenv',
    name,
    value: macros(call, equals === -1 ? '1' : call.value.slice(equals + 1)),
  });
  return null;
}

function xmlns(call: ActionCall): string | null {
  const match = /^([^=]*)=([^]*)$/.exec(call.value);
  if (match === null) return 'the "=" between prefix and address is missing';
  const prefix = (match[1] as string).trim();
  const address = (match[2] as string).trim().replace(/^'([^]*)'$|^"([^]*)"$/, '$1$2');
  if (prefix === '' || address === '') return 'use xmlns:prefix=http://address';
  if (!/^https?:\/\//i.test(address))
    return `${quoteForMessage(address)} is not an address that begins with http:// or https://`;
  call.set.xmlns.push([prefix, address]);
  return null;
}

function severity(call: ActionCall): string | null {
  const named = severityNames.indexOf(call.value.toUpperCase());
  const value = named === -1 ? parseDecimal(call.value, 0, 255) : named;
  if (value === null) return `${quoteForMessage(call.value)} is not one of ${severityNames.join(', ')} or 0 to 7`;
  call.set.severity = value;
  return null;
}

function transformation(call: ActionCall): string | null {
  const name = canonicalTransformationName(call.value);
  if (name === null) {
    call.context.report('GH-C4003', `there is no transformation ${quoteForMessage(`t:${call.value}`)}`, call.node);
    return null;
  }
  call.set.transformations.push(name);
  return null;
}

function phase(call: ActionCall): string | null {
  const value = phaseNames.get(call.value.toLowerCase());
  if (value === undefined)
    return `${quoteForMessage(call.value)} is not a phase; use 1 to 5, request, response or logging`;
  call.set.phase = value;
  return null;
}

function setMsg(call: ActionCall): null {
  call.set.msg = { text: call.value, template: macros(call) };
  return null;
}

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
  [
    'ctl',
    {
      group: 'data',
      value: 'required',
      apply: ({ node, value, set, context }) => bindControl(node, value, set, context),
    },
  ],
  ['setvar', { group: 'data', value: 'required', apply: setvar }],
  ['expirevar', { group: 'data', value: 'required', apply: expirevar }],
  ['deprecatevar', { group: 'data', value: 'required', apply: deprecatevar }],
  ['initcol', { group: 'data', value: 'required', apply: initcol }],
  ['setenv', { group: 'data', value: 'required', apply: setenv }],
  [
    'setsid',
    {
      group: 'data',
      value: 'required',
      apply: (call) => (call.set.actions.push({ kind: 'setsid', value: macros(call) }), null),
    },
  ],
  [
    'setuid',
    {
      group: 'data',
      value: 'required',
      apply: (call) => (call.set.actions.push({ kind: 'setuid', value: macros(call) }), null),
    },
  ],
  [
    'setrsc',
    {
      group: 'data',
      value: 'required',
      apply: (call) => (call.set.actions.push({ kind: 'setrsc', value: macros(call) }), null),
    },
  ],
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
