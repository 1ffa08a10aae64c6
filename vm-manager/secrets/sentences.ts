// Secrets that a sentence mentions: "log in as admin with X", "its password, X, is in the file". Two things must come
// together: the sentence is about a credential, and the word is none that people or programmers write. Where a word of
// the sentence points at the value ("password … is X", "admin:X"), a word with a number behind it is enough.
import { isKeyWord } from './shapes.js';
import { isTechnical, isTyped } from './spellings/spelling.js';
import { hide, isMadeUp } from './values.js';

/** The sentence is about a credential. */
const cue = new RegExp(
  'pass(?:w|code|phrase|_|\\b)|pwd|\\bpw\\b|\\bsecrets?\\b|tokens?\\b|credential|log(?:ged|s|ging)?[- ]?in\\b|' +
    '\\bpin\\b|' +
    '\\botp\\b|(?:api|signing|private|wi-?fi|access|encryption|secret|master|hmac|jwt)[-_ ]?key|\\bpsk\\b|' +
    'crack|brute|' +
    'guess|community|basic auth|recovery code|backup code|\\bseed\\b|\\bvault\\b|anonymous bind|\\bkey "|' +
    '\\b(?:admin|administrator|root|tomcat|postgres|guest|sa|oracle|manager|jenkins)\\s{0,2}[:/]|success:|' +
    '\\bsign(?:ed)?[- ](?:in|with)\\b|\\bkey\\b|\\baccounts?\\b|\\bgot a shell|\\bauth\\b|kennwort|\\buser \\w+%',
  'i',
);
/** The value stands behind these: a name of a secret and words that lead to its value, or a pair with an account. */
const pointed = new RegExp(
  [
    '(?:passw(?:or)?d|passwd|passphrase|passcode|pwd|\\bpw|_pass\\b|secrets?|tokens?|' +
      'credentials?|\\bpin|\\botp|\\bpsk|' +
      '(?:api|signing|private|wi-?fi|access|encryption|secret|master)[-_ ]?key|community(?: string)?|recovery code|' +
      'backup code|\\bkey)s?' +
      '["\'`]?[,:]?(?:\\s{1,3}(?:of|for|in|at|on|by|to|the|a|an|its|this|that|user|users|account|admin|root|service|' +
      'database|db|server|jwt|was|were|is|are|be|been|it|set|equals?|changed|reset|found|detected|cracked|guessed|' +
      'recovered|disclosed|leaked|as|value|with|has|have|had|holds?|contains?|reads?|from|reuse:?|seed|string|key|' +
      'after|\\d{1,3}|tries|try|attempts?|named|detection|[\\w.-]{1,30}:\\d{1,6}|' +
      '[\\w-]{1,20}-[\\w-]{1,20})(?![\\w-])[:,]?){0,9}' +
      '(?![\\w-])\\s{0,3}(?:[-=]?>|→|=|:|-|\\||,)?\\s{0,3}[(\\[<"\'`]{0,2}(?<![\\w-])',
    '(?:\\b(?:admin|administrator|root|test|guest|tomcat|postgres|oracle|sa|manager|jenkins|operator|service|' +
      'wordpress|ftp|pi|ubuntu|cn=[\\w=,]{1,40}))(?:\\s{0,2}[:/|,]\\s{0,2}|\\s{1,2}(?:and|with)\\s{1,2}|\\s{1,3})' +
      '["\'`]?',
    '(?:success|valid|works|accepted|cracked)\\w{0,3}[^\\s:]{0,3}:\\s{0,3}[\'"]?(?:[\\w.\\\\-]{1,60}[:/])?',
    '(?:log(?:ged)?[- ]?in|sign(?:ed)?[- ]?in|authenticated?|bind)\\s(?:as|with|using)\\s(?:[\\w.@-]{1,40}\\s){0,3}' +
      '(?:with|and|using|/|:)\\s{1,2}["\'`]?',
  ]
    .map((source) => `(?:${source})`)
    .join('|'),
  'gi',
);
/** The value stands in front of these: "X is used as password", "X is a hard-coded key", "type X as the password". */
const followed = new RegExp(
  '^["\'`\\s]{1,4}(?:is|was|are|as|by|in|opens|unlocks|grants|works|for|→|which|that)\\s(?:[\\w-]{1,20}\\s){0,5}?' +
    '(?:passw|passphrase|pwd|secrets?|tokens?|credential|vault|[a-z]{2,10}[-_ ]key|key\\b|login|account)',
  'i',
);
/** In these sentences a word of letters with a number at its end is more often a password than a name. */
const isAboutPassword =
  /passw|\bpwd\b|kennwort|credential|crack|brute|guess|\blog(?:ged|s)?[- ]in\b|\blogin\b|hard-?\s?coded key/i;
