// Target names → TargetIR.
import type { TargetIR } from '#engine/compile';
import type { SelectorNode, TargetNode } from '../tree/ast.js';
import { quoteForMessage, type BindContext } from './bound-rule.js';
import { canonicalVariableName, refusedVariables, variables } from './names.js';
import { checkRegex } from './regex-check.js';

/** The XPath expressions the engine answers: all text, all attribute values. */
const supportedXpaths: ReadonlySet<string> = new Set(['/*', '//@*']);

/** Binds one target without its `!`; null after reporting. */
export function bindTarget(node: TargetNode, context: BindContext): TargetIR | null {
  const spelled = node.name.text.toUpperCase();
  const refusal = refusedVariables.get(spelled);
  if (refusal !== undefined) {
    context.report('GH-C6005', `the variable ${spelled} is refused: ${refusal}`, node.name);
    return null;
  }
  const variable = canonicalVariableName(spelled);
  if (variable === null) {
    context.report('GH-C2005', `there is no variable ${quoteForMessage(node.name.text)}`, node.name);
    return null;
  }
  if (node.selector === null) return { variable, selector: null, count: node.modifier === 'count' };
  if (!(variables.get(variable)?.collection ?? false)) {
    context.report('GH-C2013', `${variable} has no members`, node.selector.body);
    return null;
  }
  const selector = bindSelector(node.selector, context);
  return selector === null ? null : { variable, selector, count: node.modifier === 'count' };
}

function bindSelector(node: SelectorNode, context: BindContext): TargetIR['selector'] {
  const { text } = node.body;
  if (node.kind === 'name') return { kind: 'name', name: text.toLowerCase() };
  if (node.kind === 'regex') return checkRegex(node.body, context) ? { kind: 'regex', source: text } : null;
  if (!supportedXpaths.has(text)) {
    context.report(
      'GH-C6005',
      `the XPath ${quoteForMessage(text)} is refused: only XML:/* (text) and XML://@* (attributes) are collected`,
      node.body,
    );
    return null;
  }
  return { kind: 'xpath', expression: text };
}

/** Binds a list; exclusions apart. null after reporting. */
export function bindTargets(
  nodes: readonly TargetNode[],
  context: BindContext,
): { targets: TargetIR[]; exclusions: TargetIR[] } | null {
  const targets: TargetIR[] = [];
  const exclusions: TargetIR[] = [];
  let failed = false;
  for (const node of nodes) {
    const target = bindTarget(node, context);
    if (target === null) failed = true;
    else (node.modifier === 'exclude' ? exclusions : targets).push(target);
  }
  return failed ? null : { targets, exclusions };
}

/** Two targets that name the same thing. */
export function isSameTarget(left: TargetIR, right: TargetIR): boolean {
  return left.variable === right.variable && left.count === right.count && selectorText(left) === selectorText(right);
}

function selectorText(target: TargetIR): string {
  const { selector } = target;
  if (selector === null) return '';
  return selector.kind === 'name'
    ? `n${selector.name}`
    : selector.kind === 'regex'
      ? `r${selector.source}`
      : `x${selector.expression}`;
}
