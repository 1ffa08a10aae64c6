// Personal data and secrets in messages: which kinds, at which place, never which value. A detector takes what passes
// its check, not what looks alike: order numbers, timestamps and ids of databases are no cards. Precision and recall on
// corpora made here are held by detect.test.ts and stand in docs/discovery.md. Values are clipped, patterns are linear.
import { ibanLengths, isCard, isIban } from '../../masking/personal-data.js';
import { eachText } from './formats.js';
import { hasMrz, nationalIdInProse, nationalIdOf } from './national-ids.js';
import { hasSecret } from './secrets.js';

export const piiKinds = ['card', 'national_id', 'secret', 'email', 'phone', 'iban'] as const;
export type PiiKind = (typeof piiKinds)[number];

const valueCharsMax = 1024;

const email = /(?<![\w.%+-])[\w%+-][\w.%+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![\w-])/;
const fileEnding = /\.(?:png|jpe?g|gif|svg|webp|avif|css|m?js|tsx?|json|html?)$/i;
const phone = /(?<![\w+])\+[1-9](?:[ ().-]{0,2}\d){7,14}(?![\w])/;
const phoneName = /phone|mobile|(?:^|[^a-z])(?:tel|cell|fax|msisdn)(?:[^a-z]|$)/i;
const barePhone = /^\(?\d[\d ().-]{6,18}\d$/;
/** Digits with one sign between groups; behind a decimal point or a sign they are part of something else. */
const digitGroups = /(?<!\w|\d[.,]|[+-])\d{4,19}(?:([ .\u00a0-])\d{2,8}(?:\1\d{1,8}){0,6})?(?!\w|[.,]\d|-\w)/g;
const ibanStart = /(?<![A-Za-z0-9])([A-Za-z]{2})\d{2}/g;
/** Numbers that are called so are no cards, whatever their digits. */
const otherNames =
  'id|ids|order|invoice|tracking|trace|span|timestamp|time|ts|sku|ean|gtin|isbn|barcode|version|serial|ref|' +
  'reference|imei';
const otherNumber = new RegExp(`(?:^|[^a-z])(?:${otherNames})(?:[^a-z]|$)`, 'i');

const cardName = /card|\bpan\b|\bcc\b|credit|debit/i;

/** Camel case and underscores as words: `orderId` → `order id`. */
const wordsOf = (name: string): string => name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[_-]/g, ' ');

/** Kinds of what a value has, under the name of its member ('' in prose). */
export function detectPii(value: string, name = ''): PiiKind[] {
  const text = value.length > valueCharsMax ? value.slice(0, valueCharsMax) : value;
  if (text.length < 6) return [];
  const words = name === '' ? '' : wordsOf(name);
  const found: PiiKind[] = [];
  const add = (kind: PiiKind, isFound: boolean): void => {
    if (isFound) found.push(kind);
  };
  const national = nationalIdOf(text.trim(), words) ?? nationalIdInProse(text, words);
  const iban = ibanIn(text, words);
  // digits of an IBAN may pass as a card
  add('card', national === null && hasCard(iban === null ? text : text.replace(iban, ''), words));
  add('national_id', national !== null || hasMrz(text));
  add('secret', hasSecret(text, words));
  add('email', hasEmail(text));
  add('phone', national === null && hasPhone(text, words));
  add('iban', iban !== null);
  return found;
}

function hasCard(text: string, words: string): boolean {
  const isBare = /^\d+$/.test(text);
  if (isBare && otherNumber.test(words) && !cardName.test(words)) return false;
  if (!/\d{4}/.test(text)) return false;
  for (const [found] of text.matchAll(digitGroups)) {
    const digits = found.replace(/\D/g, '');
    if (digits.length >= 13 && digits.length <= 19 && isCard(digits)) return true;
  }
  return false;
}

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

function ibanIn(text: string, words: string): string | null {
  const isMeant = /iban|account|konto|compte|cuenta/i.test(words);
  if (!isMeant && otherNumber.test(words) && !text.includes(' ')) return null;
  for (const { index } of text.matchAll(ibanStart)) {
    const country = text.slice(index, index + 2);
    // small letters may be a hash or a word: a name has to say it, or the value has to be nothing else
    if (country !== country.toUpperCase() && !isMeant && !/^[\w -]{15,42}$/.test(text)) continue;
    const length = ibanLengths.get(country.toUpperCase());
    if (length === undefined) continue;
    const found = new RegExp(`(?:[A-Za-z0-9][ \u00a0-]?){${length - 1}}[A-Za-z0-9](?![A-Za-z0-9])`, 'y');
    found.lastIndex = index;
    const candidate = found.exec(text)?.[0];
    if (candidate !== undefined && isIban(candidate.replace(/[^A-Za-z0-9]/g, '').toUpperCase())) return candidate;
  }
  return null;
}

/**
 * `response:POINTER` or `request:POINTER` for each place with personal data, of a body of that media type (without
 * parameters); bounded by look-into.ts and formats.ts.
 */
export function lookForPii(
  side: 'request' | 'response',
  type: string | null,
  body: Buffer,
  found: (place: string, kind: PiiKind) => void,
): void {
  eachText(type, body, (pointer, name, text) => {
    // values of members are clipped; a text without members is read in pieces
    const most = pointer === '' ? text.length : valueCharsMax;
    for (let at = 0; at < Math.min(text.length, most); at += valueCharsMax)
      for (const kind of detectPii(text.slice(at, at + valueCharsMax), name)) found(`${side}:${pointer}`, kind);
  });
}
