// Bytes of a rule file → directives as lists of tokens. Knows comments, continuation lines, both quotes and escapes, LF
// and CRLF; knows nothing about any directive. After a problem it goes on at the next line, so that one run finds all.
//
// Escapes: inside a quoted string a backslash before the quote that opened it gives that quote; every other backslash
// stays (regular expressions need them). A backslash before a line end joins the lines, in comments too, as in
// ModSecurity v3 and Apache. A bare line end inside quotes is allowed with a warning (ModSecurity v3 does), but not
// when the next line begins like a directive or a comment: otherwise one forgotten quote would swallow the rest of the
// file.
import type { Token } from './fragment.js';
import type { Diagnostics } from '../diagnostics/diagnostics.js';
import type { SourceFile, Span } from './source.js';

/** One directive: the name and its arguments. */
export interface TokenLine {
  readonly kind: 'line';
  readonly tokens: readonly [Token, ...Token[]];
}

/** A logical line that was reported. */
export interface DamagedLine extends Span {
  readonly kind: 'damaged';
}

const enum Char {
  tab = 9,
  newline = 10,
  carriageReturn = 13,
  space = 32,
  doubleQuote = 34,
  hash = 35,
  singleQuote = 39,
  backslash = 92,
}

const directiveStart = /^\s*(?:Sec[A-Z]|Include|#|$)/i;
const swallowed = /^[ \t]*(?:Sec[A-Z]|Include)/i;
const byteOrderMark = '\xef\xbb\xbf'; // UTF-8's, which editors on Windows write

class Lexer {
  private at = 0;
  private readonly text: string;

  constructor(
    private readonly file: SourceFile,
    private readonly diagnostics: Diagnostics,
  ) {
    this.text = file.text;
  }

  run(): (TokenLine | DamagedLine)[] {
    const lines: (TokenLine | DamagedLine)[] = [];
    if (this.text.startsWith(byteOrderMark)) this.at = byteOrderMark.length;
    while (this.at < this.text.length) {
      const code = this.text.charCodeAt(this.at);
      if (code === Char.hash) this.skipComment();
      else if (code === Char.space || code === Char.tab || code === Char.newline || code === Char.carriageReturn)
        this.at += 1;
      else if (code === Char.backslash && this.continuationEnd(this.at) !== -1) this.at = this.continuationEnd(this.at);
      else {
        const start = this.at;
        lines.push(this.line() ?? { kind: 'damaged', file: this.file.id, start, end: this.at });
      }
    }
    return lines;
  }

  /** Offset after a backslash-newline that starts at `from`, or −1. Spaces between the two are forgiven. */
  private continuationEnd(from: number): number {
    let at = from + 1;
    while (this.text.charCodeAt(at) === Char.space || this.text.charCodeAt(at) === Char.tab) at += 1;
    const spaced = at > from + 1;
    if (this.text.charCodeAt(at) === Char.carriageReturn) at += 1;
    if (this.text.charCodeAt(at) === Char.newline) {
      if (spaced)
        this.diagnostics.report('GH-C1003', 'whitespace between the backslash and the end of the line', this.file, {
          start: from,
          end: from + 1,
        });
      return at + 1;
    }
    return at >= this.text.length && !spaced ? at : -1;
  }

  private skipComment(): void {
    const start = this.at;
    this.skipLogicalLine();
    for (
      let newline = this.text.indexOf('\n', start);
      newline !== -1 && newline < this.at - 1;
      newline = this.text.indexOf('\n', newline + 1)
    ) {
      const next = newline + 1;
      const word = swallowed.exec(this.text.slice(next, next + 40));
      if (word !== null)
        this.diagnostics.report(
          'GH-C1012',
          'the backslash at the end of a comment makes this line a part of it',
          this.file,
          { start: next, end: next + word[0].length },
        );
    }
  }

  private skipLogicalLine(): void {
    while (this.at < this.text.length) {
      const newline = this.text.indexOf('\n', this.at);
      if (newline === -1) {
        this.at = this.text.length;
        return;
      }
      const before = this.text.charCodeAt(newline - 1) === Char.carriageReturn ? newline - 2 : newline - 1;
      const continued = before >= this.at && this.text.charCodeAt(before) === Char.backslash;
      this.at = newline + 1;
      if (!continued) return;
    }
  }

  /** Tokens up to the end of the logical line; null when the line is damaged. */
  private line(): TokenLine | null {
    const tokens: Token[] = [];
    while (this.at < this.text.length) {
      const code = this.text.charCodeAt(this.at);
      if (code === Char.newline) {
        this.at += 1;
        break;
      }
      if (code === Char.space || code === Char.tab || code === Char.carriageReturn) {
        this.at += 1;
        continue;
      }
      if (code === Char.backslash) {
        const after = this.continuationEnd(this.at);
        if (after !== -1) {
          this.at = after;
          continue;
        }
      }
      const token =
        code === Char.doubleQuote || code === Char.singleQuote ? this.quoted(code) : this.bare(tokens.length === 1);
      if (token === null) return null;
      tokens.push(token);
    }
    const [name, ...args] = tokens;
    return name === undefined ? null : { kind: 'line', tokens: [name, ...args] };
  }

  private quoted(quote: number): Token | null {
    const start = this.at;
    const pieces: string[] = [];
    const origins: number[] = [0, start + 1];
    let length = 0;
    let from = start + 1;
    let bareLineEnd: number | null = null;
    const cut = (to: number, next: number): void => {
      pieces.push(this.text.slice(from, to));
      length += to - from;
      origins.push(length, next);
      from = next;
    };
    for (let at = start + 1; at < this.text.length; at += 1) {
      const code = this.text.charCodeAt(at);
      if (code === quote) {
        pieces.push(this.text.slice(from, at));
        this.at = at + 1;
        if (bareLineEnd !== null)
          this.diagnostics.report('GH-C1011', 'a quoted string goes over a line end without a backslash', this.file, {
            start: bareLineEnd,
            end: bareLineEnd,
          });
        if (!this.atBoundary()) {
          this.diagnostics.report('GH-C1002', 'text follows the closing quote directly', this.file, {
            start: this.at,
            end: this.at + 1,
          });
          this.skipLogicalLine();
          return null;
        }
        return {
          file: this.file.id,
          start,
          end: at + 1,
          text: pieces.join(''),
          quote: quote === Char.doubleQuote ? '"' : "'",
          origins,
        };
      }
      if (code === Char.backslash) {
        const next = this.text.charCodeAt(at + 1);
        const after = next === quote || next === Char.backslash ? -1 : this.continuationEnd(at);
        if (next === quote) cut(at, at + 1);
        if (after !== -1) {
          cut(at, after);
          at = after - 1;
        } else if (next === quote || next === Char.backslash) at += 1;
      } else if (code === Char.newline) {
        if (directiveStart.test(this.text.slice(at + 1, at + 40))) break;
        bareLineEnd ??= at;
      }
    }
    this.diagnostics.report('GH-C1001', 'a quoted string is not closed', this.file, { start, end: start + 1 });
    this.at = start;
    this.skipLogicalLine();
    return null;
  }

  private atBoundary(): boolean {
    const code = this.text.charCodeAt(this.at);
    if (
      this.at >= this.text.length ||
      code === Char.space ||
      code === Char.tab ||
      code === Char.newline ||
      code === Char.carriageReturn
    )
      return true;
    return code === Char.backslash && this.continuationEnd(this.at) !== -1;
  }

  /**
   * A word up to whitespace. In a directive's first argument single quotes protect whitespace: `ARGS:'/a b/'`,
   * `XML://item[@name='a b']`.
   */
  private bare(protectQuotes: boolean): Token {
    const start = this.at;
    const pieces: string[] = [];
    const origins: number[] = [0, start];
    let length = 0;
    let from = start;
    let at = start;
    let quotedUntil = -1;
    for (; at < this.text.length; at += 1) {
      const code = this.text.charCodeAt(at);
      if (code === Char.newline || code === Char.carriageReturn) break;
      if ((code === Char.space || code === Char.tab) && at > quotedUntil) break;
      if (code === Char.singleQuote && protectQuotes && at > quotedUntil) {
        const close = this.text.indexOf("'", at + 1);
        const lineEnd = this.text.indexOf('\n', at + 1);
        if (close !== -1 && (lineEnd === -1 || close < lineEnd)) quotedUntil = close;
      }
      if (code !== Char.backslash) continue;
      const after = this.continuationEnd(at);
      if (after === -1) continue;
      pieces.push(this.text.slice(from, at));
      length += at - from;
      origins.push(length, after);
      from = after;
      at = after - 1;
    }
    pieces.push(this.text.slice(from, at));
    this.at = at;
    return { file: this.file.id, start, end: at, text: pieces.join(''), quote: null, origins };
  }
}

/** Splits a file into directives. Never throws; problems are reported and their line is marked as damaged. */
export function lexFile(file: SourceFile, diagnostics: Diagnostics): (TokenLine | DamagedLine)[] {
  return new Lexer(file, diagnostics).run();
}
