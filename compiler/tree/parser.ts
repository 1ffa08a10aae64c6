// Tokens → AST. A directive that does not parse is reported and left out as `damaged`; the next one is read as if
// nothing had happened.
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { isBlank, sliceFragment, type Fragment, type Token } from '../text/fragment.js';
import { lexFile, type TokenLine } from '../text/lexer.js';
import type { SourceFile, Span } from '../text/source.js';
import type { DamagedNode, Node, OperatorNode, RuleNode } from './ast.js';
import { parseActions } from './parse-actions.js';
import { parseTargets } from './parse-targets.js';

/** Reads a whole file. Includes stay DirectiveNodes; the loader follows them. */
export function parseFile(file: SourceFile, diagnostics: Diagnostics): Node[] {
  return lexFile(file, diagnostics).map((line) =>
    line.kind === 'line' ? parseLine(line, file, diagnostics) : damage(line, file),
  );
}

function damage(span: Span, file: SourceFile): DamagedNode {
  return {
    kind: 'damaged',
    file: file.id,
    start: span.start,
    end: span.end,
    chains: /\bchain\b/i.test(file.text.slice(span.start, span.end)),
  };
}

function parseLine(line: TokenLine, file: SourceFile, diagnostics: Diagnostics): Node {
  const [name, ...args] = line.tokens;
  const last = args[args.length - 1] ?? name;
  const span = { file: file.id, start: name.start, end: last.end };
  const key = name.text.toLowerCase();
  if (key !== 'secrule' && key !== 'secaction') return { kind: 'directive', name, key, args, ...span };
  const damaged = damage(span, file);
  const argCountMax = key === 'secrule' ? 3 : 1;
  if (args.length > argCountMax) {
    const extra = args[argCountMax] as Token;
    diagnostics.report('GH-C1002', `${name.text} has more than ${argCountMax} arguments`, file, extra);
    return damaged;
  }
  if (args.length < (key === 'secrule' ? 2 : 1)) {
    diagnostics.report(
      'GH-C1008',
      key === 'secrule' ? 'SecRule needs targets and an operator' : 'SecAction needs actions',
      file,
      name,
    );
    return damaged;
  }
  if (key === 'secaction') {
    const actions = parseActions(args[0] as Token, file, diagnostics);
    return actions === null ? damaged : { kind: 'action', name, targets: [], operator: null, actions, ...span };
  }
  const targets = parseTargets(args[0] as Token, file, diagnostics, false);
  const operator = parseOperator(args[1] as Token);
  const actions = args[2] === undefined ? [] : parseActions(args[2], file, diagnostics);
  if (targets === null || actions === null) return damaged;
  return { kind: 'rule', name, targets, operator, actions, ...span } satisfies RuleNode;
}

/** `@name argument`, `!@name argument`, or a regular expression with or without `!` in front. */
function parseOperator(token: Fragment): OperatorNode {
  const { text } = token;
  const span = { file: token.file, start: token.start, end: token.end };
  let at = 0;
  while (at < text.length && isBlank(text.charCodeAt(at))) at += 1;
  const negated = text[at] === '!';
  if (negated) {
    at += 1;
    while (at < text.length && isBlank(text.charCodeAt(at))) at += 1;
  }
  if (text[at] !== '@') {
    const from = negated ? at : 0; // blanks behind the "!" are not part of the pattern
    return {
      name: sliceFragment(token, from, from),
      negated,
      implicit: true,
      argument: sliceFragment(token, from),
      ...span,
    };
  }
  let end = at + 1;
  while (end < text.length && !isBlank(text.charCodeAt(end))) end += 1;
  const name = sliceFragment(token, at + 1, end);
  while (end < text.length && isBlank(text.charCodeAt(end))) end += 1;
  return { name, negated, implicit: false, argument: sliceFragment(token, end), ...span };
}
