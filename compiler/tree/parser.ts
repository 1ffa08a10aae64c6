// Tokens → AST. A directive that does not parse is reported and left out as `damaged`; the next one is read as if
// nothing had happened.
import type {
  ActionNode,
  DamagedNode,
  Fragment,
  Node,
  OperatorNode,
  RuleNode,
  SelectorNode,
  TargetNode,
  Token,
} from './ast.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { isBlank, sliceFragment, trimFragment, unescapeFragment } from '../text/fragment.js';
import { lexFile, type TokenLine } from '../text/lexer.js';
import type { SourceFile, Span } from '../text/source.js';

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

class TargetParser {
  private at = 0;

  constructor(
    private readonly source: Fragment,
    private readonly file: SourceFile,
    private readonly diagnostics: Diagnostics,
    private readonly commaSeparates: boolean,
  ) {}

  run(): TargetNode[] | null {
    const { text } = this.source;
    const targets: TargetNode[] = [];
    while (true) {
      this.skipBlanks();
      const target = this.target();
      if (target === null) return null;
      targets.push(target);
      this.skipBlanks();
      if (this.at >= text.length) return targets;
      if (!this.isSeparator(this.at)) return this.fail(`unexpected "${text[this.at]}" in the targets`);
      this.at += 1;
    }
  }

  private fail(message: string): null {
    const at = Math.min(this.at, Math.max(0, this.source.text.length - 1));
    this.diagnostics.report(
      'GH-C2006',
      message,
      this.file,
      sliceFragment(this.source, at, Math.min(at + 1, this.source.text.length)),
    );
    return null;
  }

  private isSeparator(at: number): boolean {
    return this.source.text[at] === '|' || (this.commaSeparates && this.source.text[at] === ',');
  }

  private skipBlanks(): void {
    while (this.at < this.source.text.length && isBlank(this.source.text.charCodeAt(this.at))) this.at += 1;
  }

  private target(): TargetNode | null {
    const { text } = this.source;
    const start = this.at;
    let modifier: TargetNode['modifier'] = 'none';
    if (text[this.at] === '!') modifier = 'exclude';
    else if (text[this.at] === '&') modifier = 'count';
    if (modifier !== 'none') this.at += 1;
    const nameFrom = this.at;
    while (this.at < text.length && /[A-Za-z0-9_]/.test(text[this.at] as string)) this.at += 1;
    if (this.at === nameFrom) return this.fail('a variable name is missing');
    const name = sliceFragment(this.source, nameFrom, this.at);
    let selector: SelectorNode | null = null;
    if (text[this.at] === ':' || text[this.at] === '.') {
      this.at += 1;
      selector = this.selector(name.text.toUpperCase());
      if (selector === null) return null;
    }
    const whole = sliceFragment(this.source, start, this.at);
    return { file: whole.file, start: whole.start, end: whole.end, name, selector, modifier };
  }

  private selector(variable: string): SelectorNode | null {
    const { text } = this.source;
    if (variable === 'XML') return this.xpath();
    const quote = text[this.at];
    if (quote === "'" || quote === '"') {
      const close = text.indexOf(quote, this.at + 1);
      if (close === -1) return this.fail('the quote of a selector is not closed');
      const body = sliceFragment(this.source, this.at + 1, close);
      this.at = close + 1;
      return this.nonEmpty(regexBody(body) ?? { kind: 'name', body });
    }
    if (quote === '/') {
      const close = this.regexEnd();
      if (close !== -1) {
        const body = sliceFragment(this.source, this.at + 1, close);
        this.at = close + 1;
        return this.nonEmpty({ kind: 'regex', body });
      }
    }
    const from = this.at;
    while (this.at < text.length && !this.isSeparator(this.at)) this.at += 1;
    return this.nonEmpty({ kind: 'name', body: trimFragment(sliceFragment(this.source, from, this.at)) });
  }

  private nonEmpty(selector: SelectorNode): SelectorNode | null {
    return selector.body.text === '' ? this.fail('the selector is empty') : selector;
  }

  /** The slash that closes the regex which starts here: the first unescaped one followed by a separator or the end. */
  private regexEnd(): number {
    const { text } = this.source;
    for (let at = this.at + 1; at < text.length; at += 1) {
      if (text[at] === '\\') at += 1;
      else if (
        text[at] === '/' &&
        (at + 1 === text.length || this.isSeparator(at + 1) || isBlank(text.charCodeAt(at + 1)))
      )
        return at;
    }
    return -1;
  }

