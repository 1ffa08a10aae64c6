// Texts of reports without the secrets in them. Three ways lead to a secret: the form of the token, the name that it is
// assigned to, and that the tool says what the secret is. Digests, paths, package names, UUIDs and ordinary code stay.
import { maskSpoken } from './credentials.js';
import { maskFurther, maskManifests, mayGoOn } from './continued.js';
import { undisguised } from './disguises.js';
import { maskCookies, maskEncoded, maskParameters, maskSegments } from './parameters.js';
import {
  assignment,
  authorization,
  isKeyWord,
  isSecretName,
  privateKey,
  quotation,
  run,
  secretMember,
  shortAssignment,
  tokenShapes,
  urlPassword,
  urlToken,
  userOption,
} from './shapes.js';
import { maskSentences, mayMention } from './sentences.js';
import { maskRewritten } from './spellings/rewritten.js';
import { isGiven, isTechnical, isTyped } from './spellings/spelling.js';
import { maskEscaped, maskSpellings, maySpell } from './spellings/spellings.js';
import { maskTables } from './tables.js';
import {
  hide,
  isCredentialWord,
  isMadeUp,
  isMixed,
  isNameOfCode,
  isNumberedWord,
  isPlaceholder,
  isSecretLiteral,
  isTokenLike,
} from './values.js';
import { isPhrase, isSecretOfLine, phraseLine } from './words.js';

const namedMin = 4;
const depthMax = 16;

interface Place {
  readonly operator: string;
  /** The character in front of the name. */
  readonly before: string;
  /** Nothing else stands in its line. */
  readonly isLine: boolean;
}

