// Versions of Maven artifacts: "Version order specification" of its POM reference.
import { byNumber, compareLists, sign } from './parts.js';

interface Token {
  readonly separator: '.' | '-';
  readonly text: string;
}

const qualifiers = ['alpha', 'beta', 'milestone', 'rc', 'snapshot', '', 'sp'];
const same: Readonly<Record<string, string>> = { ga: '', final: '', release: '', cr: 'rc' };
const short: Readonly<Record<string, string>> = { a: 'alpha', b: 'beta', m: 'milestone' };

const isNumber = (text: string): boolean => /^\d/.test(text);
const isNothing = ({ text }: Token): boolean => text === '' || /^0+$/.test(text);

function tokensOf(version: string): Token[] {
  const found: Token[] = [];
  const pieces = version
    .trim()
    .toLowerCase()
    .split(/([-._])/);
  for (let at = 0; at < pieces.length; at += 2) {
    const separator = at > 0 && pieces[at - 1] === '-' ? '-' : '.';
    const parts = (pieces[at] ?? '').match(/\d+|\D+/g) ?? ['0'];
    for (const [index, part] of parts.entries()) {
      const isFollowed = isNumber(parts[index + 1] ?? '');
      const word = (isFollowed ? short[part] : undefined) ?? same[part] ?? part;
      // between a number and a word stands a hyphen that is not written
      found.push({ separator: index > 0 ? '-' : separator, text: word });
    }
  }
  return found;
}

/** Without what says nothing at the end, and before each hyphen or word: 2.0.x is 2-x. */
function trimmed(tokens: readonly Token[]): Token[] {
  const left = [...tokens];
  for (let at = left.length - 1; at > 0; at--) {
    const [token, next] = [left[at], left[at + 1]];
    if (token === undefined || !isNothing(token)) continue;
    if (next === undefined || next.separator === '-' || !isNumber(next.text)) left.splice(at, 1);
  }
  return left;
}

/** A word comes before `-number`, that before `.number`. */
const kindOf = ({ separator, text }: Token): number => (isNumber(text) ? (separator === '-' ? 1 : 2) : 0);

function compareWord(one: string, other: string): number {
  const [rank, wanted] = [qualifiers.indexOf(one), qualifiers.indexOf(other)];
  if (rank >= 0 && wanted >= 0) return rank - wanted;
  return rank < 0 && wanted < 0 ? sign(one, other) : rank < 0 ? 1 : -1;
}

function compareToken(one: Token | undefined, other: Token | undefined): number {
  const given = one ?? other;
  if (given === undefined) return 0;
  const nothing: Token = { separator: given.separator, text: isNumber(given.text) ? '0' : '' };
  const [left, right] = [one ?? nothing, other ?? nothing];
  const kind = kindOf(left) - kindOf(right);
  if (kind !== 0) return kind;
  return isNumber(left.text) ? byNumber(left.text, right.text) : compareWord(left.text, right.text);
}

export function compareMaven(left: string, right: string): number | null {
  if (!/^[0-9A-Za-z]/.test(left.trim()) || !/^[0-9A-Za-z]/.test(right.trim())) return null;
  return compareLists(trimmed(tokensOf(left)), trimmed(tokensOf(right)), compareToken);
}