  /** An XPath goes to the next `|` outside brackets and quotes. */
  private xpath(): SelectorNode | null {
    const { text } = this.source;
    const from = this.at;
    let depth = 0;
    let quote = '';
    for (; this.at < text.length; this.at += 1) {
      const char = text[this.at] as string;
      if (quote !== '') {
        if (char === quote) quote = '';
      } else if (char === "'" || char === '"') quote = char;
      else if (char === '[' || char === '(') depth += 1;
      else if (char === ']' || char === ')') depth -= 1;
      else if (depth <= 0 && this.isSeparator(this.at)) break;
    }
    return this.nonEmpty({ kind: 'xpath', body: trimFragment(sliceFragment(this.source, from, this.at)) });
  }
}

function regexBody(body: Fragment): SelectorNode | null {
  const { text } = body;
  return text.length >= 2 && text.startsWith('/') && text.endsWith('/')
    ? { kind: 'regex', body: sliceFragment(body, 1, text.length - 1) }
    : null;
}

/** `A|!B:name|&C:/regex/`; with `commaSeparates` also commas (SecRuleUpdateTarget…). null after reporting a problem. */
export function parseTargets(
  source: Fragment,
  file: SourceFile,
  diagnostics: Diagnostics,
  commaSeparates: boolean,
): TargetNode[] | null {
  return new TargetParser(source, file, diagnostics, commaSeparates).run();
}

class ActionParser {
  private at = 0;

  constructor(
    private readonly source: Fragment,
    private readonly file: SourceFile,
    private readonly diagnostics: Diagnostics,
  ) {}

  run(): ActionNode[] | null {
    const { text } = this.source;
    const actions: ActionNode[] = [];
    while (true) {
      this.skip();
      if (this.at >= text.length) return actions;
      const action = this.action();
      if (action === null) return null;
      actions.push(action);
    }
  }

  /** Whitespace and commas; empty entries are harmless and occur in the wild. */
  private skip(): void {
    const { text } = this.source;
    while (this.at < text.length && (text[this.at] === ',' || isBlank(text.charCodeAt(this.at)))) this.at += 1;
  }

  private action(): ActionNode | null {
    const { text } = this.source;
    const start = this.at;
    while (this.at < text.length && text[this.at] !== ',' && text[this.at] !== ':') this.at += 1;
    const name = trimFragment(sliceFragment(this.source, start, this.at));
    let value: Fragment | null = null;
    if (text[this.at] === ':') {
      this.at += 1;
      value = this.value();
      if (value === null) return null;
    }
    const whole = sliceFragment(this.source, start, this.at);
    return { file: whole.file, start: whole.start, end: whole.end, name, value };
  }

  private value(): Fragment | null {
    const { text } = this.source;
    while (this.at < text.length && isBlank(text.charCodeAt(this.at))) this.at += 1;
    const from = this.at;
    const quote = text[from];
    if (quote === "'" || quote === '"') {
      const close = this.closingQuote(from, quote);
      if (close === -1) {
        this.diagnostics.report(
          'GH-C4004',
          'the quote of an action value is not closed',
          this.file,
          sliceFragment(this.source, from, from + 1),
        );
        return null;
      }
      this.at = close + 1;
      this.skipToComma();
      return unescapeFragment(sliceFragment(this.source, from + 1, close), quote);
    }
    while (this.at < text.length && text[this.at] !== ',') {
      const inner = text[this.at];
      // `xmlns:soap='http://…'`, `setvar:tx.a='b, c'`: quotes after "=" protect commas when they close.
      if ((inner === "'" || inner === '"') && text[this.at - 1] === '=') {
        const close = this.closingQuote(this.at, inner);
        if (close !== -1) this.at = close;
      }
      this.at += 1;
    }
    return trimFragment(sliceFragment(this.source, from, this.at));
  }

  private closingQuote(open: number, quote: string): number {
    const { text } = this.source;
    for (let at = open + 1; at < text.length; at += 1) {
      if (text[at] === '\\') at += 1;
      else if (text[at] === quote) return at;
    }
    return -1;
  }

  private skipToComma(): void {
    const { text } = this.source;
    while (this.at < text.length && isBlank(text.charCodeAt(this.at))) this.at += 1;
    if (this.at >= text.length || text[this.at] === ',') return;
    const from = this.at;
    while (this.at < text.length && text[this.at] !== ',') this.at += 1;
    this.diagnostics.report(
      'GH-C4002',
      'text follows the closing quote of an action value',
      this.file,
      sliceFragment(this.source, from, this.at),
    );
  }
}

/** `name, name:value, name:'value'`. null after reporting a problem. */
export function parseActions(source: Fragment, file: SourceFile, diagnostics: Diagnostics): ActionNode[] | null {
  return new ActionParser(source, file, diagnostics).run();
}
