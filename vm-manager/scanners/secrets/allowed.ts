// Secrets that an installation knows to be none. One engine's process serves one scan: the list is the process's.
import { createHash } from 'node:crypto';
import RE2 from 're2';
import type { Allowed } from '../own/additions.js';

type Check = (path: string, value: string) => boolean;

let checks: readonly { readonly reason: string; readonly fits: Check }[] = [];

/** `*` is any text without a slash, `**` any text. */
const globOf = (glob: string): RE2 =>
  new RE2(
    `^${glob
      .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
      .replaceAll('**', '\u0000')
      .replaceAll('*', '[^/]*')
      .replaceAll('\u0000', '.*')}$`,
  );

function checkOf({ kind, value: wanted }: Allowed): Check {
  if (kind === 'hash') {
    const sum = wanted.toLowerCase();
    return (_path, value) => createHash('sha256').update(value, 'latin1').digest('hex') === sum;
  }
  const pattern = kind === 'path' ? globOf(wanted) : new RE2(`^(?:${wanted})$`);
  return kind === 'path' ? (path) => pattern.test(path) : (_path, value) => pattern.test(value);
}

export function allow(list: readonly Allowed[]): void {
  checks = list.map((one) => ({ reason: one.reason, fits: checkOf(one) }));
}

/** Why it is set aside; null: it is not. */
export const allowedBy = (path: string, value: string): string | null =>
  checks.find(({ fits }) => fits(path, value))?.reason ?? null;
