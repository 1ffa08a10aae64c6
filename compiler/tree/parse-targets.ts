// The target list of a rule: `A|!B:name|&C:/regex/`.
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { isBlank, sliceFragment, trimFragment, type Fragment } from '../text/fragment.js';
import type { SourceFile } from '../text/source.js';
import type { SelectorNode, TargetNode } from './ast.js';

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
