// National ids, each with its check digit. Those that are bare digits are taken only under a name that says so: one in
// ten or eleven numbers passes a check digit by chance.
import { isLuhnValid } from '../../masking/personal-data.js';

const digitAt = (text: string, at: number): number => text.charCodeAt(at) - 48;
const weighed = (text: string, weights: readonly number[]): number =>
  weights.reduce((sum, weight, at) => sum + weight * digitAt(text, at), 0);
const isUniform = (text: string): boolean => /^(\d)\1*$/.test(text);

/** United States, SSN: areas, groups and serials that are given out; numbers of advertisements are not. */
function isSsn(digits: string): boolean {
  const area = digits.slice(0, 3);
  if (area === '000' || area === '666' || area >= '900') return false;
  if (digits.slice(3, 5) === '00' || digits.slice(5) === '0000') return false;
  return digits !== '078051120' && digits !== '219099999';
}

/** Turkey, T.C. kimlik no. */
function isTckn(text: string): boolean {
  if (text.startsWith('0')) return false;
  const odd = [0, 2, 4, 6, 8].reduce((sum, at) => sum + digitAt(text, at), 0);
  const even = [1, 3, 5, 7].reduce((sum, at) => sum + digitAt(text, at), 0);
  const tenth = (((odd * 7 - even) % 10) + 10) % 10;
  return digitAt(text, 9) === tenth && digitAt(text, 10) === (odd + even + tenth) % 10;
}

const verhoeffTable =
  '0123456789 1234067895 2340178956 3401289567 4012395678 5987604321 6598710432 7659821043 8765932104 9876543210'.split(
    ' ',
  );
const verhoeffTurns = '0123456789 1576283094 5803796142 8916043527 9453126870 4286573901 2793806415 7046913258'.split(
  ' ',
);

/** India, Aadhaar: Verhoeff's check digit. */
function isAadhaar(digits: string): boolean {
  if (digits < '2') return false;
  let check = 0;
  for (let at = 0; at < 12; at += 1) {
    const turned = digitAt(verhoeffTurns[at % 8] as string, digitAt(digits, 11 - at));
    check = digitAt(verhoeffTable[check] as string, turned);
  }
  return check === 0;
}

/** Brazil, CPF. */
function isCpf(digits: string): boolean {
  if (isUniform(digits)) return false;
  const check = (count: number): number => {
    let sum = 0;
    for (let at = 0; at < count; at += 1) sum += digitAt(digits, at) * (count + 1 - at);
    return ((sum * 10) % 11) % 10;
  };
  return check(9) === digitAt(digits, 9) && check(10) === digitAt(digits, 10);
}

/** Spain, NIF and NIE: the letter that the number has modulo 23. */
function isNif(text: string): boolean {
  const number = text.slice(0, 8).replace(/^[XYZ]/, (letter) => String('XYZ'.indexOf(letter)));
  return 'TRWAGMYFPDXBNJZSQVHLCKE'[Number(number) % 23] === text[8];
}

const oddValues = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];

/** Italy, codice fiscale: values of odd and even places, modulo 26. */
function isCodiceFiscale(text: string): boolean {
  let sum = 0;
  for (let at = 0; at < 15; at += 1) {
    const code = text.charCodeAt(at);
    const value = code < 58 ? code - 48 : code - 65;
    sum += at % 2 === 0 ? (oddValues[value] as number) : value;
  }
  return (sum % 26) + 65 === text.charCodeAt(15);
}

const modulo = (text: string, weights: readonly number[], by: number): number => weighed(text, weights) % by;
const isPesel = (text: string): boolean =>
  (10 - modulo(text, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3], 10)) % 10 === digitAt(text, 10);

/** China, ISO 7064 MOD 11-2. */
function isChinese(text: string): boolean {
  const sum = weighed(text, [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]);
  const month = Number(text.slice(10, 12));
  return month >= 1 && month <= 12 && '10X98765432'[sum % 11] === text[17]?.toUpperCase();
}

const isNhs = (text: string): boolean => {
  const check = (11 - modulo(text, [10, 9, 8, 7, 6, 5, 4, 3, 2], 11)) % 11;
  return check !== 10 && check === digitAt(text, 9) && !isUniform(text);
};
const isKorean = (text: string): boolean =>
  (11 - modulo(text, [2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5], 11)) % 10 === digitAt(text, 12) && isDay(text, 2);

