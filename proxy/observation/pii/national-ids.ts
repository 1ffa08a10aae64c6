// National ids as data, each with its check digit and the words that name it. One that only such an id looks like is
// taken anywhere; bare digits are taken only under a name or behind a word that says so: one in ten or eleven numbers
// passes a check digit by chance.
import * as checks from './checks.js';

interface NationalId {
  readonly country: string;
  /** Of the whole value, separators and all, letters in upper case. */
  readonly form: RegExp;
  /** Of the value without separators. */
  readonly isValid: (bare: string) => boolean;
  /** A form that only such an id has; else a word has to say what it is. */
  readonly isTelling: boolean;
  /** That word, beside those of every country. */
  readonly words: RegExp;
}

const any = (): boolean => true;
const row = (
  country: string,
  form: RegExp,
  isValid: NationalId['isValid'],
  isTelling: boolean,
  words = '',
): NationalId => ({ country, form, isValid, isTelling, words: new RegExp(words === '' ? '(?!)' : words, 'i') });

const ssn = 'ssn|social.?sec';
const aadhaar = 'aadhaar|aadhar|uidai|\\buid\\b';
const steuer = 'steuer|idnr|\\btin\\b|tax.?(?:id|number|no)';
const nir = 'insee|\\bnir\\b|s[eé]curit[eé].?sociale|carte.?vitale';
const bsn = '\\bbsn\\b|burgerservice|sofi';
const belgian = 'rijksregister|registre.?national|niss|insz|\\brrn\\b';
const swedish = 'personnummer|\\bpnr\\b|samordning';
const nhs = '\\bnhs\\b';
const cpf = '\\bcpf\\b|\\bcnpj\\b|cadastro';
const codice = 'codice.?fiscale|\\bcf\\b|fiscal.?code';

