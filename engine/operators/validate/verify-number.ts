// Operators that find numbers by a pattern and check their digits: card, CPF, SSN and SVNR numbers. As in ModSecurity
// v3 every offset may start a match, so that a valid number inside a longer run of digits is found when the pattern
// allows it.
import type { Matcher, Operator } from '../operator.js';
import { compileSuccessive } from '../regex/successive-matches.js';

/** Digits of the text, as numbers. */
function digitsOf(text: string): number[] {
  const digits: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit >= 0 && digit <= 9) digits.push(digit);
  }
  return digits;
}

/** Luhn's sum (ISO/IEC 7812-1): every second digit from the right doubled, its digits added. */
function isCard(digits: readonly number[]): boolean {
  let sum = 0;
  for (let fromRight = 0; fromRight < digits.length; fromRight += 1) {
    const digit = digits[digits.length - 1 - fromRight] as number;
    sum += fromRight % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2;
  }
  return digits.length > 0 && sum % 10 === 0;
}

function allSame(digits: readonly number[]): boolean {
  return digits.every((digit) => digit === digits[0]);
}
function isSequence(digits: readonly number[]): boolean {
  return digits.every((digit, index) => index === 0 || digit === (digits[index - 1] as number) + 1);
}
function weighted(digits: readonly number[], weights: readonly number[]): number {
  return weights.reduce((sum, weight, index) => sum + weight * (digits[index] as number), 0);
}

/** Brazilian taxpayer number: two check digits modulo 11; the first eleven digits count. */
function isCpf(all: readonly number[]): boolean {
  const digits = all.slice(0, 11);
  if (digits.length < 11 || allSame(digits) || isSequence(digits.slice(0, 10))) return false;
  const check = (sum: number): number => (sum % 11 < 2 ? 0 : 11 - (sum % 11));
  return (
    digits[9] === check(weighted(digits, [10, 9, 8, 7, 6, 5, 4, 3, 2])) &&
    digits[10] === check(weighted(digits, [11, 10, 9, 8, 7, 6, 5, 4, 3, 2]))
  );
}

/**
 * US social security number: no field is zero, the area is assigned (below 740, not 666), not all equal or ascending.
 */
function isSsn(digits: readonly number[]): boolean {
  if (digits.length !== 9 || allSame(digits) || isSequence(digits)) return false;
  const area = weighted(digits, [100, 10, 1]);
  const group = weighted(digits.slice(3), [10, 1]);
  const serial = weighted(digits.slice(5), [1000, 100, 10, 1]);
  return area !== 0 && group !== 0 && serial !== 0 && area < 740 && area !== 666;
}

/**
 * Austrian social insurance number: the fourth digit checks the others modulo 11 (10 counts as 0, as in ModSecurity).
 */
function isSvnr(all: readonly number[]): boolean {
  const digits = all.slice(0, 10);
  if (digits.length < 10 || allSame(digits) || isSequence(digits)) return false;
  return (weighted(digits, [3, 7, 9, 0, 5, 8, 4, 2, 1, 6]) % 11) % 10 === digits[3];
}

function numberOperator(name: string, digitsMin: number, isValid: (digits: readonly number[]) => boolean): Operator {
  return {
    name,
    create: (_operator, argument): Matcher => {
      const matchesIn = compileSuccessive(name, argument, ({ start }) => start + 1);
      const find = (value: string): string | null => {
        // ModSecurity never matches an empty pattern here; too few digits cannot hold a number.
        if (argument === '' || digitsOf(value).length < digitsMin) return null;
        for (const { groups } of matchesIn(value)) {
          const match = groups[0] as string;
          if (isValid(digitsOf(match))) return match;
        }
        return null;
      };
      return {
        matches: (value) => find(value) !== null,
        capture: (value) => {
          const found = find(value);
          return found === null ? null : [found];
        },
      };
    },
  };
}

/** A card number by Luhn's check; TX:0 = the match. */
export const verifyCC = numberOperator('verifyCC', 1, isCard);
/** A Brazilian CPF; TX:0 = the match. */
export const verifyCPF = numberOperator('verifyCPF', 11, isCpf);
/** A US social security number; TX:0 = the match. */
export const verifySSN = numberOperator('verifySSN', 9, isSsn);
/** An Austrian SVNR; TX:0 = the match. */
export const verifySVNR = numberOperator('verifySVNR', 10, isSvnr);
