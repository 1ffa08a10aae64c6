// JavaScript, only as far as it is needed to see where a value ends to be data, and where `eval(` is a call.
import { brokenBy, crosses, tokensMax, type Token } from './token.js';

const wordStart = /[\p{L}_$]/u;
const wordPart = /[\p{L}\p{N}_$]/u;
/** After these words a slash begins an expression: `return /x/`. */
const expects = /^(?:return|typeof|case|in|of|delete|void|throw|new|else|do|instanceof|yield|await)$/;

function endOfString(text: string, from: number, quote: string): number {
  for (let at = from + 1; at < text.length; at++) {
    const character = text[at];
    if (character === '\\') at++;
    else if (character === quote) return at + 1;
    else if (character === '\n' && quote !== '`') return at;
  }
  return text.length;
}

/** Of `${` within a template to behind its `}`; what is in it is read by the caller. */
function endOfTemplatePart(text: string, from: number): { readonly end: number; readonly isOpen: boolean } {
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === '\\') at++;
    else if (character === '`') return { end: at + 1, isOpen: false };
    else if (character === '$' && text[at + 1] === '{') return { end: at + 2, isOpen: true };
  }
  return { end: text.length, isOpen: false };
}

function endOfPattern(text: string, from: number): number {
  let isClass = false;
  for (let at = from + 1; at < text.length; at++) {
    const character = text[at];
    if (character === '\n') return from + 1;
    if (character === '\\') at++;
    else if (character === '[') isClass = true;
    else if (character === ']') isClass = false;
    else if (character === '/' && !isClass) return at + 1;
  }
  return from + 1;
}

function endOfRun(text: string, from: number, part: RegExp): number {
  let at = from + 1;
  while (at < text.length && part.test(text[at] ?? '')) at++;
  return at;
}

/** Whether a slash behind these tokens begins a pattern and is no division. */
function beginsPattern(text: string, last: Token | undefined): boolean {
  if (last === undefined) return true;
  const written = text.slice(last.start, last.end);
  if (last.kind === 'word') return expects.test(written);
  return last.kind === 'sign' && !/[)\]}]/.test(written);
}

function tokenAt(text: string, at: number, last: Token | undefined): Token {
  const character = text[at] ?? '';
  const token = (kind: Token['kind'], end: number): Token => ({ kind, start: at, end });
  const two = text.slice(at, at + 2);
  if (two === '//')
    return token('comment', Math.max(at + 2, text.indexOf('\n', at) < 0 ? text.length : text.indexOf('\n', at)));
  if (two === '/*')
    return token('comment', text.indexOf('*/', at + 2) < 0 ? text.length : text.indexOf('*/', at + 2) + 2);
  if (character === '"' || character === "'") return token('quoted', endOfString(text, at, character));
  if (character === '/' && beginsPattern(text, last)) {
    const end = endOfPattern(text, at);
    return token(end === at + 1 ? 'sign' : 'quoted', end);
  }
  if (/[0-9]/.test(character)) return token('number', endOfRun(text, at, /[0-9a-zA-Z_.]/));
  if (wordStart.test(character)) return token('word', endOfRun(text, at, wordPart));
  return token('sign', at + 1);
}

/** The tokens of a script. Parts of a template are quoted, what stands in `${…}` is read as code. */
export function lexScript(text: string, most = tokensMax): Token[] {
  const tokens: Token[] = [];
  /** Of each template that is open: how many braces are open in its `${`. */
  const templates: number[] = [];
  for (let at = 0; at < text.length && tokens.length < most; ) {
    const character = text[at] ?? '';
    if (/\s/.test(character)) {
      at++;
      continue;
    }
    const depth = templates.at(-1);
    if (character === '`' || (character === '}' && depth === 0)) {
      if (character === '}') templates.pop();
      const { end, isOpen } = endOfTemplatePart(text, at + 1);
      if (isOpen) templates.push(0);
      tokens.push({ kind: 'quoted', start: at, end });
      at = end;
      continue;
    }
    if (depth !== undefined && character === '{') templates[templates.length - 1] = depth + 1;
    if (depth !== undefined && character === '}') templates[templates.length - 1] = depth - 1;
    const token = tokenAt(text, at, tokens.at(-1));
    tokens.push(token);
    at = token.end;
  }
  return tokens;
}

/** Where the value stands in the script as more than data, or null. Sums of numbers are what a calculator takes. */
export function breaksScript(text: string, value: string, tokens: readonly Token[]): number | null {
  for (const { start, touched } of brokenBy(text, tokens, value)) {
    const end = start + value.length;
    const isDangerous = touched.some((token) => {
      if (crosses(token, start, end)) return true;
      if (token.kind === 'sign') return /[[\]{};=!\\]/.test(text.slice(token.start, token.end));
      return token.kind === 'word' && token.start >= start;
    });
    if (isDangerous) return start;
  }
  return null;
}

/** The place behind each `eval(` that calls it by its name, with something that can be assigned behind. */
export function evalCalls(text: string): number[] {
  const tokens = lexScript(text, 500_000).filter(({ kind }) => kind !== 'comment');
  const found: number[] = [];
  const written = (index: number): string => {
    const token = tokens[index];
    return token === undefined ? '' : text.slice(token.start, token.end);
  };
  for (let index = 0; index < tokens.length; index++) {
    if (written(index) !== 'eval' || written(index + 1) !== '(') continue;
    if (['.', 'function', '#', 'get', 'set', 'async', '*'].includes(written(index - 1))) continue;
    const next = written(index + 2);
    // `eval(x) {` is a method of that name
    if (next === ')' || next === '.' || next === '') continue;
    const end = tokens[index + 1]?.end;
    if (end !== undefined && !isDeclared(tokens, index + 1, written)) found.push(end);
  }
  return found;
}

function isDeclared(tokens: readonly Token[], open: number, written: (index: number) => string): boolean {
  let depth = 0;
  for (let index = open; index < tokens.length; index++) {
    if (written(index) === '(') depth++;
    if (written(index) === ')' && --depth === 0) return written(index + 1) === '{' || written(index + 1) === '=>';
  }
  return true;
}
