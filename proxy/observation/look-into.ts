// What a message carries, as names and kinds: query parameters, members of JSON and of forms. Some requests of a path
// are looked into, never all of them, and never more than a bounded part of one.
import { segmentKind, valueKind } from './segment-kind.js';

const nameCharsMax = 128;
const bodyBytesMax = 16 * 1024;
const membersMax = 200;
const depthMax = 8;

export type Found = (name: string, kind: string) => void;

const clip = (text: string): string => (text.length > nameCharsMax ? text.slice(0, nameCharsMax) : text);

/** A part of a form; what cannot be decoded stays as it is. */
function decoded(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch (error) {
    if (!(error instanceof URIError)) throw error;
    return spaced;
  }
}

/** Parts of a query or a form, at most `membersMax`; the callback gets decoded names and values. */
export function eachPair(text: string, found: (name: string, value: string) => void): void {
  let from = 0;
  for (let count = 0; from <= text.length && count < membersMax; count += 1) {
    const ampersand = text.indexOf('&', from);
    const end = ampersand < 0 ? text.length : ampersand;
    if (end > from) {
      const part = text.slice(from, Math.min(end, from + 1024));
      const equals = part.indexOf('=');
      found(decoded(equals < 0 ? part : part.slice(0, equals)), equals < 0 ? '' : decoded(part.slice(equals + 1)));
    }
    from = end + 1;
  }
}

/** The query of a request target; '' where it has none. */
export function queryOf(uri: string): string {
  const at = uri.indexOf('?');
  return at < 0 ? '' : uri.slice(at + 1, at + 1 + bodyBytesMax);
}

/** Names and kinds of the query's parameters, as `query:NAME`. */
export function lookIntoQuery(uri: string, found: Found): void {
  eachPair(queryOf(uri), (name, value) => found(`query:${clip(printable(name))}`, valueKind(value)));
}

/** A media type without parameters, in lower case; null where there is none or it is none. */
export function mediaTypeOf(value: string | null): string | null {
  if (value === null) return null;
  const semicolon = value.indexOf(';');
  const type = (semicolon < 0 ? value : value.slice(0, semicolon)).trim().toLowerCase();
  return type.length > 0 && type.length <= 100 && type.includes('/') ? type : null;
}

export const isJsonType = (type: string | null): boolean =>
  type !== null && (type === 'application/json' || type.endsWith('+json') || type === 'text/json');

/** Members of a body as `body:POINTER`; a list's place is `*`. What is no JSON and no form yields nothing. */
export function lookIntoBody(type: string | null, body: Buffer, found: Found): void {
  if (body.length === 0 || body.length > bodyBytesMax) return;
  if (isJsonType(type)) {
    const value = parseJson(body.toString('utf8'));
    if (value !== undefined) eachMember(value, (pointer, member) => found(`body:${pointer}`, memberKind(member)));
  } else if (type === 'application/x-www-form-urlencoded') {
    eachPair(body.toString('latin1'), (name, value) => found(`body:/${clip(pointerPart(name))}`, valueKind(value)));
  }
}

/** JSON says by itself what is a number: `"7"` is a text. */
function memberKind(member: unknown): string {
  const kind = valueKind(member);
  const isTyped = kind === 'integer' || kind === 'number' || kind === 'boolean';
  return isTyped && typeof member === 'string' ? 'string' : kind;
}

/** undefined: it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

/** Scalars and empty containers of a JSON value, with their pointers (RFC 6901; a list's place is `*`). Bounded. */
export function eachMember(value: unknown, found: (pointer: string, member: unknown) => void): void {
  let left = membersMax;
  const visit = (pointer: string, member: unknown, depth: number): void => {
    if ((left -= 1) < 0) return;
    if (typeof member !== 'object' || member === null || depth >= depthMax) found(pointer, member);
    else if (Array.isArray(member)) member.slice(0, 10).forEach((item) => visit(`${pointer}/*`, item, depth + 1));
    else
      for (const name in member)
        visit(`${pointer}/${pointerName(name)}`, (member as Record<string, unknown>)[name], depth + 1);
  };
  visit('', value, 0);
}

/** Names that are data (maps by id) stand as their kind, so that values of people never become names here. */
function pointerName(name: string): string {
  const kind = segmentKind(name);
  const isName = kind === 'word' || kind === 'slug' || kind === 'language' || kind === 'locale' || kind === 'version';
  return isName ? clip(pointerPart(name)) : `{${kind}}`;
}

const pointerPart = (name: string): string => printable(name).replaceAll('~', '~0').replaceAll('/', '~1');

/** Control characters could not be stored and would not be seen. */
function printable(text: string): string {
  let isClean = true;
  for (let at = 0; isClean && at < text.length; at += 1) isClean = text.charCodeAt(at) >= 0x20;
  if (isClean) return text;
  return [...text].map((one) => (one.charCodeAt(0) < 0x20 ? '?' : one)).join('');
}
