// Which version is the later one, by the rules of each ecosystem. Only `semver` is a kept package that fits: those for
// the others are of one size with the rules themselves, are left by their authors, or want a later Node.js. Each file
// names the document that it follows. What cannot be compared is said, never guessed.
import semver from 'semver';
import { ecosystemOf } from '../../components/purl.js';
import { compareApk } from './apk.js';
import { compareDpkg } from './dpkg.js';
import { compareGem } from './gem.js';
import { compareMaven } from './maven.js';
import { compareNuget } from './nuget.js';
import { comparePackagist } from './packagist.js';
import { comparePep440 } from './pep440.js';
import { compareRpm } from './rpm.js';

/** Below 0: `left` is earlier. null: one of them is no version of the ecosystem. */
export type Compare = (left: string, right: string) => number | null;

/** Longer ones are no versions: what compares them may cost the square of it. */
const lengthMax = 200;

/** Semantic Versioning 2.0.0; `v1`, `1.2` and `=1.2.3` are taken for what they mean. */
export const compareSemver: Compare = (left, right) => {
  const [one, other] = [toSemver(left), toSemver(right)];
  return one === null || other === null ? null : semver.compare(one, other);
};

function toSemver(text: string): string | null {
  const plain = text.trim().replace(/^[=v]+/i, '');
  const [, numbers = '', rest = ''] = /^(\d+(?:\.\d+){0,2})((?:[-+].*)?)$/.exec(plain) ?? [];
  if (numbers === '') return null;
  const padded = [...numbers.split('.'), '0', '0'].slice(0, 3).join('.');
  return semver.valid(`${padded}${rest}`, { loose: true });
}

const byEcosystem: Readonly<Record<string, Compare>> = {
  npm: compareSemver,
  crates: compareSemver,
  go: compareSemver,
  hex: compareSemver,
  pub: compareSemver,
  swifturl: compareSemver,
  'github actions': compareSemver,
  bitnami: compareSemver,
  pypi: comparePep440,
  maven: compareMaven,
  rubygems: compareGem,
  nuget: compareNuget,
  packagist: comparePackagist,
  debian: compareDpkg,
  ubuntu: compareDpkg,
  alpine: compareApk,
  wolfi: compareApk,
  chainguard: compareApk,
  'red hat': compareRpm,
  'rocky linux': compareRpm,
  almalinux: compareRpm,
  suse: compareRpm,
  opensuse: compareRpm,
  openeuler: compareRpm,
  mageia: compareRpm,
  'photon os': compareRpm,
  'azure linux': compareRpm,
};

/** For a range of the type in the ecosystem (`Debian:12` is of Debian); null: nobody here can compare its versions. */
export function comparatorOf(ecosystem: string, rangeType: string): Compare | null {
  const base = ecosystemOf(ecosystem);
  const found =
    rangeType === 'SEMVER' ? compareSemver : Object.hasOwn(byEcosystem, base) ? byEcosystem[base] : undefined;
  if (rangeType === 'GIT' || found === undefined) return null;
  return (left, right) => (left.length > lengthMax || right.length > lengthMax ? null : found(left, right));
}
