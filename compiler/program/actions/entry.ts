// An action of the rule language: what it is, and short ways to write one down. A handler returns null or why its value
// is wrong.
import type { ActionNode } from '../../tree/ast.js';
import { sliceFragment } from '../../text/fragment.js';
import { parseDecimal, quoteForMessage, type ActionSet, type BindContext } from '../bound-rule.js';
import { parseTemplate } from '../template.js';

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

export interface ActionCall {
  readonly node: ActionNode;
  readonly value: string;
  readonly set: ActionSet;
  readonly context: BindContext;
}

export interface ActionEntry {
  readonly group: ActionGroup;
  readonly value: 'none' | 'required' | 'optional';
  /** Returns what is wrong, or null. */
  readonly apply: (call: ActionCall) => string | null;
}

export function macros(call: ActionCall, text = call.value): ReturnType<typeof parseTemplate> {
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

export function flag(group: ActionGroup, apply: (set: ActionSet) => void): ActionEntry {
  return { group, value: 'none', apply: ({ set }) => (apply(set), null) };
}

export function numeric(
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

export function text(group: ActionGroup, apply: (set: ActionSet, value: string) => void): ActionEntry {
  return { group, value: 'required', apply: ({ value, set }) => (apply(set, value), null) };
}

export function data(apply: ActionEntry['apply']): ActionEntry {
  return { group: 'data', value: 'required', apply };
}
