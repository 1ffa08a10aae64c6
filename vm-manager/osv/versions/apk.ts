// Versions of Alpine packages: apk-package(5), "package version": numbers, one letter, suffixes, a revision.
import { byNumber, compareLists, sign } from './parts.js';

const shape = /^(\d+(?:\.\d+)*)([a-z]?)((?:_[a-z]+\d*)*)(?:~[0-9a-f]+)?(?:-r(\d+))?$/;
const suffixes = ['alpha', 'beta', 'pre', 'rc', '', 'cvs', 'svn', 'git', 'hg', 'p'];

function compareNumber(one: string | undefined, other: string | undefined): number {
  if (one === undefined || other === undefined) return one === other ? 0 : one === undefined ? -1 : 1;
  // behind a leading zero they are the digits of a fraction
  return one.startsWith('0') || other.startsWith('0') ? sign(one, other) : byNumber(one, other);
}

const suffixesOf = (text: string) =>
  [...text.matchAll(/_([a-z]+)(\d*)/g)].map(([, name = '', number = '']) => ({ name, number: number || '0' }));

function compareSuffix(
  one: { readonly name: string; readonly number: string } | undefined,
  other: { readonly name: string; readonly number: string } | undefined,
): number {
  const rank = suffixes.indexOf(one?.name ?? '') - suffixes.indexOf(other?.name ?? '');
  return rank || byNumber(one?.number ?? '0', other?.number ?? '0');
}

export function compareApk(left: string, right: string): number | null {
  const [one, other] = [shape.exec(left.trim()), shape.exec(right.trim())];
  if (one === null || other === null) return null;
  const [words, others] = [suffixesOf(one[3] ?? ''), suffixesOf(other[3] ?? '')];
  if ([...words, ...others].some(({ name }) => !suffixes.includes(name))) return null;
  const [first = '0', ...rest] = (one[1] ?? '').split('.');
  const [wanted = '0', ...more] = (other[1] ?? '').split('.');
  return (
    byNumber(first, wanted) ||
    compareLists(rest, more, compareNumber) ||
    sign(one[2] ?? '', other[2] ?? '') ||
    compareLists(words, others, compareSuffix) ||
    byNumber(one[4] ?? '0', other[4] ?? '0')
  );
}