export const nationalIds: readonly NationalId[] = [
  row('US', /^\d{3}-\d{2}-\d{4}$/, checks.isSsn, true),
  row('US', /^\d{3}([ .])\d{2}\1\d{4}$/, checks.isSsn, false, ssn),
  row('US', /^\d{9}$/, checks.isSsn, false, ssn),
  row('AE', /^784-?(?:19|20)\d{2}-?\d{7}-?\d$/, checks.isLuhnValid, true),
  row('SA', /^[12]\d{9}$/, checks.isLuhnValid, false, 'iqama'),
  row('TR', /^\d{11}$/, checks.isTckn, false, 'kimlik|tckn|t\\.?c\\.? no'),
  row('IN', /^\d{4}([ -])\d{4}\1\d{4}$/, checks.isAadhaar, true),
  row('IN', /^\d{12}$/, checks.isAadhaar, false, aadhaar),
  row('IN', /^[A-Z]{3}P[A-Z]\d{4}[A-Z]$/, any, true),
  row('IN', /^[A-Z]{3}[ABCFGHJLT][A-Z]\d{4}[A-Z]$/, any, false, '\\bpan\\b|permanent.?account'),
  row('DE', /^\d{2} \d{3} \d{3} \d{3}$/, checks.isSteuerId, true),
  row('DE', /^\d{11}$|^\d{3}[ /]\d{4}[ /]\d{4}$/, checks.isSteuerId, false, steuer),
  row('FR', /^[12] \d{2} \d{2} (?:\d{2}|2[AB]) \d{3} \d{3} ?\d{2}$/, checks.isNir, true),
  row('FR', /^[12]\d{4}(?:\d{2}|2[AB])\d{6}[ -]?\d{2}$/, checks.isNir, false, nir),
  row('BR', /^\d{3}\.\d{3}\.\d{3}-\d{2}$/, checks.isCpf, true),
  row('BR', /^\d{11}$|^\d{9}-\d{2}$/, checks.isCpf, false, cpf),
  row('BR', /^\d{2}\.\d{3}\.\d{3}\/\d{4}-\d{2}$/, checks.isCnpj, true),
  row('BR', /^\d{14}$/, checks.isCnpj, false, cpf),
  row('ES', /^(?:\d{8}|[XYZ][ -]?\d{7})[ -]?[A-Z]$/, checks.isNif, true),
  row('ES', /^\d{2}\.\d{3}\.\d{3}[ -]?[A-Z]$/, checks.isNif, true),
  row(
    'IT',
    /^[A-Z]{6}[\dLMNPQRSTUV]{2}[ABCDEHLMPRST][\dLMNPQRSTUV]{2}[A-Z][\dLMNPQRSTUV]{3}[A-Z]$/,
    checks.isCodiceFiscale,
    true,
  ),
  row('IT', /^[A-Z]{3} [A-Z]{3} \d{2}[A-Z]\d{2} [A-Z]\d{3}[A-Z]$/, checks.isCodiceFiscale, true, codice),
  row('NL', /^\d{8,9}$|^\d{4}[ .]\d{2}[ .]\d{3}$|^\d{3}[ .]\d{3}[ .]\d{3}$/, checks.isBsn, false, bsn),
  row('BE', /^\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}$/, checks.isBelgian, true),
  row('BE', /^\d{11}$|^\d{6}[ -]\d{3}[ -]\d{2}$/, checks.isBelgian, false, belgian),
  row('PL', /^\d{11}$/, checks.isPesel, false, 'pesel'),
  row('SE', /^(?:19|20)?\d{6}[-+]\d{4}$/, checks.isSwedish, true),
  row('SE', /^(?:(?:19|20)\d{10}|\d{10})$/, checks.isSwedish, false, swedish),
  row('CN', /^[1-9]\d{5}(?:19|20)\d{9}[\dX]$/, checks.isChinese, true),
  row('GB', /^[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]([ -]?)\d{2}\1\d{2}\1\d{2}\1[A-D]$/, checks.isNino, true),
  row('GB', /^\d{3}([ -]?)\d{3}\1\d{4}$/, checks.isNhs, false, nhs),
  row('KR', /^\d{6}-[1-8]\d{6}$/, checks.isKorean, true),
  row('KR', /^\d{6}[1-8]\d{6}$/, checks.isKorean, false, 'resident|jumin|\\brrn\\b'),
  row('ZA', /^\d{13}$/, (bare) => checks.isLuhnValid(bare) && checks.isDay(bare, 2), false),
  row('SG', /^[STFG]\d{7}[A-Z]$/, checks.isNric, true),
  row('KZ', /^\d{12}$/, checks.isIin, false, '\\biin\\b'),
  row('CH', /^756\.\d{4}\.\d{4}\.\d{2}$/, checks.isAhv, true),
  row('CH', /^756\d{10}$/, checks.isAhv, false, '\\bahv\\b|\\bavs\\b'),
  row('FI', /^\d{6}[-+A-FU-Y]\d{3}[0-9A-FHJ-NPR-Y]$/, checks.isHetu, true),
  row('NO', /^\d{6} ?\d{5}$/, checks.isNorwegian, false, 'f[oø]dselsnummer|\\bfnr\\b'),
  row('RO', /^[1-8]\d{12}$/, checks.isCnp, false, '\\bcnp\\b'),
  row('HR', /^\d{11}$/, checks.isOib, false, '\\boib\\b'),
  row('PT', /^[1235689]\d{2} ?\d{3} ?\d{3}$/, checks.isPortuguese, false, '\\bnif\\b|contribuinte'),
  row('IE', /^\d{7}[A-W][A-IW]?$/, checks.isPps, false, '\\bpps'),
  row('CL', /^\d{1,2}\.\d{3}\.\d{3}-[\dK]$/, checks.isRut, true),
  row('CL', /^\d{7,8}-?[\dK]$/, checks.isRut, false, '\\bru[tn]\\b'),
  row('MX', /^[A-Z]{4}\d{6}[HMX][A-Z]{5}[A-Z\d]\d$/, checks.isCurp, true),
  row('CA', /^\d{3}([ -])\d{3}\1\d{3}$/, checks.isSin, false, '\\bsin\\b|social.?ins'),
  row('CA', /^\d{9}$/, checks.isSin, false, '\\bsin\\b|social.?ins'),
  row('AU', /^\d{3}( ?)\d{3}\1\d{3}$/, checks.isTfn, false, '\\btfn\\b|tax.?file'),
];

/** One look for all that are none; the back references of single forms are left to these. */
const anyForm = new RegExp(nationalIds.map(({ form }) => form.source.replace(/\\1/g, '[ .-]?')).join('|'), 'i');

/** Words of every country. */
const names = new RegExp(
  'national|citizen|personal.?(?:id|code|number|no)|identity|identification|tax.?id|id.?number|idno|id.?card|nino|' +
    'citoyen|ciudadan|cittadin|ausweis|\\bdni\\b|\\bnie\\b',
  'i',
);
/** What has such a name is none, whatever its digits. */
const others = /order|invoice|tracking|sku|article|product|part|serial|version|barcode|ean|gtin|isbn|timestamp/i;

