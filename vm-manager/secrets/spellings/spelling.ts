// What the tables of this folder share: how a value is written behind a name or an option, and which values are given
// in the text. A variable, a file or a word of a sentence stands for a secret and is none.
import { isKeyWord } from '../shapes.js';
import { hide, isFile, isMadeUp, isMixed, isPlaceholder } from '../values.js';
import { isOrdinary } from '../words.js';

export type Judge = (value: string) => boolean;

/** One way to write a secret. Group 1 of the pattern is what stands before the value, the value is all behind it. */
export interface Spelling {
  /** Small letters, between `|`: without one of them in the text the pattern is not tried. */
  readonly needs: string;
  readonly pattern: RegExp;
  readonly judge: Judge;
}

const longest = 200;
/** An opening quotation mark that is there or not, also an escaped one. */
export const open = '\\\\?["\']?';
/** To the closing quotation mark of the kind that was opened, else to the end of the word. */
export const value =
  `(?:(?<=")(?:[^"\\\\\\n]|\\\\(?!"|$)){1,${longest}}|(?<=')(?:[^'\\\\\\n]|\\\\(?!'|$)){1,${longest}}|` +
  `[^\\s"'\`|;&<>(),]{1,${longest}})`;
/** A blank, or what stands between two members of a list of arguments. */
export const gap = '(?:[ \\t]{1,4}|\\\\?["\'],\\s{0,4}\\\\?["\'])';

/** Words that descriptions write behind an option or a directive. */
const ofProse = new Set(
  (
    'option options flag flags switch argument arguments directive command line its our their his her one two both ' +
    'prompt stdin stdout auto always never only first public private community read write readonly string ' +
    'setting settings mode true false yes off secret password'
  ).split(' '),
);

const isVariable = (text: string): boolean =>
  /^(?:\$[A-Za-z_]\w*|\$env:\w+|%[A-Za-z_]\w*%|[$%#]?[{(<[].*|@[\w./\\-]+)$/i.test(text) ||
  /^(?:[-+&|].*|:[A-Za-z_]\w*|\.{2,}|(?:file|env|fd):.*)$/i.test(text);

/** The value itself, by what it looks like: for places where nothing but a secret stands. */
export const isGiven: Judge = (text) =>
  text.length >= 3 &&
  !isPlaceholder(text) &&
  !isVariable(text) &&
  !/\*{4}|\$[({]|`|^\s|\s$|^[\W_]+$/.test(text) &&
  !/^[A-Za-z]:?[\\/]|^\.{0,2}\/|:\/\//.test(text) &&
  !(isKeyWord.test(text) && /^[A-Za-z_.\s-]+$/.test(text));

/** The same where a sentence may stand, too. */
export const isTyped: Judge = (text) => {
  const word = text.replace(/[.,:;!?]+$/, '');
  return isGiven(text) && !isOrdinary(word) && !ofProse.has(word.toLowerCase());
};

const technical = new RegExp(
  '^(?:(?:hmac|sha|md|pbkdf|oauth|oidc|base|utf|rsa|aes|des|ecdsa|ed|hs|rs|es|ps|tls|ssl|http|cwe|cve|ghsa|rfc|ckv|' +
    'iso|nist|owasp|pkcs|argon|ripemd|blake|sm|ipv|log4j|line|col|row|step|page|part|' +
    'test|user|level|type)' +
    '[-_ ]?v?\\d[\\w.:-]*|[bgsvx][-_ ]?\\d{1,5}(?:[.:-]\\d+)*|\\w+\\d?\\.(?:[a-z]{2,4})|' +
    '\\d+(?:px|em|ms|s|m|h|d|k|mb|gb|kb|st|nd|rd|th|bits?|bytes?)|' +
    'v?\\d+(?:[.:/x-]\\d+)*)$',
  'i',
);
export const isTechnical = (text: string): boolean => technical.test(text) || isFile(text);

/** No word of prose or code: letters with digits or signs, or letters by chance. */
export const isUnspeakable: Judge = (text) =>
  isTyped(text) && text.length >= 5 && !isTechnical(text) && (isMixed(text) || isMadeUp(text));

/** So mixed that it needs nothing around it but the name: digits or signs within, and not a word with a number. */
export const isStrongWord: Judge = (text) =>
  isUnspeakable(text) &&
  text.length >= 6 &&
  !/[/\\]/.test(text) &&
  !/^[A-Za-z]+[-_.]?\d{1,4}[.,]?$/.test(text) &&
  !/^[A-Za-z]+(?:[-_.][A-Za-z]+)*[!?.,:]*$/.test(text);

/** The text without the values of all spellings of a table. */
export function tableOf(spellings: readonly Spelling[]): (text: string) => string {
  const table = spellings.map(({ needs, pattern, judge }) => ({ needs: needs.split('|'), pattern, judge }));
  return (text) => {
    // masks take letters away and add none
    const small = text.toLowerCase();
    let masked = text;
    for (const { needs, pattern, judge } of table)
      if (needs.some((word) => small.includes(word)))
        masked = masked.replace(pattern, (all: string, head: string) => {
          const found = all.slice(head.length);
          return judge(found) ? head + hide(found) : all;
        });
    return masked;
  };
}