/** Month and day at this place. */
const isDay = (text: string, at: number): boolean => {
  const month = Number(text.slice(at, at + 2));
  const day = Number(text.slice(at + 2, at + 4)) % 60; // Sweden's coordination numbers add 60
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
};

/** Kazakhstan, IIN: eleven weights, and other ones where the first pass says ten. */
function isIin(text: string): boolean {
  const first = modulo(text, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], 11);
  const check = first === 10 ? modulo(text, [3, 4, 5, 6, 7, 8, 9, 10, 11, 1, 2], 11) : first;
  return check < 10 && check === digitAt(text, 11) && isDay(text, 2);
}

/** Singapore, NRIC and FIN. */
function isNric(text: string): boolean {
  const sum = weighed(text.slice(1), [2, 7, 6, 5, 4, 3, 2]) + (text.startsWith('T') || text.startsWith('G') ? 4 : 0);
  const letters = text.startsWith('S') || text.startsWith('T') ? 'JZIHGFEDCBA' : 'XWUTRQPNMLK';
  return letters[sum % 11] === text[8];
}

const isNino = (text: string): boolean => !/^(?:BG|GB|KN|NK|NT|TN|ZZ)/.test(text);

interface NationalId {
  readonly country: string;
  /** Of the whole value, separators and all. */
  readonly form: RegExp;
  readonly isValid: (bare: string) => boolean;
  /** A form that only such an id has; else the name of the member has to say what it is. */
  readonly isTelling: boolean;
}

const row = (country: string, form: RegExp, isValid: NationalId['isValid'], isTelling: boolean): NationalId => ({
  ...{ country, form, isValid, isTelling },
});

export const nationalIds: readonly NationalId[] = [
  row('US', /^\d{3}-\d{2}-\d{4}$/, isSsn, true),
  row('US', /^\d{9}$/, isSsn, false),
  row('AE', /^784-?(?:19|20)\d{2}-?\d{7}-?\d$/, isLuhnValid, true),
  row('SA', /^[12]\d{9}$/, isLuhnValid, false),
  row('TR', /^\d{11}$/, isTckn, false),
  row('IN', /^\d{4} \d{4} \d{4}$/, isAadhaar, true),
  row('IN', /^\d{12}$/, isAadhaar, false),
  row('BR', /^\d{3}\.\d{3}\.\d{3}-\d{2}$/, isCpf, true),
  row('BR', /^\d{11}$/, isCpf, false),
  row('ES', /^(?:\d{8}|[XYZ]\d{7})-?[A-Z]$/, isNif, true),
  row('IT', /^[A-Z]{6}\d{2}[ABCDEHLMPRST]\d{2}[A-Z]\d{3}[A-Z]$/, isCodiceFiscale, true),
  row('PL', /^\d{11}$/, isPesel, false),
  row('SE', /^(?:19|20)?\d{6}[-+]\d{4}$/, (bare) => isLuhnValid(bare.slice(-10)) && isDay(bare.slice(-10), 2), true),
  row('CN', /^[1-9]\d{5}(?:19|20)\d{9}[\dX]$/i, isChinese, true),
  row('GB', /^[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]$/, isNino, true),
  row('GB', /^\d{3} ?\d{3} ?\d{4}$/, isNhs, false),
  row('KR', /^\d{6}-[1-8]\d{6}$/, isKorean, true),
  row('ZA', /^\d{13}$/, (bare) => isLuhnValid(bare) && isDay(bare, 2), false),
  row('SG', /^[STFG]\d{7}[A-Z]$/, isNric, true),
  row('KZ', /^\d{12}$/, isIin, false),
];

const names = new RegExp(
  'ssn|social.?sec|national|citizen|personal.?(?:id|code|number)|identity|kimlik|tckn|aadhaar|uidai|cpf|pesel|iqama|' +
    'nhs|iin\\b|id.?number|idno|tax.?id|rrn|nino',
  'i',
);

/** The country of the national id that a value is; null: none. `name`: of the member, '' in prose. */
export function nationalIdOf(value: string, name: string): string | null {
  if (value.length < 9 || value.length > 20) return null;
  const isNamed = names.test(name);
  for (const { country, form, isValid, isTelling } of nationalIds) {
    if (!isTelling && !isNamed) continue;
    if (form.test(value) && isValid(value.replace(/[ .+-]/g, ''))) return country;
  }
  return null;
}
