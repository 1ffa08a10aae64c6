// Check digits of national ids, by the rules of their issuers. Values come without separators, letters in upper case.
import { isLuhnValid } from '../../masking/personal-data.js';

export { isLuhnValid };

export const digitAt = (text: string, at: number): number => text.charCodeAt(at) - 48;
export const weighed = (text: string, weights: readonly number[]): number =>
  weights.reduce((sum, weight, at) => sum + weight * digitAt(text, at), 0);
export const isUniform = (text: string): boolean => /^(.)\1*$/.test(text);
const number = (text: string, from: number, to: number): number => Number(text.slice(from, to));

/** Month and day at this place; what some countries add to either is taken off. */
export const isDay = (text: string, at: number, monthBy = 100, dayBy = 60): boolean => {
  const month = number(text, at, at + 2) % monthBy;
  const day = number(text, at + 2, at + 4) % dayBy;
  return month >= 1 && month <= 12 && day >= 1 && day <= 31;
};
const isDayMonth = (text: string, at: number, dayBy = 100): boolean => {
  const day = number(text, at, at + 2) % dayBy;
  const month = number(text, at + 2, at + 4);
  return day >= 1 && day <= 31 && month >= 1 && month <= 12;
};

/** ISO 7064 MOD 11,10: Germany's Steuer-ID, Croatia's OIB. */
function isMod1110(text: string): boolean {
  let rest = 10;
  for (let at = 0; at < 10; at += 1) {
    const sum = (digitAt(text, at) + rest) % 10;
    rest = ((sum === 0 ? 10 : sum) * 2) % 11;
  }
  return (11 - rest) % 10 === digitAt(text, 10);
}

/** Germany, Steuer-Identifikationsnummer: of the first ten digits exactly one comes twice or three times. */
export function isSteuerId(text: string): boolean {
  if (text.startsWith('0') || !isMod1110(text)) return false;
  const counts = new Map<string, number>();
  for (const one of text.slice(0, 10)) counts.set(one, (counts.get(one) ?? 0) + 1);
  const many = [...counts.values()].filter((count) => count > 1);
  return many.length === 1 && (many[0] as number) <= 3;
}

export const isOib = (text: string): boolean => isMod1110(text) && !isUniform(text);

/** France, NIR: sex, month (also those of unknown ones), 97 less the rest; Corsica's 2A and 2B count as 19 and 18. */
export function isNir(text: string): boolean {
  const month = number(text, 3, 5);
  if (!((month >= 1 && month <= 12) || (month >= 20 && month <= 42) || month >= 50)) return false;
  const digits = text.slice(0, 13).replace('2A', '19').replace('2B', '18');
  return 97 - Number(BigInt(digits) % 97n) === number(text, 13, 15);
}

/** United States, SSN: areas, groups and serials that are given out; numbers of advertisements are not. */
export function isSsn(digits: string): boolean {
  const area = digits.slice(0, 3);
  if (area === '000' || area === '666' || area >= '900') return false;
  if (digits.slice(3, 5) === '00' || digits.slice(5) === '0000') return false;
  return digits !== '078051120' && digits !== '219099999' && digits !== '123456789' && !isUniform(digits);
}

