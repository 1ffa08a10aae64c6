// Values of reports, read without believing their types: whatever is not what it should be is absent.
import { createHash } from 'node:crypto';
import { cut } from './record.js';
import { withoutCheckout, withoutRoot } from './roots/paths.js';

export type Json = Readonly<Record<string, unknown>>;

export const obj = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const str = (value: unknown): string =>
  typeof value === 'string' ? value : typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
export function num(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}
/** A line or a column: a positive whole number, else absent. */
export function pos(value: unknown): number | undefined {
  const number = num(value);
  return number !== null && Number.isInteger(number) && number > 0 && number < 1e9 ? number : undefined;
}
export const texts = (value: unknown): string[] =>
  (Array.isArray(value) ? (value as unknown[]) : value === undefined || value === null ? [] : [value])
    .map(str)
    .filter((text) => text !== '');

/** `at(report, 'run', 'tool', 'name')`. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let here = value;
  for (const name of path) {
    if (here === undefined || here === null) return undefined;
    if (typeof name === 'number') here = list(here)[name];
    else {
      const object = obj(here);
      here = Object.hasOwn(object, name) ? object[name] : undefined;
    }
  }
  return here;
}

/** Every weakness that the texts name: `CWE-79: …`, `external/cwe/cwe-079`, and 79 where `bare` says so. */
export function cwesOf(values: readonly unknown[], bare = false): number[] {
  const found = values.flatMap((value) => {
    const text = str(value).slice(0, 500);
    if (bare && /^\d{1,5}$/.test(text)) return [Number(text)];
    if (!/cwe/i.test(text)) return [];
    return [...text.matchAll(/cwe[-_ /:]?(\d{1,5})/gi)].map((match) => Number(match[1]));
  });
  return [...new Set(found)].filter((number) => number > 0);
}

/** Ids of vulnerabilities in the texts. */
export function vulnIdsOf(values: readonly unknown[]): string[] {
  const pattern = /\b(CVE-\d{4}-\d{4,9}|GHSA(?:-[23456789cfghjmpqrvwx]{4}){3})\b/gi;
  // most texts name none
  const named = values.map((value) => str(value).slice(0, 2000)).filter((text) => /CVE-|GHSA-/i.test(text));
  if (named.length === 0) return [];
  return [
    ...new Set(named.flatMap((text) => [...text.matchAll(pattern)].map((match) => (match[1] ?? '').toUpperCase()))),
  ];
}

/**
 * A path as the report has it, with `/` between its parts, without a scheme and without `.` and `..`. An absolute one
 * begins with `/` or with a drive (`C:/`); `imports/roots` makes it one of the repository.
 */
export function reportPath(given: unknown): string {
  let path = str(given).trim();
  // relative, and without `.`, `..` and empty parts: as it is
  if (/^[\w-](?:[\w-]|\.(?=[\w-])|\/(?=[\w-])){0,998}$/.test(path)) return path;
  if (/^file:/i.test(path)) path = pathOfFileUri(path);
  path = path.replace(/\\/g, '/').replace(/^\/\/\?\//, ''); // \\?\C:\ of Windows
  const drive = /^([A-Za-z]):(?=\/)/.exec(path)?.[1]?.toUpperCase();
  const isAbsolute = drive !== undefined || path.startsWith('/');
  const parts: string[] = [];
  for (const part of (drive === undefined ? path : path.slice(2)).split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..') parts.pop();
    else parts.push(part);
  }
  return cut(`${drive === undefined ? '' : `${drive}:`}${isAbsolute ? '/' : ''}${parts.join('/')}`, 1000);
}

/** RFC 8089: with or without a host, a drive behind a slash. */
function pathOfFileUri(uri: string): string {
  const [, host, rest = ''] = /^file:(?:\/\/([^/]*))?(.*)$/is.exec(uri) ?? [];
  const isHost = host !== undefined && host !== '' && !/^(?:localhost|127\.0\.0\.1|[A-Za-z]:|\.{1,2})$/i.test(host);
  const isPart = host !== undefined && /^(?:[A-Za-z]:|\.{1,2})$/.test(host);
  const path = isHost ? `/${host}${rest}` : isPart ? `${host}${rest}` : rest;
  try {
    return decodeURIComponent(path).replace(/^\/(?=[A-Za-z]:[\\/])/, '');
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return path;
  }
}

/** A path that a tool writes as it stands in the repository, also where it begins with a slash. */
export const cleanPath = (given: unknown): string => {
  const path = reportPath(given);
  return withoutRoot(withoutCheckout(path) ?? path);
};

/** Text of HTML, for reports that write it into texts. */
export function plainText(html: unknown): string {
  return str(html)
    .slice(0, 100_000)
    .replace(/<\s*(?:br|\/p|\/li|\/div)\b[^>]{0,200}>/gi, '\n')
    .replace(/<[^>]{0,1000}>/g, '')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#39;|&apos;/g, "'")
    .replace(/&amp;/g, '&')
    .trim();
}

/** Of a secret: enough to find it again, and not the secret. */
export const secretHash = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/** The text with the secret in it masked. */
export function masked(text: string, secret: string): string {
  const shown = secret.length >= 16 ? secret.slice(0, 4) : '';
  return secret.length < 4 ? cut(text, 500) : cut(text.replaceAll(secret, `${shown}****`), 500);
}

export function moment(value: unknown): Date | null {
  const date = new Date(str(value));
  return str(value) === '' || Number.isNaN(date.getTime()) ? null : date;
}
