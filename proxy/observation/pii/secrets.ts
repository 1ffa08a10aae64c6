// Secrets in values: keys of services that mark theirs, private keys, tokens, credentials in addresses, and, under the
// name of a secret, what is random. A path, an address or a word under such a name is none.
import { parseJson } from '../look-into.js';

const marked = new RegExp(
  [
    String.raw`(?<![\w-])(?:(?:AKIA|ASIA)[A-Z0-9]{16}|gh[pousr]_[A-Za-z0-9]{36,251}|github_pat_\w{22,251}|`,
    String.raw`xox[abeprs]-[\w-]{10,}|[sr]k_live_[A-Za-z0-9]{16,}|AIza[\w-]{35}|glpat-[\w-]{20}|npm_[A-Za-z0-9]{36}|`,
    String.raw`SG\.[\w-]{16,32}\.[\w-]{16,64}|GOCSPX-[\w-]{20,40}|ya29\.[\w-]{20,}|sk-(?:ant|proj)-[\w-]{20,}|`,
    String.raw`shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|dop_v1_[a-f0-9]{64}|hf_[A-Za-z0-9]{30,40}|pypi-AgE[\w-]{50,}|`,
    String.raw`whsec_[A-Za-z0-9]{20,}|AGE-SECRET-KEY-1[A-Z0-9]{58}|\d{8,10}:AA[\w-]{33})(?![\w-])|`,
    String.raw`-----BEGIN (?:[A-Z]{2,12} ){0,2}PRIVATE KEY(?: BLOCK)?-----`,
  ].join(''),
);
const jwt = /(?<![\w-])(eyJ[\w-]{5,})\.[\w-]{2,}\.[\w-]{8,}/;
/** `postgres://user:password@host`; a password that is a placeholder is none. */
const credentials = /(?<![a-z])[a-z][a-z0-9+]{1,15}:\/\/[^\s/:@]{1,100}:([^\s/@]{3,100})@/i;
const secretName = new RegExp(
  [
    'passw(?:or)?d|passphrase|secret|credential|(?:api|access|private|auth|encryption|signing).?key',
    '(?:access|refresh|auth|bearer|session|api).?token',
  ].join('|'),
  'i',
);
/** Names beside a secret's: what says something of one. */
const aboutSecret =
  /hint|policy|path|file|url|uri|link|name|\bid\b|type|expir|created|updated|length|strength|label|reset/i;
const placeholder =
  /^(?:x+|\*+|\.+|-+|change.?me|redacted|masked|hidden|none|null|undefined|example|your.*|test|todo)$/i;

export function hasSecret(text: string, words: string): boolean {
  if (marked.test(text)) return true;
  const header = text.includes('eyJ') ? jwt.exec(text)?.[1] : undefined;
  if (header !== undefined) {
    const value = parseJson(Buffer.from(header, 'base64url').toString('utf8'));
    if (typeof value === 'object' && value !== null && 'alg' in value) return true;
  }
  const password = text.includes('://') ? credentials.exec(text)?.[1] : undefined;
  if (password !== undefined && !placeholder.test(password) && !/^[<$%{[]/.test(password)) return true;
  return secretName.test(words) && !aboutSecret.test(words) && isRandom(text);
}

/** A value under the name of a secret: no word, no mask, no sentence, no path, no address. */
function isRandom(text: string): boolean {
  if (text.length < 8 || text.length > 512 || /\s|\*{3}|^<.*>$|^\$\{|^\{\{|^%\(/.test(text)) return false;
  if (placeholder.test(text) || isPlace(text) || isNamed(text)) return false;
  const counts = new Map<string, number>();
  for (const one of text) counts.set(one, (counts.get(one) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/].filter((one) => one.test(text)).length;
  return bits >= 2.75 && kinds >= 2;
}

/** A path, an address, a host, or the place of a secret in a store. */
function isPlace(text: string): boolean {
  if (/^[a-z][a-z0-9+.-]{1,20}:\/\//i.test(text) || /^(?:[a-z]:)?[\\/~]|^\.{1,2}[\\/]/i.test(text)) {
    // base64 may begin with a slash; a path has words between slashes
    return /^[a-z]/i.test(text) || text.split(/[\\/]/).filter((part) => /^[\w.~-]{0,40}$/.test(part)).length > 2;
  }
  if (/^(?:arn|urn|vault|ref|secret|kms|sm|env|file|projects)[:/]/i.test(text)) return true;
  if (/^(?:[a-z0-9-]{1,63}\.){1,6}[a-z]{2,24}(?::\d{1,5})?(?:\/[\w./-]*)?$/.test(text)) return true;
  const parts = text.split('/');
  return parts.length > 2 && parts.every((part) => /^[a-z][a-z0-9_.-]{0,30}$/.test(part));
}

/** Words, with signs between them: `reset_required`, `DB_PASSWORD`, `my-app.secret-name`; a day or a moment. */
const isNamed = (text: string): boolean =>
  /^(?:[a-z]+|[A-Z]+|[A-Z][a-z]+)(?:[-_.:](?:[a-z]+|[A-Z]+|[A-Z][a-z]+|\d{1,2}))+$/.test(text) ||
  /^\d{4}-\d{2}-\d{2}(?:T|$)/.test(text);
