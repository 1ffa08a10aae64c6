// SQL as servers read it: only as far as it is needed to see where a value ends to be data.
import { brokenBy, crosses, tokensMax, type Token } from './token.js';

/** mysql: backslashes escape within quotes, # begins a comment. The others follow the standard. */
export type Dialect = 'mysql' | 'postgres' | 'sqlite';

const space = /\s/;
const wordStart = /[\p{L}_]/u;
const wordPart = /[\p{L}\p{N}_$]/u;
const digit = /[0-9]/;

function endOfQuoted(text: string, from: number, quote: string, escapes: boolean): number {
  for (let at = from + 1; at < text.length; at++) {
    const character = text[at];
    if (escapes && character === '\\') at++;
    else if (character === quote) {
      if (text[at + 1] !== quote) return at + 1;
      at++;
    }
  }
  return text.length;
}

function endOf(text: string, from: number, end: string): number {
  const found = text.indexOf(end, from);
  return found < 0 ? text.length : found + (end === '\n' ? 0 : end.length);
}

function endOfRun(text: string, from: number, part: RegExp): number {
  let at = from + 1;
  while (at < text.length && part.test(text[at] ?? '')) at++;
  return at;
}

/** One token that begins at `at`, where no space is. */
function tokenAt(text: string, at: number, dialect: Dialect): Token {
  const character = text[at] ?? '';
  const two = text.slice(at, at + 2);
  const token = (kind: Token['kind'], end: number): Token => ({ kind, start: at, end });
  if (character === "'") {
    const escapes =
      dialect === 'mysql' || (dialect === 'postgres' && /(?:^|[^\w$])[eE]$/.test(text.slice(0, at).slice(-2)));
    return token('quoted', endOfQuoted(text, at, character, escapes));
  }
  if (character === '"' || character === '`')
    return token('quoted', endOfQuoted(text, at, character, dialect === 'mysql' && character === '"'));
  if (two === '--' || (character === '#' && dialect === 'mysql')) return token('comment', endOf(text, at, '\n'));
  if (two === '/*') return token('comment', endOf(text, at + 2, '*/'));
  if (character === '$' && dialect === 'postgres') {
    const tag = /^\$(?:[A-Za-z_]\w{0,60})?\$/.exec(text.slice(at, at + 70))?.[0];
    if (tag !== undefined) return token('quoted', endOf(text, at + tag.length, tag));
  }
  if (digit.test(character)) return token('number', endOfRun(text, at, /[0-9a-zA-Z_.]/));
  if (wordStart.test(character)) return token('word', endOfRun(text, at, wordPart));
  return token('sign', at + 1);
}

export function lexSql(text: string, dialect: Dialect): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < text.length && tokens.length < tokensMax; ) {
    if (space.test(text[at] ?? '')) {
      at++;
      continue;
    }
    const token = tokenAt(text, at, dialect);
    tokens.push(token);
    at = token.end;
  }
  return tokens;
}

/** Names with a direction (`name DESC, id`) order rows and change nothing else: a page may offer them as they are. */
const ordering = /^(?:asc|desc|nulls|first|last|collate|nocase)$/i;
const clauses = new RegExp(
  '^(?:or|and|xor|not|union|select|insert|update|delete|drop|alter|create|truncate|exec|execute|call|sleep|benchmark' +
    '|waitfor|having|into|case|when|like|rlike|regexp|between|in|is|where|from|set|values|join|exists|intersect' +
    '|except|begin|commit|grant|attach|pragma|copy|do|returning|null|true|false)$',
  'i',
);
const changing = /[=<>!|&();~^]/;

/** Where the value stands in the statement as more than data, or null. */
export function breaksSql(text: string, value: string, tokens: readonly Token[]): number | null {
  for (const { start, touched } of brokenBy(text, tokens, value)) {
    const end = start + value.length;
    const isDangerous = touched.some((token) => {
      const written = text.slice(token.start, token.end);
      if (crosses(token, start, end)) return true;
      if (token.kind === 'sign') return changing.test(written);
      return token.kind === 'word' && token.start >= start && !ordering.test(written) && clauses.test(written);
    });
    if (isDangerous) return start;
  }
  return null;
}
