// Package URLs (ECMA-427: pkg:type/namespace/name@version?qualifiers#subpath), and what advisories call the package.
// `packageurl-js` would check more than is wanted here: a bill that is slightly wrong still names its package.
import { cut } from '../imports/record.js';

export interface Purl {
  /** Lower case. */
  readonly type: string;
  /** Decoded, parts joined by slashes; empty: none. */
  readonly namespace: string;
  readonly name: string;
  readonly version: string;
  readonly qualifiers: ReadonlyMap<string, string>;
}

const lengthMax = 1500;

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return text;
  }
}

/** null for what is no package URL. */
export function parsePurl(text: string): Purl | null {
  if (text.length > lengthMax || !/^pkg:/i.test(text)) return null;
  const [rest = ''] = text.slice(4).split('#');
  const [path = '', query = ''] = rest.split('?');
  const parts = path.replace(/^\/+/, '').split('/');
  const type = (parts.shift() ?? '').toLowerCase();
  const last = parts.pop() ?? '';
  const at = last.lastIndexOf('@');
  // "@scope" unencoded and without a version is no version
  const [name, version] = at > 0 ? [last.slice(0, at), last.slice(at + 1)] : [last, ''];
  if (!/^[a-z][a-z0-9.+-]*$/.test(type) || name === '') return null;
  const qualifiers = query
    .split('&')
    .map((pair) => pair.split('='))
    .flatMap(([key = '', value = '']) => (key === '' ? [] : [[key.toLowerCase(), decode(value)] as const]));
  return {
    type,
    namespace: parts.filter(Boolean).map(decode).join('/'),
    name: decode(name),
    version: decode(version),
    qualifiers: new Map(qualifiers),
  };
}

/** Type of a purl → ecosystem of OSV (https://ossf.github.io/osv-schema/, "defined ecosystems"). */
const ecosystems: Readonly<Record<string, string>> = {
  npm: 'npm',
  pypi: 'PyPI',
  maven: 'Maven',
  golang: 'Go',
  cargo: 'crates',
  gem: 'RubyGems',
  nuget: 'NuGet',
  composer: 'Packagist',
  hex: 'Hex',
  pub: 'Pub',
  swift: 'SwiftURL',
  githubactions: 'GitHub Actions',
  cran: 'CRAN',
  hackage: 'Hackage',
  bitnami: 'Bitnami',
};
/** Distributions: by the namespace of their packages. */
const distributions: Readonly<Record<string, string>> = {
  'deb/debian': 'Debian',
  'deb/ubuntu': 'Ubuntu',
  'apk/alpine': 'Alpine',
  'apk/wolfi': 'Wolfi',
  'apk/chainguard': 'Chainguard',
  'rpm/redhat': 'Red Hat',
  'rpm/rocky': 'Rocky Linux',
  'rpm/almalinux': 'AlmaLinux',
  'rpm/opensuse': 'openSUSE',
  'rpm/suse': 'SUSE',
  'rpm/mageia': 'Mageia',
};

/** Without release and ending, in lower case: `Debian:12` is debian; the name of Rust's ends like a host's. */
export const ecosystemOf = (ecosystem: string): string =>
  (ecosystem.split(':')[0] ?? '').toLowerCase().replace(/\.io$/, '');

/** One written way for a package: PyPI takes `-`, `_` and `.` for one (PEP 503); none tells case apart. */
export function packageOf(ecosystem: string, name: string): string {
  const base = ecosystemOf(ecosystem);
  const lower = name.toLowerCase();
  return cut(`${base}|${base === 'pypi' ? lower.replace(/[-_.]+/g, '-') : lower}`, 600);
}

export interface AdvisoryName {
  readonly package: string;
  /** Of a distribution, such as 12, 22.04 or v3.19; empty: none, or not said. */
  readonly release: string;
}

/** Distributions of RPM whose advisories name the source package; those of the others name what is built of it. */
const namedBySource = ['SUSE', 'openSUSE', 'Mageia'];

/** The source package: `upstream` is its name, or that of its file, `openssl-3.0.7-1.el9.src.rpm`. */
function sourceOf(type: string, distribution: string, upstream: string): string {
  if (type !== 'rpm') return upstream.split('@')[0] ?? '';
  if (!namedBySource.includes(distribution)) return '';
  return upstream.replace(/-[^-]+-[^-]+\.src\.rpm$/, '').split('@')[0] ?? '';
}

/** What advisories call it; null where no ecosystem is known for it. */
export function advisoryNameOf(purl: Purl): AdvisoryName | null {
  const { type, namespace, qualifiers } = purl;
  const distribution = distributions[`${type}/${namespace.toLowerCase()}`];
  if (distribution !== undefined) {
    const source = sourceOf(type, distribution, qualifiers.get('upstream') ?? '');
    return { package: packageOf(distribution, source || purl.name), release: releaseOf(distribution, qualifiers) };
  }
  const ecosystem = ecosystems[type];
  if (ecosystem === undefined) return null;
  const separator = type === 'maven' ? ':' : '/';
  const name = namespace === '' ? purl.name : `${namespace}${separator}${purl.name}`;
  return { package: packageOf(ecosystem, name), release: '' };
}

/** Those whose advisories are by the first number of a release. */
const majorOnly = ['Debian', 'Red Hat', 'Rocky Linux', 'AlmaLinux', 'Mageia'];

function releaseOf(distribution: string, qualifiers: ReadonlyMap<string, string>): string {
  const found = /(\d+)(\.\d+)?/.exec(qualifiers.get('distro') ?? '');
  if (found === null) return '';
  const [, major = '', minor = ''] = found;
  if (majorOnly.includes(distribution)) return major;
  return distribution === 'Alpine' ? `v${major}${minor}` : `${major}${minor}`;
}
