// Whether a text can be a secret: what chance makes looks otherwise than what people write in its place. Pure.
import { crc32 } from 'node:zlib';

/** Shannon's, in bits a character. */
export function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const one of text) counts.set(one, (counts.get(one) ?? 0) + 1);
  let sum = 0;
  for (const count of counts.values()) sum -= (count / text.length) * Math.log2(count / text.length);
  return sum;
}

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The last six characters are the CRC-32 of those before them, in base 62 (GitHub, npm). */
export function hasBase62Checksum(random: string): boolean {
  const body = random.slice(0, -6);
  let rest = crc32(body);
  let digits = '';
  for (let index = 0; index < 6; index++) {
    digits = base62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits === random.slice(-6);
}

const words =
  'example,sample,change[-_ ]?me,changeit,your|you?re?[-_ ]|replace|placeholder|redacted|removed|hidden|dummy|fake|' +
  'foobar|foo|bar|todo|fixme|tbd|none|null|undefined|insert|enter|put|my[-_ ]?(?:secret|password|token|key)|secret|' +
  'pass(?:word|wd|phrase)?|token|key|test|testing|demo|default|invalid|somevalue|something|value|s' +
  'tring|user(?:name)?|admin|root|' +
  'guest|login|credential|apikey|api[-_]?key|client[-_]?secret|not[-_ ]?a[-_ ' +
  ']?(?:real|secret)|123456|qwerty|abc123|letmein';
const placeholderWhole = new RegExp(
  `^(?:${words.replaceAll(',', '|')}|[-_. ]|here|with|this|a|the|my|real|goes)+\\d{0,4}$`,
  'i',
);
const placeholderPart = new RegExp(
  'example|change[-_]?me|your[-_]|placeholder|replace[-_]|redacted|dummy|not[-_]?(?:a[-_]?)?real|<' +
    '[^>]*>|\\*{3}|x{5}|\\.{3}|…',
  'i',
);

/** Words that say that something else belongs here. */
export const isStandIn = (value: string): boolean => placeholderPart.test(value) || isRepetition(value);

/** What people write where a secret is to stand. */
export const isPlaceholder = (value: string): boolean =>
  placeholderWhole.test(value) || placeholderPart.test(value) || isRepetition(value);

/** Something else is put in its place when the program runs. */
export const isTemplate = (value: string): boolean => template.test(value);
const template = new RegExp(
  '\\$\\{|\\$\\(|\\{\\{|\\}\\}|%\\(|<%|%>|^\\$[A-Za-z_]|^%[A-Za-z_]+%$|#\\{|^\\{[\\w.]*\\}$|^@|\\b' +
    'process\\.env|os\\.environ|getenv|ENV\\[',
);

/** Where a secret is kept, and not the secret. */
export const isReference = (value: string): boolean => reference.test(value);
const reference = new RegExp(
  '^(?:arn:aws|vault:|op://|projects/[^/]+/secrets/|/run/secrets/|file:|ref\\+|secretsmanager|urn:|!vau' +
    'lt|keyvault:|[a-z][a-z0-9+.-]*://)',
  'i',
);

/** One character, or a piece again and again; a run of the keyboard or the alphabet. */
export function isRepetition(value: string): boolean {
  if (value.length < 4) return true;
  if (new Set(value).size <= 2) return true;
  for (let size = 1; size <= Math.min(8, value.length / 3); size++)
    if (
      value ===
      value
        .slice(0, size)
        .repeat(Math.ceil(value.length / size))
        .slice(0, value.length)
    )
      return true;
  return /^(?:0?1234567890?|abcdefgh|qwertyui|asdfghjk)/i.test(value) && entropy(value) < 3.6;
}

const hashes: readonly RegExp[] = [
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i,
  /^sha(?:1|256|384|512)[-:]/i,
  /^\$(?:2[abxy]|argon2\w*|5|6|1|scrypt|pbkdf2)\$/,
  /^(?:iVBORw0KGgo|\/9j\/|R0lGOD|MII|ssh-(?:rsa|ed25519)|ecdsa-)/,
  /^eyJ/,
];
/** An id, a hash, an image, a certificate: other rules know the ones that are secrets. */
export const isNoSecretForm = (value: string): boolean => hashes.some((form) => form.test(value));

/** `someService.getToken`, `AccessTokenProvider`, `my-secret-name`: written by people, for programs. */
export function isIdentifier(value: string): boolean {
  if (/^[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]*)+(?:\(.*)?$/.test(value)) return true;
  if (/\(|\)|\s|^[#./\\~]|^\w:\\/.test(value)) return true;
  const parts = value.split(/[-_.:/]|(?<=[a-z])(?=[A-Z])/).filter((part) => part !== '');
  const wordsOf = parts.filter(
    (part) => /^[A-Za-z]{2,14}$/.test(part) && /[aeiouy]/i.test(part) && !/[^aeiouy]{5}/i.test(part),
  );
  return wordsOf.length >= 2 && wordsOf.length >= parts.length - 1;
}

/** First four characters and last two; of a short one less. */
export const masked = (value: string): string =>
  value.length < 12 ? `${value.slice(0, 2)}…` : `${value.slice(0, 4)}…${value.slice(-2)}`;

/** Looks as if a machine had made it: several kinds of characters, spread evenly. */
export function isRandom(value: string): boolean {
  if (value.length < 16 || isIdentifier(value)) return false;
  const bits = entropy(value);
  if (/^[0-9a-f]+$/i.test(value)) return bits >= 3 && /\d/.test(value) && /[a-f]/i.test(value);
  if (!/\d/.test(value) || !/[A-Za-z]/.test(value)) return false;
  return bits >= (value.length >= 32 ? 3.8 : 3.4);
}
