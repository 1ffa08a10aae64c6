// Values of reports, read without believing their types: whatever is not what it should be is absent.
import { createHash } from 'node:crypto';
import { cut } from './record.js';
import { maskSecrets } from '../secrets/mask.js';
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

/** CVE and GHSA are of the same form everywhere; the others are of ecosystems, distributions and vendors. */
const vulnId = new RegExp(
  [
    '\\b(CVE-\\d{4}-\\d{4,9}|GHSA(?:-[23456789cfghjmpqrvwx]{4}){3}',
    'PYSEC-\\d{4}-\\d{1,6}|RUSTSEC-\\d{4}-\\d{4,6}|GO-\\d{4}-\\d{4,6}',
    'OSV-\\d{4}-\\d{1,6}|MAL-\\d{4}-\\d{1,7}|GSD-\\d{4}-\\d{4,9}',
    'ALAS\\d{0,4}(?:[A-Z.]{0,20}\\d?)?-\\d{4}-\\d{1,5}|(?:DSA|DLA)-\\d{3,5}-\\d{1,2}|USN-\\d{3,5}-\\d{1,2}',
    '(?:RHSA|RHBA|RHEA|RLSA|ALSA|ELSA)-\\d{4}[:-]\\d{3,7}',
    '(?:open)?SUSE-(?:SU|RU)-\\d{4}:\\d{1,6}(?:-\\d)?|CGA(?:-[23456789cfghjmpqrvwx]{4}){3}',
    'SNYK-(?!CC-)[A-Z0-9]{2,20}-[A-Z0-9_.]{1,80}-\\d{3,9}|HSEC-\\d{4}-\\d{1,6}',
    'RSEC-\\d{4}-\\d{1,6}|PSF-\\d{4}-\\d{1,6}|EUVD-\\d{4}-\\d{1,7}',
    'BIT-[a-z0-9-]{2,60}-\\d{4}-\\d{4,7}|GMS-\\d{4}-\\d{1,6}|NSWG-ECO-\\d{1,5}|TEMP-\\d{7}-[0-9A-F]{6})(?![A-Za-z0-9])',
  ].join('|'),
  'gi',
);
/** A letter and a hyphen of each family: most texts name none. */
const mayBeVulnId = new RegExp(
  '(?:CVE|GHSA|SEC|GO|OSV|MAL|GSD|ALAS\\w{0,24}|DSA|DLA|USN|RH[SBE]A|[RAE]LSA|SU|RU|CGA|SNYK|PSF|EU' +
    'VD|BIT|GMS|ECO|TEMP)-',
  'i',
);

/** Ids of vulnerabilities and advisories in the texts, in capitals. */
export function vulnIdsOf(values: readonly unknown[]): string[] {
  const named = values.map((value) => str(value).slice(0, 2000)).filter((text) => mayBeVulnId.test(text));
  if (named.length === 0) return [];
  return [
    ...new Set(named.flatMap((text) => [...text.matchAll(vulnId)].map((match) => (match[1] ?? '').toUpperCase()))),
  ];
}

/** Whether a text is such an id from its beginning, as ids of rules are. */
export function isVulnId(text: string): boolean {
  const [first] = vulnIdsOf([text.slice(0, 200)]);
  return first !== undefined && text.toUpperCase().startsWith(first);
}

/** `//server/share/x`: of Windows, or of a file URI with a host. */
const isShare = /^\/\/[^/?.][^/]{0,254}\/[^/]/;
const share = '?unc';
const outside = '?up';

/**
 * A path as the report has it, with `/` between its parts, without a scheme and without `.` and `..`. An absolute one
 * begins with `/` or with a drive (`C:/`); `imports/roots` makes it one of the repository. One that leads out of the
 * directory that the tool ran in begins with `/?up/`, and one of a share (UNC) with `/?unc/`: both are directories that
 * `imports/roots` takes away.
 */
export function reportPath(given: unknown): string {
  let path = str(given).trim();
  // relative, and without `.`, `..` and empty parts: as it is
  if (/^[\w-](?:[\w-]|\.(?=[\w-])|\/(?=[\w-])){0,998}$/.test(path)) return path;
  // a command or a document in place of a path: its backslashes become slashes, and no mask would know it then
  if (/\\(?:["']|u00|x[2-7])|\\.*\s|\s.*\\/.test(path)) path = maskSecrets(path.slice(0, 4000));
  if (/^file:/i.test(path)) path = pathOfFileUri(path);
  // \\?\C:\ and \\?\UNC\server\share of Windows
  path = path
    .replace(/\\/g, '/')
    .replace(/^\/\/\?\/UNC\//i, '//')
    .replace(/^\/\/\?\//, '');
  // of Linux on Windows, and drives of a machine by their administrative names
  path = path.replace(/^\/\/wsl(?:\.localhost|\$)\/[^/]+(?=\/)/i, '').replace(/^\/\/[^/]+\/([a-z])\$(?=\/)/i, '$1:');
  if (isShare.test(path)) path = `/${share}${path.slice(1)}`;
  const drive = /^([A-Za-z]):(?=\/)/.exec(path)?.[1]?.toUpperCase();
  const isAbsolute = drive !== undefined || path.startsWith('/');
  const parts: string[] = [];
  for (const part of (drive === undefined ? path : path.slice(2)).split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (!isAbsolute) parts.push(part);
  }
  if (parts[0] === '..') return cut(['', outside, ...parts.filter((part) => part !== '..')].join('/'), 1000);
  return cut(`${drive === undefined ? '' : `${drive}:`}${isAbsolute ? '/' : ''}${parts.join('/')}`, 1000);
}

/** RFC 8089: with or without a host, a drive behind a slash. */
function pathOfFileUri(uri: string): string {
  const [, host, rest = ''] = /^file:(?:\/\/([^/]*))?(.*)$/is.exec(uri) ?? [];
  const isHost = host !== undefined && host !== '' && !/^(?:localhost|127\.0\.0\.1|[A-Za-z]:|\.{1,2})$/i.test(host);
  const isPart = host !== undefined && /^(?:[A-Za-z]:|\.{1,2})$/.test(host);
  const path = isHost ? `//${host}${rest}` : isPart ? `${host}${rest}` : rest;
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
    .replace(/<\s*(?:br|\/p|\/li|\/div)\b[^<>]{0,200}>/gi, '\n')
    .replace(/<[^<>]{0,1000}>/g, '')
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
