// The path of a request as discovery knows it: without query, matrix parameters, doubled and trailing slashes. Files
// that pages are made of are no APIs and stay out.
import { segmentKind, segmentKinds } from './segment-kind.js';

/** Characters of a path that are kept; a longer one is cut at its last whole segment. */
const pathCharsMax = 512;
const segmentsMax = 24;
const segmentCharsMax = 128;

const assetEndings: ReadonlySet<string> = new Set(
  (
    'js mjs cjs css map png jpg jpeg gif webp avif svg ico bmp woff woff2 ttf otf eot mp4 webm mp3 ogg wav wasm ' +
    'webmanifest swf html htm'
  ).split(' '),
);

/** True for files of pages: told by the ending of the path, of methods that read. */
export function isStaticAsset(method: string, path: string): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  const dot = path.lastIndexOf('.');
  if (dot < 0 || path.length - dot > 12 || path.indexOf('/', dot) >= 0) {
    return path === '/favicon.ico';
  }
  return assetEndings.has(path.slice(dot + 1).toLowerCase()) || path === '/robots.txt' || path === '/sitemap.xml';
}

/** Letters, digits and other characters of names: paths with quotes, brackets or escapes may be attacks. */
export function isOrdinaryPath(path: string): boolean {
  for (let at = 0; at < path.length; at += 1) {
    const code = path.charCodeAt(at);
    const isAlphanumeric = (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
    if (!isAlphanumeric && !'/-._~@:+,='.includes(path[at] as string)) return false;
  }
  return !path.includes('..');
}

/** The path of a request target, in origin or absolute form (RFC 9112 section 3.2), as it came. */
export function pathOf(uri: string): string {
  let from = 0;
  if (uri.charCodeAt(0) !== 47) {
    const scheme = uri.indexOf('://');
    from = scheme < 0 ? 0 : uri.indexOf('/', scheme + 3);
    if (from < 0) return '/';
  }
  const query = uri.indexOf('?', from);
  const hash = uri.indexOf('#', from);
  const end = query < 0 ? hash : hash < 0 ? query : Math.min(query, hash);
  return from === 0 && end < 0 ? uri : uri.slice(from, end < 0 ? undefined : end);
}

/** Segments of a path, percent-decoded where that gives printable ASCII; bounded. */
export function segmentsOf(path: string): string[] {
  const clipped = path.length > pathCharsMax ? path.slice(0, pathCharsMax) : path;
  const segments: string[] = [];
  for (const raw of clipped.split('/')) {
    const matrix = raw.indexOf(';');
    const segment = matrix < 0 ? raw : raw.slice(0, matrix);
    const clean = decode(segment).slice(0, segmentCharsMax);
    if (clean === '' || clean === '.') continue;
    // as applications read it: one level up (RFC 3986 section 5.2.4)
    if (clean === '..') {
      segments.pop();
      continue;
    }
    if (segments.length === segmentsMax) break;
    segments.push(clean);
  }
  return segments;
}

/** Only what stays one segment and one line; a segment that is no clean text stays as it is. */
function decode(segment: string): string {
  if (!segment.includes('%')) return segment;
  return segment.replace(/%[0-7][0-9A-Fa-f]/g, (code) => {
    const value = Number.parseInt(code.slice(1), 16);
    return value > 0x20 && value < 0x7f && value !== 0x2f && value !== 0x25 && value !== 0x7b && value !== 0x7d
      ? String.fromCharCode(value)
      : code;
  });
}

/** One form for all spellings of a path. Braces of clients are encoded: only shapes have them. */
export function normalPath(path: string): string {
  const segments = segmentsOf(path).map((segment) => segment.replace(/\{/g, '%7B').replace(/\}/g, '%7D'));
  return `/${segments.join('/')}`;
}

/** The path with data in the place of which its kind stands: `/orders/{integer}`. Names stay. */
export function shapeOf(path: string): string {
  const shaped = segmentsOf(path).map((segment) => {
    const kind = segmentKind(segment);
    return isData(kind) ? `{${kind}}` : segment.replace(/\{/g, '%7B').replace(/\}/g, '%7D');
  });
  return `/${shaped.join('/')}`;
}

/** True where the kind alone says that it is a value and no name. */
export function isData(kind: ReturnType<typeof segmentKind>): boolean {
  return kind !== 'word' && kind !== 'slug' && kind !== 'version' && kind !== 'locale' && kind !== 'language';
}

/** True where some segment is a value: requests for it are requests for an object. */
export function hasData(path: string): boolean {
  return segmentsOf(path).some((segment) => isData(segmentKind(segment)));
}

/** The same of a path with kinds in the place of values: `/blog/{slug}` names no object, `/orders/{integer}` does. */
export function shapeHasData(shape: string): boolean {
  return shape.split('/').some((segment) => {
    const kind = segment.startsWith('{') ? segmentKinds.find((one) => segment === `{${one}}`) : segmentKind(segment);
    return segment !== '' && isData(kind ?? 'other');
  });
}