function isSecretWord(value: string, { operator, before, isLine }: Place): boolean {
  if (isPlaceholder(value) || /^[A-Za-z]:?[\\/]|^\.{0,2}\//.test(value)) return false;
  // `accessToken` is the name of a variable; `MySecret123!` and `hunter2secret` are none
  if (isKeyWord.test(value) && (/^[$@%&]/.test(value) || !(/\d\D*\d|[!#^*~]/.test(value) || isNumberedWord(value))))
    return false;
  // a variable file or a query: nothing in it is code
  if (operator === '=' && /^[?&;\n]?$/.test(before)) return true;
  if (operator.startsWith('--') || operator === '>') return true;
  if (isMadeUp(value) || (isLine && operator === ':' && isSecretOfLine(value))) return true;
  if (isNameOfCode(value)) return value.length >= 6 && /\d/.test(value) && !/[.:>]/.test(value);
  return value.length >= 6 && !/^[\d.]{1,5}$/.test(value) && /[\d!@#$%^*+/~]/.test(value);
}

const indentMax = 40;

/** Whether a line, without its indentation, begins and ends here. */
function isWholeLine(text: string, from: number, to: number): boolean {
  const end = text[to];
  if (end !== undefined && end !== '\n' && end !== '\r') return false;
  const before = text.slice(Math.max(0, from - indentMax), from);
  const indent = before.slice(before.lastIndexOf('\n') + 1);
  return (indent.length < before.length || from <= indentMax) && /^[ \t]*(?:- )?["']?$/.test(indent);
}

function maskAssignments(given: string): string {
  const text = given.replace(phraseLine, (all, head: string, phrase: string) =>
    isPhrase(phrase) ? head + hide(phrase) : all,
  );
  return text.replace(
    assignment,
    (
      all: string,
      head: string,
      _quote: string | undefined,
      quoted: string | undefined,
      word: string | undefined,
      at: number,
    ) => {
      const value = quoted ?? word ?? '';
      const operator = /(?::=|=>|={1,2}|:|>)\s*$/.exec(head)?.[0].replace(/[^:=>]/g, '') ?? '--';
      const isSpaced = /\s[:=]|[:=]\s/.test(head);
      const name = /[\w.-]{0,60}$/.exec(text.slice(Math.max(0, at - 60), at))?.[0] ?? '';
      const before = text[at - name.length - 1] ?? '';
      const isSecret =
        quoted === undefined
          ? isSecretWord(value, {
              operator: isSpaced && operator === '=' ? ' = ' : operator,
              before,
              isLine: isWholeLine(text, at - name.length, at + all.length),
            })
          : isSecretLiteral(value);
      if (isSecret) return all.slice(0, all.length - value.length) + hide(value);
      // `password: password=value`
      return /[=:]/.test(value) ? all.slice(0, all.length - value.length) + maskAssignments(value) : all;
    },
  );
}

const maskQuotations = (text: string): string =>
  text.replace(quotation, (all, _head: string, _quote: string, value: string) =>
    (isMixed(value) && !/\s/.test(value)) || isMadeUp(value) || isPhrase(value)
      ? all.slice(0, all.length - value.length) + hide(value)
      : all,
  );

/** `pass`, `pw` and `otp` name nothing else; `key`, `auth` or `session` do, unless the value is a token. */
const isPassword = /^(?:pass|pw|pswd|otp)$/i;

const maskShort = (text: string): string =>
  text.replace(
    shortAssignment,
    (all, _head: string, name: string, _quote: string | undefined, quoted: string | undefined, word?: string) => {
      const value = quoted ?? word ?? '';
      const isSecret = !isPassword.test(name)
        ? !isPlaceholder(value) && isTokenLike(value)
        : quoted === undefined
          ? isMadeUp(value) || (value.length >= 6 && isMixed(value) && !/^[\d.]+$/.test(value))
          : isCredentialWord(value);
      return isSecret ? all.slice(0, all.length - value.length) + hide(value) : all;
    },
  );

const classOf = (code: number): number => (code >= 97 ? 0 : code >= 65 ? 1 : code >= 48 ? 2 : 3);

/** Whether letters and digits change so often that nobody has written them as words. */
export function isRandom(text: string): boolean {
  if (/^[0-9a-f-]+$/i.test(text) || !/\d/.test(text) || !/[a-z]/.test(text) || !/[A-Z]/.test(text)) return false;
  let changes = 0;
  for (let i = 1; i < text.length; i++) {
    const [before, here] = [classOf(text.charCodeAt(i - 1)), classOf(text.charCodeAt(i))];
    // a capital and small letters behind it are a word
    if (here !== before && !(before === 1 && here === 0)) changes++;
  }
  return changes / (text.length - 1) >= 0.32 && new Set(text).size >= 14;
}

const digest = /^(?:sha-?\d{1,3}|md5|h1)-/i;
const digestBefore = /(?:sha-?\d{1,3}|md5|h1|digest|hash|checksum|integrity)["']?\s{0,3}[-:=$]\s{0,3}["']?$/i;

/** Base64 has a slash in 64 characters; what has more of them is a path, whose parts are judged one by one. */
const isPath = (found: string): boolean => {
  const slashes = found.split('/').length - 1;
  return slashes > 0 && (found.startsWith('/') || slashes * 12 >= found.length);
};
const partMin = 24;
const maskPathParts = (path: string): string =>
  path
    .split('/')
    .map((part) => (part.length >= partMin && isRandom(part) ? hide(part) : part))
    .join('/');

/** A directory, which is sent back as it was shown: only tokens in it are masked. */
export const maskDirectory = (path: string): string =>
  maskPathParts(path.replace(tokenShapes, hide).replace(urlPassword, (_, head: string) => `${head}****`));

function maskRandom(text: string): string {
  return text.replace(run, (found: string, at: number) => {
    if (isPath(found)) return maskPathParts(found);
    return isRandom(found) && !digest.test(found) && !digestBefore.test(text.slice(Math.max(0, at - 24), at))
      ? hide(found)
      : found;
  });
}

/** Shorter than every token that is known by its form. */
const runMin = 12;
/** Of characters that tokens are made of: letters, digits, `_ ~ . $ / : + = -`. */
const ofToken = new Uint8Array(128);
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_~.$/:+=-')
  ofToken[char.charCodeAt(0)] = 1;

/** Whether so many such characters stand side by side: looks at every twelfth, and around those that are some. */
function hasRun(text: string): boolean {
  for (let at = runMin - 1; at < text.length; ) {
    let back = at;
    while (back > at - runMin && ofToken[text.charCodeAt(back)] === 1) back--;
    if (back === at - runMin) return true;
    at = back + runMin;
  }
  return false;
}

/**
 * What every way to a secret needs: a word that names one, a name of a scheme of `Authorization`, a password of an
 * address or of an option, or a run as long as a token. Most texts have none, and six patterns more would say so.
 */
const mayBeNamed = new RegExp(
  `${isKeyWord.source}|pass|pw|otp|pin|[?&;#][^=]{1,100}=|valid|login|account|` +
    `bearer|basic|apikey|digest|negotiate|:\\/|\\s-u|--user|${mayGoOn}`,
  'i',
);

const mayHoldPlain = (text: string): boolean =>
  mayBeNamed.test(text) || hasRun(text) || maySpell(text) || mayMention(text);

const encodedWord = /%(?:25){0,3}([2-7][\da-f])/gi;
const readable = (text: string): string =>
  text.replace(encodedWord, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

/** A word that says so may be encoded, as `net%20use` in an address. */
export const mayHoldSecret = (text: string): boolean =>
  mayHoldPlain(text) || (text.includes('%') && mayHoldPlain(readable(text)));

const maskPlain = (text: string): string => (mayHoldSecret(text) ? patternsMask(text) : text);

/** A name that is written in other letters, split by what nobody sees, or coloured, is read as it looks. */
function maskWhole(text: string): string {
  const plain = undisguised(text);
  const masked = plain === text ? text : maskPlain(plain);
  return masked === plain ? maskPlain(text) : masked;
}

const maskWords = (text: string): string => maskSentences(maskSpoken(maskSpellings(maskManifests(text))));

/** What `mayHoldSecret` saves: every pattern, one after the other. */
export const patternsMask = (text: string): string =>
  plainMask(text.includes('%') || /=[^=]*\+/.test(text) ? maskEncoded(maskUserinfo(text), maskPart) : text);

/** Passwords of addresses; before anything is decoded, as one may have an encoded `/` or `@` in it. */
const maskUserinfo = (text: string): string =>
  text.includes(':/') && text.includes('@')
    ? text.replace(urlPassword, (all, head: string, value: string) => (isPlaceholder(value) ? all : `${head}****`))
    : text;

/** As a query of its own, so that a name at its beginning is one. */
const maskPart = (part: string): string => plainMask(`?${part}`).slice(1);

function plainMask(text: string): string {
  let masked = text;
  if (masked.includes('PRIVATE KEY')) masked = masked.replace(privateKey, (key) => `${key.slice(0, 30)}****`);
  masked = masked.replace(tokenShapes, hide);
  if (masked.includes(':/') && masked.includes('@'))
    masked = maskUserinfo(masked).replace(urlToken, (_, head: string, value: string) => head + hide(value));
  if (masked.includes('/')) masked = maskSegments(masked, hide);
  if (masked.includes('=')) masked = maskParameters(masked, hide);
  if (/cookie/i.test(masked)) masked = maskCookies(masked, hide);
  masked = masked.replace(authorization, (all, head: string, value: string) =>
    /[\dA-Z+/=]/.test(value.slice(1)) && !value.includes('****') && !isTechnical(value) ? head + hide(value) : all,
  );
  if (masked.includes(' -u') || masked.includes('--user'))
    masked = masked.replace(userOption, (all, head: string, value: string) => (isGiven(value) ? `${head}****` : all));
  if (isKeyWord.test(masked)) masked = maskQuotations(maskAssignments(masked));
  if (/[=:]/.test(masked)) masked = maskShort(masked);
  return maskRandom(maskFurther(maskEscaped(maskWords(maskTables(masked)), maskWords)));
}

/** Stands for what was cut off, so that the beginning of a token is known for one. */
const cutMark = '…';
const filler = '0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX2yZ3aB4cD5';

/** The text without secrets. `named`: what the tool itself calls the secret, longest first. */
export function maskSecrets(text: string, named: readonly string[] = []): string {
  let masked = text;
  for (const secret of named) if (masked.includes(secret)) masked = masked.replaceAll(secret, hide(secret));
  if (named.length > 0) masked = maskRewritten(masked, named);
  masked = maskWhole(masked);
  if (!masked.endsWith(cutMark)) return masked;
  const last = /\S{0,300}$/.exec(masked.slice(0, -1))?.[0] ?? '';
  const begun = named.some((secret) => endsWithStartOf(masked.slice(0, -1), secret));
  if (begun || maskWhole(last + filler) !== last + filler)
    return `${masked.slice(0, masked.length - 1 - last.length)}${hide(last)}${cutMark}`;
  return masked;
}

/** Whether the text ends with the first half of the secret or more. */
function endsWithStartOf(text: string, secret: string): boolean {
  for (let length = secret.length - 1; length >= Math.max(namedMin, secret.length / 4); length--)
    if (text.endsWith(secret.slice(0, length))) return true;
  return false;
}

/** What a tool calls a secret, and how it may stand in an address or in JSON; longest first. */
export function namedSecrets(values: readonly string[]): string[] {
  const all = values.flatMap((value) => {
    const text = value.trim();
    if (text.length < namedMin || isPlaceholder(text)) return [];
    const lines = text
      .split(/\r?\n/)
      .map((line) => line.trim())
      .filter((line) => line.length >= 12);
    return [text, JSON.stringify(text).slice(1, -1), encoded(text), ...lines];
  });
  return [...new Set(all)].sort((left, right) => right.length - left.length);
}

function encoded(text: string): string {
  return encodeURIComponent(
    text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, ''),
  );
}

/** Every text of a JSON value without secrets, names of members included; numbers and flags stay. */
export function maskValues<T>(value: T, mask: (text: string) => string = maskSecrets, depth = 0): T {
  if (typeof value === 'string') return mask(value) as T;
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  if (depth >= depthMax) return null as T;
  if (Array.isArray(value))
    return (value.length === 0 ? [] : value.map((one: unknown) => maskValues(one, mask, depth + 1))) as T;
  const masked: Record<string, unknown> = {};
  const pair = valueOfPair(value as Record<string, unknown>);
  for (const name of Object.keys(value)) {
    const member: unknown = value[name as keyof typeof value];
    const isSecret =
      typeof member === 'string' && member !== '' && (isSecretMember(name) || name === pair) && !isPlaceholder(member);
    // as a property of its own, also where the report calls it `__proto__`
    const shownName = mask(name);
    const shownValue = isSecret ? hide(member) : maskValues(member, mask, depth + 1);
    if (shownName === '__proto__')
      Object.defineProperty(masked, shownName, {
        value: shownValue,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    else masked[shownName] = shownValue;
  }
  return masked as T;
}

const valueNames = ['value', 'Value', 'ParameterValue', 'parameterValue', 'val', 'default', 'content'];
const pairNames = ['name', 'Name', 'key', 'Key', 'ParameterKey', 'parameterKey', 'id', 'variable', 'property'];

/** Of `{ name: 'DB_PASSWORD', value: '…' }` the member that holds the secret. */
function valueOfPair(pair: Readonly<Record<string, unknown>>): string | undefined {
  const held = valueNames.find((name) => typeof pair[name] === 'string' && Object.hasOwn(pair, name));
  if (held === undefined) return undefined;
  const isNamed = pairNames.some((name) => {
    const given = pair[name];
    return typeof given === 'string' && given.length <= 100 && isSecretName.test(given);
  });
  return isNamed && isTyped(String(pair[held])) ? held : undefined;
}

const namesMax = 2000;
const namesKnown = new Map<string, boolean>();

/** Remembered, as reports repeat the names of their members; bounded, as they may not. */
function isSecretMember(name: string): boolean {
  const known = namesKnown.get(name);
  if (known !== undefined) return known;
  const is = secretMember.test(name);
  if (namesKnown.size >= namesMax) namesKnown.clear();
  if (name.length <= 100) namesKnown.set(name, is);
  return is;
}
