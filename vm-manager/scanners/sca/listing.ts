// What the readers of lock files share: a package as its ecosystem writes it becomes one with a purl and a line.
import type { FoundPackage } from '../contract.js';

export interface Listed {
  readonly name: string;
  readonly version: string;
  readonly isDevelopment?: boolean;
  readonly relation?: FoundPackage['relation'];
  /** A text that stands where it is listed. */
  readonly mark?: string;
  /** Of the purl: `epoch=1`. */
  readonly qualifiers?: string;
}

export interface Listing {
  /** Of the purls. */
  readonly type: string;
  readonly packages: readonly Listed[];
  /** Those for development are listed, too: what installs them runs on the machines that build. */
  readonly listsDevelopment?: boolean;
  /** Named without a version that is sure; each is reported. */
  readonly unresolved?: readonly string[];
  readonly purls?: readonly { readonly purl: string; readonly name: string; readonly version: string }[];
}

/** Reads one file; throws an Error with the reason for one that is none of its format. */
export type Reader = (text: string, path: string) => Listing;

const encoded = (text: string): string => encodeURIComponent(text).replaceAll('%3A', ':').replaceAll('%2B', '%2B');

/** `pkg:npm/%40scope/name@1.0.0` (https://github.com/package-url/purl-spec). */
export function purlOf(type: string, name: string, version: string, qualifiers = ''): string {
  const parts = type === 'maven' ? name.split(':') : name.split('/');
  const plain = type === 'pypi' ? [name.toLowerCase().replaceAll(/[-_.]+/g, '-')] : parts;
  const [own = '', ...sub] = type === 'cocoapods' ? plain : [plain.map(encoded).join('/')];
  const subpath = sub.length === 0 ? '' : `#${sub.map(encoded).join('/')}`;
  const base = type === 'cocoapods' ? encoded(own) : own;
  return `pkg:${type}/${base}@${encoded(version)}${qualifiers === '' ? '' : `?${qualifiers}`}${subpath}`;
}

export type Json = Readonly<Record<string, unknown>>;
export const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Throws where the text is no JSON object. */
export function jsonOf(text: string): Json {
  const value: unknown = JSON.parse(text.replace(/^\ufeff/, ''));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('is no JSON object');
  return value as Json;
}

/** Each name and version once; a package that is needed at run time is no development package. */
export function distinct(packages: readonly Listed[]): Listed[] {
  const found = new Map<string, Listed>();
  for (const one of packages) {
    const key = `${one.name}\n${one.version}`;
    const before = found.get(key);
    if (before === undefined || (before.isDevelopment === true && one.isDevelopment !== true)) found.set(key, one);
  }
  return [...found.values()];
}
