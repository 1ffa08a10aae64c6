// The action list of a rule: `name, name:value, name:'value'`.
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import { isBlank, sliceFragment, trimFragment, unescapeFragment, type Fragment } from '../text/fragment.js';
import type { SourceFile } from '../text/source.js';
import type { ActionNode } from './ast.js';

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
