// Directives that set one value.
import type { DirectiveNode } from '../../tree/ast.js';
import { parseDecimal, quoteForMessage, type BindContext } from '../bound-rule.js';
import type { Configuration } from '../configuration.js';
import { argument, type Directive } from './directive.js';

type Settings = Configuration['settings'];

/** One of a few words, compared without regard to case. */
export function choice<T extends string>(
  name: string,
  choices: readonly T[],
  set: (settings: Settings, value: T) => void,
): Directive {
  return {
    name,
    argsMin: 1,
    argsMax: 1,
    apply: (node, configuration, context) => {
      const text = argument(node, 0);
      const value = choices.find((one) => one.toLowerCase() === text.toLowerCase());
      if (value === undefined)
        badValue(node, context, `${name}: ${quoteForMessage(text)} is not one of ${choices.join(', ')}`);
      else set(configuration.settings, value);
    },
  };
}

export function onOff(name: string, set: (settings: Settings, value: boolean) => void): Directive {
  return choice(name, ['On', 'Off'], (settings, value) => set(settings, value === 'On'));
}

export function number(
  name: string,
  min: number,
  max: number,
  set: (settings: Settings, value: number) => void,
): Directive {
  return {
    name,
    argsMin: 1,
    argsMax: 1,
    apply: (node, configuration, context) => {
      const value = parseDecimal(argument(node, 0), min, max);
      if (value === null)
        badValue(node, context, `${name}: ${quoteForMessage(argument(node, 0))} is not a number from ${min} to ${max}`);
      else set(configuration.settings, value);
    },
  };
}

export function textValue(
  name: string,
  set: (settings: Settings, value: string, node: DirectiveNode) => void,
): Directive {
  return {
    name,
    argsMin: 1,
    argsMax: 1,
    apply: (node, configuration) => set(configuration.settings, argument(node, 0), node),
  };
}

/** Accepted because common configurations have it; reported as having no effect. */
export function ignored(name: string, why: string): Directive {
  return {
    name,
    argsMin: 0,
    argsMax: 16,
    apply: (node, _configuration, context) => context.report('GH-C5002', `${name} has no effect: ${why}`, node),
  };
}

export function refused(name: string, code: 'GH-C6001' | 'GH-C6002' | 'GH-C6003' | 'GH-C6004', why: string): Directive {
  return {
    name,
    argsMin: 0,
    argsMax: 16,
    apply: (node, _configuration, context) => context.report(code, `${name} is refused: ${why}`, node),
  };
}

export function badValue(node: DirectiveNode, context: BindContext, message: string): void {
  context.report('GH-C5001', message, node.args[0] ?? node);
}
