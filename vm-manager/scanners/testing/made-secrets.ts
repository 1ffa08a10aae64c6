// Secrets that open nothing, made while a test runs: none of them stands in the repository.
import { crc32 } from 'node:zlib';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The same for the same seed. */
export function madeText(length: number, seed: number, alphabet = base62): string {
  let state = seed * 2_654_435_761 + 1;
  let text = '';
  for (let index = 0; index < length; index++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    text += alphabet.charAt((state >>> 8) % alphabet.length);
  }
  return text;
}

/** With the checksum that the issuer puts behind it, or with a wrong one. */
export function madeChecked(prefix: string, seed: number, isRight = true): string {
  const random = madeText(30, seed);
  let rest = crc32(random);
  let digits = '';
  for (let index = 0; index < 6; index++) {
    digits = base62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  const last = digits.charAt(5);
  return `${prefix}${random}${isRight ? digits : digits.slice(0, 5) + (last === 'a' ? 'b' : 'a')}`;
}

export const madeAwsKey = (seed: number): string =>
  `AK${'IA'}${madeText(16, seed, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')}`;
export const madeAwsSecret = (seed: number): string => madeText(40, seed, `${base62}/+`);
export const madePrivateKey = (seed: number, words = 'RSA '): string => {
  const body = madeText(640, seed, `${base62}+/`).replace(/(.{64})/g, '$1\n');
  return `-----BEGIN ${words}PRIVATE ${'KEY'}-----\n${body}-----END ${words}PRIVATE ${'KEY'}-----`;
};