/** Turkey, T.C. kimlik no. */
export function isTckn(text: string): boolean {
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
export function isAadhaar(digits: string): boolean {
  if (digits < '2') return false;
  let check = 0;
  for (let at = 0; at < 12; at += 1) {
    const turned = digitAt(verhoeffTurns[at % 8] as string, digitAt(digits, 11 - at));
    check = digitAt(verhoeffTable[check] as string, turned);
  }
  return check === 0;
}

/** Brazil, CPF. */
export function isCpf(digits: string): boolean {
  if (isUniform(digits)) return false;
  const check = (count: number): number => {
    let sum = 0;
    for (let at = 0; at < count; at += 1) sum += digitAt(digits, at) * (count + 1 - at);
    return ((sum * 10) % 11) % 10;
  };
  return check(9) === digitAt(digits, 9) && check(10) === digitAt(digits, 10);
}

/** Brazil, CNPJ. */
export function isCnpj(digits: string): boolean {
  const check = (weights: readonly number[]): number => {
    const rest = weighed(digits, weights) % 11;
    return rest < 2 ? 0 : 11 - rest;
  };
  const first = [5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];
  return !isUniform(digits) && check(first) === digitAt(digits, 12) && check([6, ...first]) === digitAt(digits, 13);
}

/** Spain, NIF and NIE: the letter that the number has modulo 23. */
export function isNif(text: string): boolean {
  const digits = text.slice(0, 8).replace(/^[XYZ]/, (letter) => String('XYZ'.indexOf(letter)));
  return 'TRWAGMYFPDXBNJZSQVHLCKE'[Number(digits) % 23] === text[8];
}

const oddValues = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];

/** Italy, codice fiscale: values of odd and even places, modulo 26. */
export function isCodiceFiscale(text: string): boolean {
  let sum = 0;
  for (let at = 0; at < 15; at += 1) {
    const code = text.charCodeAt(at);
    const value = code < 58 ? code - 48 : code - 65;
    sum += at % 2 === 0 ? (oddValues[value] as number) : value;
  }
  return (sum % 26) + 65 === text.charCodeAt(15);
}