/** The country of the national id that a value is; null: none. `name`: of the member, '' in prose. */
export function nationalIdOf(value: string, name: string): string | null {
  if (value.length < 8 || value.length > 24) return null;
  if (!anyForm.test(value)) return null;
  const isNamed = names.test(name);
  const isOther = !isNamed && others.test(name);
  const upper = value.toUpperCase();
  const isCased = upper === value || value.toLowerCase() === value;
  if (!isCased) return null;
  for (const { country, form, isValid, isTelling, words } of nationalIds) {
    if (!form.test(upper)) continue;
    const isMeant = isNamed || words.test(name);
    // small letters are taken only where a word says what it is, but for forms that say it by their signs
    const mayBe = isTelling && !isOther && (upper === value || /[-.]/.test(value) || value.length > 14);
    if ((isMeant || mayBe) && isValid(upper.replace(/[^A-Z\d]/g, ''))) return country;
  }
  return null;
}

const passportLine = /(?<![A-Z\d<])[A-Z\d<]{9}\d[A-Z<]{3}\d{7}[MFX<]\d{7}[A-Z\d<]{14}[\d<]\d(?![A-Z\d<])/;
const cardLine = /(?<![A-Z\d<])\d{7}[MFX<]\d{7}[A-Z<]{3}[A-Z\d<]{11}\d(?![A-Z\d<])/;

/** Whether a text has a machine-readable line of a passport or an identity card (ICAO 9303). */
export function hasMrz(text: string): boolean {
  if (text.length < 30 || !text.includes('<<')) return false;
  const passport = passportLine.exec(text)?.[0];
  if (passport !== undefined && checks.isPassportLine(passport)) return true;
  const card = cardLine.exec(text)?.[0];
  return card !== undefined && checks.isCardLine(card);
}

const wordsMax = 200;
/** Words in front of a value that may name it. */
const contextWords = 5;

function isNumber(word: string | undefined): boolean {
  if (word === undefined || word === '') return false;
  for (let at = 0; at < word.length; at += 1) if (!isDigit(word.charCodeAt(at))) return false;
  return true;
}
const isDigit = (code: number): boolean => code >= 48 && code <= 57;
/** A word that an id may begin with: of one or of several words. */
function mayBegin(word: string): boolean {
  const { length } = word;
  if (length === 0 || length > 24) return false;
  if (isDigit(word.charCodeAt(0)) || isDigit(word.charCodeAt(length - 1))) return true;
  const code = word.charCodeAt(length - 1);
  // two or three capitals may stand apart; a longer one has its digits inside
  return code >= 65 && code <= 90 && (length <= 3 || /\d/.test(word));
}
/** A value that is worth asking: with four digits or more, of the signs that ids have. */
function mayBeId(value: string): boolean {
  if (value.length < 8 || value.length > 24) return false;
  let digits = 0;
  for (let at = 0; at < value.length; at += 1) {
    const code = value.charCodeAt(at);
    if (isDigit(code)) digits += 1;
  }
  return digits >= 4;
}

/** The country of the first national id in a sentence: values of up to six words, named by the words in front. */
export function nationalIdInProse(text: string, name: string): string | null {
  if (!/[\s,;:()"'=<>]/.test(text) || !/\d\d/.test(text)) return null;
  const words = text.split(/[\s,;:()"'=<>]{1,10}/).slice(0, wordsMax);
  for (let at = 0; at < words.length; at += 1) {
    const first = words[at] as string;
    // groups of a longer number are no id
    if (!mayBegin(first) || (isNumber(first) && /\d$/.test(words[at - 1] ?? ''))) continue;
    const contextOf = (): string => `${name} ${words.slice(Math.max(0, at - contextWords), at).join(' ')}`;
    let value = '';
    for (let next = at; next < words.length && next < at + 7; next += 1) {
      const word = (words[next] as string).replace(/[.]$/, '');
      if (next > at && !/^[\dA-Z]{1,4}$/.test(word)) break;
      value = next === at ? word : `${value} ${word}`;
      if (value.length > 24) break;
      if (isNumber(word) && isNumber(words[next + 1])) continue;
      const country = mayBeId(value) && anyForm.test(value) ? nationalIdOf(value, contextOf()) : null;
      if (country !== null) return country;
    }
  }
  return null;
}
