// Versions of Composer packages: "Versions and constraints" of its documentation, compared as version_compare() of PHP
// does once they have four numbers. Branches (dev-main) have no order.
import { byNumber, compareLists } from './parts.js';

const words = ['dev', 'alpha', 'beta', 'rc', '#', 'pl'];
const same: Readonly<Record<string, string>> = { a: 'alpha', b: 'beta', p: 'pl', patch: 'pl', stable: '#' };
const shape = /^v?\d+(?:\.\d+)*(?:[-_.+]?[0-9A-Za-z]+)*$/i;

/** Numbers, and words by their rank. */
function partsOf(text: string): string[] | null {
  const plain = text.trim().replace(/^v/i, '').replace(/\+.*$/, '').toLowerCase();
  if (!shape.test(plain)) return null;
  const parts = plain.match(/\d+|[a-z]+/g) ?? [];
  const end = parts.findIndex((part) => !/^\d/.test(part));
  const release = end < 0 ? parts : parts.slice(0, end);
  while (release.length < 4) release.push('0');
  return [...release, ...(end < 0 ? [] : parts.slice(end))];
}

function rankOf(part: string | undefined): number {
  if (part === undefined || /^\d/.test(part)) return words.indexOf('#');
  return words.indexOf(same[part] ?? part);
}

export function comparePackagist(left: string, right: string): number | null {
  const [one, other] = [partsOf(left), partsOf(right)];
  if (one === null || other === null) return null;
  return compareLists(one, other, (part, wanted) => {
    const rank = rankOf(part) - rankOf(wanted);
    if (rank !== 0) return rank;
    const [isNumber, isOther] = [/^\d/.test(part ?? ''), /^\d/.test(wanted ?? '')];
    if (isNumber && isOther) return byNumber(part ?? '0', wanted ?? '0');
    return isNumber === isOther ? 0 : isNumber ? 1 : -1;
  });
}
