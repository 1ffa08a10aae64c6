// Personal data and secrets in messages: which kinds, at which place, never which value. A detector takes what passes
// its check, not what looks alike: order numbers, timestamps and ids of databases are no cards. Precision and recall on
// corpora made here are held by detect.test.ts and stand in docs/discovery.md. Values are clipped, patterns are linear.
import { ibanLengths, isCard, isIban } from '../../masking/personal-data.js';
import { eachMember, parseJson } from '../look-into.js';
import { nationalIdOf } from './national-ids.js';

export const piiKinds = ['card', 'national_id', 'secret', 'email', 'phone', 'iban'] as const;
export type PiiKind = (typeof piiKinds)[number];

const valueCharsMax = 1024;

const email = /(?<![\w.%+-])[\w%+-][\w.%+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w-])/;
const fileEnding = /\.(?:png|jpe?g|gif|svg|webp|avif|css|m?js|tsx?|json|html?)$/i;
const phone = /(?<![\w+])\+[1-9](?:[ ().-]{0,2}\d){7,14}(?![\w])/;
const phoneName = /phone|mobile|(?:^|[^a-z])(?:tel|cell|fax|msisdn)(?:[^a-z]|$)/i;
const barePhone = /^\(?\d[\d ().-]{6,18}\d$/;
const digitGroups = /(?<![\w.+-])\d{3,19}(?:[ -]\d{3,7}){0,4}(?![\w]|[.-]\d)/g;
const ibanStart = /(?<![A-Za-z0-9])([A-Z]{2})\d{2}/g;
const secret = new RegExp(
  [
    String.raw`(?<![\w-])(?:(?:AKIA|ASIA)[A-Z0-9]{16}|gh[pousr]_[A-Za-z0-9]{36,251}|github_pat_\w{22,}|`,
    String.raw`xox[abeprs]-[\w-]{10,}|sk_live_[A-Za-z0-9]{16,}|AIza[\w-]{35}|glpat-[\w-]{20})(?![\w-])|`,
    String.raw`-----BEGIN (?:[A-Z]{2,12} )?PRIVATE KEY-----`,
  ].join(''),
);
const jwt = /(?<![\w-])(eyJ[\w-]{5,})\.[\w-]{2,}\.[\w-]{8,}/;
const secretName =
  /passw(?:or)?d|passphrase|secret|(?:api|access|private|auth).?key|(?:access|refresh|auth|bearer|session).?token/i;
/** Numbers that are called so are no cards, whatever their digits. */
const otherNames =
  'id|ids|order|invoice|tracking|trace|span|timestamp|time|ts|sku|ean|gtin|isbn|barcode|version|serial|ref|' +
  'reference|imei';
const otherNumber = new RegExp(`(?:^|[^a-z])(?:${otherNames})(?:[^a-z]|$)`, 'i');

/** Camel case and underscores as words: `orderId` → `order id`. */
const wordsOf = (name: string): string => name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[_-]/g, ' ');

/** Kinds of what a value has, under the name of its member ('' in prose). */
export function detectPii(value: string, name = ''): PiiKind[] {
  const text = value.length > valueCharsMax ? value.slice(0, valueCharsMax) : value;
  if (text.length < 6) return [];
  const words = wordsOf(name);
  const found: PiiKind[] = [];
  const add = (kind: PiiKind, isFound: boolean): void => {
    if (isFound) found.push(kind);
  };
  const national = nationalIdOf(text.trim(), words) ?? nationalIdInProse(text);
  add('card', national === null && hasCard(text, words));
  add('national_id', national !== null);
  add('secret', hasSecret(text, words));
  add('email', hasEmail(text));
  add('phone', national === null && hasPhone(text, words));
  add('iban', hasIban(text));
  return found;
}

function nationalIdInProse(text: string): string | null {
  if (!text.includes(' ')) return null;
  for (const word of text.split(/[\s,;:()"']{1,10}/).slice(0, 200)) {
    const country = /[-.]/.test(word) ? nationalIdOf(word.replace(/[.]$/, ''), '') : null;
    if (country !== null) return country;
  }
  return null;
}

function hasCard(text: string, words: string): boolean {
  const isBare = /^\d+$/.test(text);
  if (isBare && otherNumber.test(words)) return false;
  for (const [found] of text.matchAll(digitGroups)) {
    const digits = found.replace(/[ -]/g, '');
    if (digits.length >= 13 && digits.length <= 19 && isCard(digits) && isGrouped(found)) return true;
  }
  return false;
}

/** Whole, or in groups as on a card: 4-4-4-4(-3), 4-6-5, 4-6-4. */
const isGrouped = (found: string): boolean =>
  /^\d+$/.test(found) ||
  /^\d{4}([ -])\d{4}\1\d{4}\1\d{1,7}(?:\1\d{3})?$/.test(found) ||
  /^\d{4}([ -])\d{6}\1\d{4,5}$/.test(found);

function hasEmail(text: string): boolean {
  if (!text.includes('@')) return false;
  const found = email.exec(text)?.[0];
  return found !== undefined && !fileEnding.test(found) && !found.includes('..');
}

function hasPhone(text: string, words: string): boolean {
  if (phone.test(text)) return true;
  if (!phoneName.test(words) || !barePhone.test(text)) return false;
  const digits = text.replace(/\D/g, '');
  return digits.length >= 7 && digits.length <= 15 && !/^(\d)\1*$/.test(digits);
}

function hasIban(text: string): boolean {
  for (const { index } of text.matchAll(ibanStart)) {
    const length = ibanLengths.get(text.slice(index, index + 2));
    if (length === undefined) continue;
    const plain = text.slice(index, index + length * 2).replace(/[ -]/g, '');
    const candidate = plain.slice(0, length);
    if (candidate.length === length && /^[A-Z0-9]+$/.test(candidate) && isIban(candidate)) return true;
  }
  return false;
}

function hasSecret(text: string, words: string): boolean {
  if (secret.test(text)) return true;
  const header = jwt.exec(text)?.[1];
  if (header !== undefined) {
    const value = parseJson(Buffer.from(header, 'base64url').toString('utf8'));
    if (typeof value === 'object' && value !== null && 'alg' in value) return true;
  }
  return secretName.test(words) && isRandom(text);
}

/** A value under the name of a secret: no word, no mask, no sentence. */
function isRandom(text: string): boolean {
  if (text.length < 8 || text.length > 512 || /[\s]|\*{3}|^<.*>$|^\$\{/.test(text)) return false;
  const counts = new Map<string, number>();
  for (const one of text) counts.set(one, (counts.get(one) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/].filter((one) => one.test(text)).length;
  return bits >= 2.75 && kinds >= 2;
}

/** `response:POINTER` or `request:POINTER` for each place with personal data; bounded by look-into.ts. */
export function lookForPii(
  side: 'request' | 'response',
  isJson: boolean,
  body: Buffer,
  found: (place: string, kind: PiiKind) => void,
): void {
  if (!isJson) {
    const text = body.toString('utf8', 0, 16 * 1024);
    for (let at = 0; at < text.length; at += valueCharsMax)
      for (const kind of detectPii(text.slice(at, at + valueCharsMax))) found(`${side}:`, kind);
    return;
  }
  const value = parseJson(body.toString('utf8'));
  if (value === undefined) return;
  eachMember(value, (pointer, member) => {
    if (typeof member !== 'string' && typeof member !== 'number') return;
    const name = pointer.slice(pointer.lastIndexOf('/') + 1);
    const key = name === '*' ? (pointer.split('/').at(-2) ?? '') : name;
    for (const kind of detectPii(String(member), key)) found(`${side}:${pointer}`, kind);
  });
}
