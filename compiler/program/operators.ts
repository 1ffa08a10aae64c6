// Operator names and arguments → OperatorIR.
import { pmPhrases, type OperatorIR } from '#engine/compile';
import type { OperatorNode } from '../tree/ast.js';
import { quoteForMessage, type BindContext } from './bound-rule.js';
import { sliceFragment, type Fragment } from '../text/fragment.js';
import { findOperator, refusedOperators, type ArgumentKind } from './names.js';
import { checkArgument, checkRegex } from './regex-check.js';
import { hasMacro, parseTemplate } from './template.js';

/** Binds an operator; null after reporting. */
export function bindOperator(node: OperatorNode, context: BindContext): OperatorIR | null {
  if (node.implicit) return bindRegex('rx', node, context);
  const refusal = refusedOperators.get(node.name.text.toLowerCase());
  if (refusal !== undefined) {
    context.report(refusal.code, `the operator @${node.name.text} is refused: ${refusal.reason}`, node.name);
    return null;
  }
  const entry = findOperator(node.name.text);
  if (entry === null) {
    context.report('GH-C3001', `there is no operator ${quoteForMessage(`@${node.name.text}`)}`, node.name);
    return null;
  }
  return bindArgument(entry.name, entry.argument, node, context);
}

function bindArgument(name: string, kind: ArgumentKind, node: OperatorNode, context: BindContext): OperatorIR | null {
  const { argument } = node;
  if (kind === 'none') {
    if (argument.text.trim() !== '') context.report('GH-C3005', `@${name} takes no argument`, argument);
    return { name, negated: node.negated, argument: '', template: null, phrases: null };
  }
  if (kind === 'regex') return bindRegex(name, node, context);
  if (argument.text === '' && kind !== 'optional') {
    context.report('GH-C3002', `@${name} needs an argument`, node);
    return null;
  }
  if (kind === 'phrases')
    return {
      name,
      negated: node.negated,
      argument: argument.text,
      template: null,
      phrases: [...new Set(pmPhrases(argument.text))],
    };
  if (kind === 'phrase-files' || kind === 'network-files') {
    const phrases = readPhraseFiles(argument, kind, context);
    if (phrases === null) return null;
    const operator: OperatorIR = { name, negated: node.negated, argument: argument.text, template: null, phrases };
    return kind === 'phrase-files' || checkArgument(operator, argument, context) ? operator : null;
  }
  const template = parseTemplate(argument.text, (index, length) => {
    context.report('GH-C3006', 'this macro names no variable', sliceFragment(argument, index, index + length));
  });
  const withMacros = hasMacro(template);
  const operator: OperatorIR = {
    name,
    negated: node.negated,
    argument: argument.text,
    template: withMacros ? template : null,
    phrases: null,
  };
  return withMacros || checkArgument(operator, argument, context) ? operator : null;
}

function bindRegex(name: string, node: OperatorNode, context: BindContext): OperatorIR | null {
  const template = parseTemplate(node.argument.text);
  const withMacros = hasMacro(template);
  // A pattern with macros is known only per transaction; the engine checks it there.
  if (!withMacros && !checkRegex(node.argument, context)) return null;
  return {
    name,
    negated: node.negated,
    argument: node.argument.text,
    template: withMacros ? template : null,
    phrases: null,
  };
}

function readPhraseFiles(
  argument: Fragment,
  kind: 'phrase-files' | 'network-files',
  context: BindContext,
): string[] | null {
  const phrases = new Set<string>();
  let failed = false;
  for (const match of argument.text.matchAll(/\S+/g)) {
    const path = match[0];
    const at = sliceFragment(argument, match.index, match.index + path.length);
    if (/^https?:/i.test(path)) {
      context.report(
        'GH-C6002',
        `${quoteForMessage(path)} is refused: phrases are read from files, not from the network`,
        at,
      );
      failed = true;
      continue;
    }
    const data = context.sources.readData(context.file(argument.file), path);
    if (data === null) {
      context.report('GH-C1005', `the file ${quoteForMessage(path)} cannot be read`, at);
      failed = true;
      continue;
    }
    for (const line of data.text.split('\n')) {
      const text = line.endsWith('\r') ? line.slice(0, -1) : line;
      // Blanks inside and in front of a phrase belong to it, as in ModSecurity v3; networks have none.
      const phrase = kind === 'network-files' ? text.replace(/#.*$/, '').trim() : text;
      if (phrase.trim() !== '' && !phrase.trimStart().startsWith('#')) phrases.add(phrase);
    }
  }
  return failed ? null : [...phrases];
}