const numbered = /^(?:[a-z]{5,}|[A-Z][a-z]{4,}|[a-z]+[A-Z][a-z]+)\d{1,4}$/;
const word = /[^\s"'`<>()[\]{},;|]{5,80}/g;
const wordAt = /[^\s"'`<>()[\]{},;|]{5,80}/y;

/** Numbers of standards, algorithms, products and rules; names of code, packages, hosts and addresses. */
const named = new RegExp(
  [
    '^[a-z]\\d{1,2}[a-z]$',
    '^(?:o?auth|saml|fido|u2f|web|log4|ntlm|netntlm|smb|wpa|pkcs|x|krb|sqlite|neo|db|l2tp|ipv|http|tls|ssl|' +
      'base|sha|md|' +
      'pbkdf|argon|bcrypt|aes|des|rc|ed|curve|secp|hs|rs|es|ps|utf|php|python|win|amd|arm|i18n|k8s|ec2|s3|log4j|' +
      'oauth2|p12|id|v|h|ssha|hmac|crc|ripemd|blake|chacha|poly|jdk|java|net|http2|vue|angular|node|d)' +
      '[-_]?\\d[\\w.-]*$',
    '^[A-Z]{1,12}(?:[-_#][A-Z0-9]{1,10})*[-_.#]?\\d+[A-Z]{0,2}(?:[-_:.][\\w.]+)*$',
    '^(?:cve|cwe|ghsa|pysec|rustsec|osv|go)-',
    '^@?[a-z][\\w./-]*[@:-]?v?\\d+(?:\\.[\\dx]+)+[\\w.-]*$',
    '^v?\\d',
    '^[\\w.+-]+@[\\w-]+(?:\\.[\\w-]+)+$',
    '^[a-z]{3,}@[a-z][a-z\\d-]*$',
    '^[0-9a-f-]+$',
    '^(?:[\\w-]+\\.)+[\\w-]+(?::\\d+)?$',
    '[/\\\\=]|:\\/\\/|::|->|\\.\\.|^[-$%@#&*]|\\*{2}|\\\\|\\w\\.\\w+\\.\\w',
    '^&\\w+',
  ].join('|'),
);
const camel = /^[A-Za-z]?[a-z]+(?:[A-Z][a-z]{2,}|\d(?=[A-Z]))+\d?$/;

const isNamed = (text: string): boolean =>
  isTechnical(text) || named.test(text) || named.test(text.toLowerCase()) || camel.test(text);

/** Letters, digits and signs as people mix them so that a word is a password, or as chance does. */
function isUnlikely(text: string): boolean {
  if (!/[A-Za-z]/.test(text) || !/\d/.test(text)) return false;
  // `Winter2026!`, `P@ssw0rd`, `Tr0ub4dor&3`
  if (/[!#$&^*~?+%]/.test(text) || /[A-Za-z\d]@[A-Za-z\d]/.test(text)) return true;
  const parts = text.split(/\d+/);
  const within = parts.filter((part) => part !== '');
  // `s3cr3t`, `Passw0rd`, `kX9vQ2mLp`: digits in the midst, and a part that is no word
  return (
    within.length > 1 &&
    parts.length > 2 - Number(parts.at(-1) !== '') &&
    within.some((part) => /^[A-Za-z]{1,2}$/.test(part))
  );
}

/** Also `hunter2` and `Winter2026`: no word of a sentence, unless it is a name with a number. */
const isPointed = (text: string): boolean =>
  isTyped(text) &&
  !isNamed(text) &&
  (/[A-Za-z].*[\d!#$&^*~%]|\d.*[A-Za-z]|[A-Za-z]@[A-Za-z]/.test(text) || isMadeUp(text));

const isFollowed = (sentence: string, at: number, value: string): boolean =>
  isPointed(value) && followed.test(sentence.slice(at + value.length, at + value.length + 120));

const isName = (text: string): boolean => isKeyWord.test(text) && /^[\w-]+$/.test(text) && !/\d\D+\d/.test(text);

const call = /^\(/;
/** An account and its password. */
const pair = /^([\w.@-]{2,40}):(.{5,60})$/;

const isCode = /[{}=]|\)?;\s*$/;

function maskSentence(sentence: string): string {
  let masked = isCode.test(sentence) ? sentence : maskUnlikely(sentence);
  for (const match of masked.matchAll(pointed)) {
    const at = match.index + match[0].length;
    wordAt.lastIndex = at;
    const found = wordAt.exec(masked)?.[0];
    if (found === undefined) continue;
    const value = found.replace(/[.,:?…]+$/, '');
    if (value.length < 5 || call.test(masked.slice(at + found.length)) || isName(value) || !isPointed(value)) continue;
    masked = masked.slice(0, at) + hide(value).padEnd(value.length, '\0') + masked.slice(at + value.length);
  }
  return masked.includes('\0') ? masked.replaceAll('\0', '') : masked;
}

function maskUnlikely(sentence: string): string {
  const isPassword = isAboutPassword.test(sentence);
  return sentence.replace(word, (found: string, at: number) => {
    const value = found.replace(/[.,:?…]+$/, '');
    const rest = found.slice(value.length);
    if (value.length < 6 || call.test(sentence.slice(at + found.length))) return found;
    const [, account = '', guessed = ''] = (isPassword && pair.exec(value)) || [];
    if (account !== '' && !isName(guessed) && isPointed(guessed)) return `${account}:${hide(guessed)}${rest}`;
    if (!isTyped(value) || isNamed(value) || isName(value)) return found;
    const isSecret = isUnlikely(value) || (isPassword && numbered.test(value)) || isFollowed(sentence, at, value);
    return isSecret ? hide(value) + rest : found;
  });
}

/** A sentence begins behind a full stop and a blank, with a capital letter, or on a line of its own. */
const boundary = /(?<=[.?!]\s)(?=[A-Z])|(?<=\n)/;

/** Whether a sentence may mention a secret. */
export const mayMention = (text: string): boolean => cue.test(text);

/** The text without the values that its sentences mention. */
export function maskSentences(text: string): string {
  if (!cue.test(text)) return text;
  let isBefore = false;
  return text
    .split(boundary)
    .map((sentence) => {
      const is = cue.test(sentence);
      const masked = is || isBefore ? maskSentence(sentence) : sentence;
      isBefore = is;
      return masked;
    })
    .join('');
}