/** Netherlands, burgerservicenummer: the eleven test, with the last digit taken off. */
export const isBsn = (text: string): boolean => {
  const digits = text.padStart(9, '0');
  return weighed(digits, [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0 && !isUniform(digits);
};

/** Belgium, rijksregisternummer: 97 less the rest, with a 2 in front for those born since 2000. */
export function isBelgian(text: string): boolean {
  const month = number(text, 2, 4);
  const isMonth = month % 20 <= 12 && month <= 52;
  const check = number(text, 9, 11);
  const body = text.slice(0, 9);
  return isMonth && (97 - (Number(body) % 97) === check || 97 - (Number(`2${body}`) % 97) === check);
}

/** Poland, PESEL: a date whose month tells the century, and a check digit. */
export const isPesel = (text: string): boolean =>
  (10 - (weighed(text, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3]) % 10)) % 10 === digitAt(text, 10) && isDay(text, 2, 20, 100);

/** China, ISO 7064 MOD 11-2. */
export function isChinese(text: string): boolean {
  const sum = weighed(text, [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2]);
  return isDay(text, 10, 100, 100) && '10X98765432'[sum % 11] === text[17];
}

export const isNhs = (text: string): boolean => {
  const check = (11 - (weighed(text, [10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11)) % 11;
  return check !== 10 && check === digitAt(text, 9) && !isUniform(text);
};
export const isKorean = (text: string): boolean =>
  (11 - (weighed(text, [2, 3, 4, 5, 6, 7, 8, 9, 2, 3, 4, 5]) % 11)) % 10 === digitAt(text, 12) && isDay(text, 2);
export const isSwedish = (text: string): boolean => isLuhnValid(text.slice(-10)) && isDay(text.slice(-10), 2);

/** Kazakhstan, IIN: eleven weights, and other ones where the first pass says ten. */
export function isIin(text: string): boolean {
  const first = weighed(text, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]) % 11;
  const check = first === 10 ? weighed(text, [3, 4, 5, 6, 7, 8, 9, 10, 11, 1, 2]) % 11 : first;
  return check < 10 && check === digitAt(text, 11) && isDay(text, 2);
}

/** Singapore, NRIC and FIN. */
export function isNric(text: string): boolean {
  const sum = weighed(text.slice(1), [2, 7, 6, 5, 4, 3, 2]) + (text.startsWith('T') || text.startsWith('G') ? 4 : 0);
  const letters = text.startsWith('S') || text.startsWith('T') ? 'JZIHGFEDCBA' : 'XWUTRQPNMLK';
  return letters[sum % 11] === text[8];
}

export const isNino = (text: string): boolean => !/^(?:BG|GB|KN|NK|NT|TN|ZZ)/.test(text);
/** Switzerland, AHV number: an EAN-13. */
export const isAhv = (text: string): boolean =>
  (10 - (weighed(text, [1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3]) % 10)) % 10 === digitAt(text, 12);
/** Finland, henkilötunnus: the number without its sign, modulo 31. */
export const isHetu = (text: string): boolean =>
  isDayMonth(text, 0) &&
  '0123456789ABCDEFHJKLMNPRSTUVWXY'[Number(text.slice(0, 6) + text.slice(-4, -1)) % 31] === text.at(-1);
/** Norway, fødselsnummer: two check digits. */
export const isNorwegian = (text: string): boolean =>
  isDayMonth(text, 0, 40) &&
  weighed(text, [3, 7, 6, 1, 8, 9, 4, 5, 2, 1]) % 11 === 0 &&
  weighed(text, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0;
/** Romania, CNP. */
export const isCnp = (text: string): boolean =>
  isDay(text, 3) && ((weighed(text, [2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9]) % 11) % 10) + 0 === digitAt(text, 12);
/** Portugal, NIF. */
export const isPortuguese = (text: string): boolean => {
  const rest = weighed(text, [9, 8, 7, 6, 5, 4, 3, 2]) % 11;
  return (rest < 2 ? 0 : 11 - rest) === digitAt(text, 8) && !isUniform(text);
};
/** Ireland, PPS number: a letter modulo 23, with a second letter counted nine times. */
export const isPps = (text: string): boolean => {
  const second = text.length > 8 ? text.charCodeAt(8) - 64 : 0;
  const sum = weighed(text, [8, 7, 6, 5, 4, 3, 2]) + 9 * (second === 23 ? 0 : second);
  return 'WABCDEFGHIJKLMNOPQRSTUV'[sum % 23] === text[7];
};
/** Chile, RUT: modulo 11, K for ten. */
export const isRut = (text: string): boolean => {
  let sum = 0;
  for (let at = text.length - 2, weight = 2; at >= 0; at -= 1, weight = weight === 7 ? 2 : weight + 1)
    sum += weight * digitAt(text, at);
  return '0K987654321'[sum % 11] === text.at(-1);
};
/** Mexico, CURP: values of letters and digits from the left, weights 18 to 2. */
export const isCurp = (text: string): boolean => {
  let sum = 0;
  for (let at = 0; at < 17; at += 1)
    sum += '0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ'.indexOf(text[at] as string) * (18 - at);
  return (10 - (sum % 10)) % 10 === digitAt(text, 17) && isDay(text, 6);
};
export const isSin = (text: string): boolean => isLuhnValid(text) && !isUniform(text) && text[0] !== '8';
/** Australia, tax file number. */
export const isTfn = (text: string): boolean =>
  weighed(text, [1, 4, 3, 7, 5, 8, 6, 9, 10]) % 11 === 0 && !isUniform(text);

/** ICAO 9303: weights 7, 3, 1; letters from 10, the filler counts nothing. */
function mrzCheck(text: string): number {
  let sum = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const value = code === 60 ? 0 : code < 58 ? code - 48 : code - 55;
    sum += value * ([7, 3, 1][at % 3] as number);
  }
  return sum % 10;
}
/** The second line of a passport (TD3): number, birth and expiry, each with its check digit (ICAO 9303 part 4). */
export const isPassportLine = (line: string): boolean =>
  mrzCheck(line.slice(0, 9)) === digitAt(line, 9) &&
  mrzCheck(line.slice(13, 19)) === digitAt(line, 19) &&
  mrzCheck(line.slice(21, 27)) === digitAt(line, 27) &&
  isDay(line, 15, 100, 100);
/** The second line of a card (TD1): birth and expiry (ICAO 9303 part 5). */
export const isCardLine = (line: string): boolean =>
  mrzCheck(line.slice(0, 6)) === digitAt(line, 6) &&
  mrzCheck(line.slice(8, 14)) === digitAt(line, 14) &&
  isDay(line, 2, 100, 100);
