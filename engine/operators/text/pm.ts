import type { OperatorIR } from '../../program/ir.js';
import type { Matcher, Operator } from '../operator.js';
import { compilePhrases } from './phrase-set.js';

const escapable = ':;\\"';

/**
 * Snort content syntax: `|41 42|` are bytes in hexadecimal, `\` escapes `: ; \ "`. Null = the text is not in this
 * syntax (an escape Snort lacks, a lone bar, digits that make no bytes). ModSecurity 2 means this; v3 decodes only the
 * digits a–f, which nobody can want.
 */
function decodeContent(text: string): string | null {
  let decoded = '';
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] as string;
    if (char === '|') {
      const end = text.indexOf('|', at + 1);
      const digits = end < 0 ? '' : text.slice(at + 1, end).replace(/[ \t]+/g, '');
      if (!/^(?:[0-9A-Fa-f]{2})+$/.test(digits)) return null;
      decoded += Buffer.from(digits, 'hex').toString('latin1');
      at = end;
    } else if (char === '\\') {
      at += 1;
      const escaped = text[at];
      if (escaped === undefined || !escapable.includes(escaped)) return null;
      decoded += escaped;
    } else decoded += char;
  }
  return decoded;
}

/**
 * The phrases of a @pm argument: decoded as Snort content where that is possible, else as written; apart at white
 * space.
 */
export function pmPhrases(argument: string): readonly string[] {
  const trimmed = argument.replace(/^[ \t]+/, '');
  const quoted = trimmed.length > 1 && trimmed.startsWith('"') && trimmed.endsWith('"');
  const content = quoted ? trimmed.slice(1, -1) : trimmed;
  return (decodeContent(content) ?? argument).split(/[ \t\n\v\f\r]+/).filter((phrase) => phrase !== '');
}

function phraseMatcher(phrases: readonly string[]): Matcher {
  const set = compilePhrases(phrases);
  return {
    matches: (value) => set.endOfFirst(value) >= 0,
    capture: (value) => {
      const found = set.first(value);
      return found === null ? null : [found];
    },
  };
}

/**
 * One of the phrases occurs in the value, ASCII case aside (ModSecurity reference, @pm). TX:0 = the phrase as it stands
 * in the value.
 */
export const pm: Operator = {
  name: 'pm',
  create: (operator: OperatorIR, argument) => phraseMatcher(operator.phrases ?? pmPhrases(argument)),
};

/** As pm; the compiler read the file: one phrase a line, taken as it is. */
export const pmFromFile: Operator = {
  name: 'pmFromFile',
  create: (operator: OperatorIR) => phraseMatcher(operator.phrases ?? []),
};
