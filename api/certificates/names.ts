// Host names that a certificate can stand for.
import { domainToASCII } from 'node:url';
import { ApiError } from '../http-kit/index.js';

/** As many as the largest authorities take in one certificate. */
export const namesMax = 100;

const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** Why a name is none that an authority can issue for; null: it is one. In small letters, ASCII. */
export function whyNoName(name: string): string | null {
  const labels = (name.startsWith('*.') ? name.slice(2) : name).split('.');
  if (name.length > 253) return 'is longer than 253 characters';
  if (labels.some((one) => !label.test(one))) return 'is no host name: write it as shop.example.com';
  if (labels.length < 2) return 'has no domain: authorities issue for names such as shop.example.com';
  if (/^\d+$/.test(labels.at(-1) as string)) return 'is an address; certificates are ordered for names';
  return null;
}

/** Small, ASCII, sorted, each once. Throws ApiError with a reason for each that is none. */
export function canonicalNames(given: readonly string[]): string[] {
  const names = given.map((name) => {
    const [wild, rest] = name.startsWith('*.') ? ['*.', name.slice(2)] : ['', name];
    return wild + (domainToASCII(rest.trim()) || rest.trim().toLowerCase()).replace(/\.$/, '');
  });
  const errors = names.flatMap((name, index) => {
    const reason = whyNoName(name);
    return reason === null ? [] : [{ path: `/names/${index}`, reason: `${given[index]} ${reason}` }];
  });
  if (errors.length > 0)
    throw new ApiError('validation_failed', errors.map(({ reason }) => reason).join('; '), { errors });
  return [...new Set(names)].sort();
}

export const isWildcard = (name: string): boolean => name.startsWith('*.');

/** Whether a certificate for `names` stands for `host`. */
export const covers = (names: readonly string[], host: string): boolean =>
  names.includes(host) || names.includes(`*${host.slice(host.indexOf('.'))}`);
