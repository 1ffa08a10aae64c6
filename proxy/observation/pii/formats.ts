// What a message has in it, as pairs of place and text, whatever its format: JSON, lines of JSON, tables of commas or
// tabs, XML. Bounded; what is none of them is one text.
import { eachMember, isJsonType, parseJson } from '../look-into.js';

export type FoundText = (pointer: string, name: string, text: string) => void;

const textCharsMax = 16 * 1024;
const linesMax = 50;
const columnsMax = 100;
const tagsMax = 2000;

const lineTypes: ReadonlySet<string> = new Set(
  'application/x-ndjson application/ndjson application/jsonl application/x-jsonlines application/json-seq'.split(' '),
);
const tableTypes: ReadonlyMap<string, string> = new Map([
  ['text/csv', ','],
  ['application/csv', ','],
  ['text/tab-separated-values', '\t'],
]);
const isXmlType = (type: string | null): boolean =>
  type !== null && (type === 'application/xml' || type === 'text/xml' || type.endsWith('+xml'));

/** Types that are looked through, beside JSON and pages. */
export const isReadableType = (type: string): boolean =>
  type === 'text/plain' || lineTypes.has(type) || tableTypes.has(type) || isXmlType(type);

/** The last name of a pointer; of a list's place that of the list. */
const nameOf = (pointer: string): string => {
  const parts = pointer.split('/').filter((part) => part !== '*');
  return parts.at(-1) ?? '';
};

function eachJsonText(value: unknown, prefix: string, found: FoundText): void {
  eachMember(value, (pointer, member) => {
    if (typeof member === 'string' || typeof member === 'number')
      found(prefix + pointer, nameOf(pointer), String(member));
  });
}

export function eachText(type: string | null, body: Buffer, found: FoundText): void {
  if (isJsonType(type)) {
    const value = parseJson(body.toString('utf8'));
    if (value !== undefined) eachJsonText(value, '', found);
    return;
  }
  const text = body.toString('utf8', 0, textCharsMax);
  if (type !== null && lineTypes.has(type)) eachLine(text, found);
  else if (type !== null && tableTypes.has(type)) eachCell(text, tableTypes.get(type) ?? ',', found);
  else if (isXmlType(type)) eachElement(text, found);
  else found('', '', text);
}

/** A line that was cut off, or that is no JSON, is a text. */
function eachLine(text: string, found: FoundText): void {
  for (const line of text.split(/[\n\u001e]+/, linesMax)) {
    if (line.trim() === '') continue;
    const value = parseJson(line);
    if (value === undefined) found('', '', line);
    else eachJsonText(value, '/*', found);
  }
}

/** RFC 4180: cells in quotes may hold separators and doubled quotes. Semicolons, if the first line has more. */
function eachCell(text: string, given: string, found: FoundText): void {
  const first = text.slice(0, text.indexOf('\n') < 0 ? text.length : text.indexOf('\n'));
  const count = (sign: string): number => first.split(sign).length;
  const separator = given === ',' && count(';') > count(',') ? ';' : given;
  const rows = rowsOf(text, separator);
  const [head] = rows;
  // a first line of data is no head
  const isHead = head !== undefined && head.every((cell) => !/\d{4}|@/.test(cell));
  for (const row of isHead ? rows.slice(1) : rows)
    for (const [at, cell] of row.entries()) {
      const name = isHead ? (head[at] ?? '').trim().slice(0, 128) : '';
      const place = name === '' ? `/*/${at}` : `/*/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      if (cell !== '') found(place, name, cell);
    }
}

function rowsOf(text: string, separator: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length && rows.length <= linesMax) {
    let cell = '';
    if (text[at] === '"') {
      let end = at + 1;
      for (; end < text.length; end += 1) {
        if (text[end] !== '"') continue;
        if (text[end + 1] !== '"') break;
        end += 1;
      }
      cell = text.slice(at + 1, end).replaceAll('""', '"');
      at = end + 1;
    } else {
      const from = at;
      while (at < text.length && text[at] !== separator && text[at] !== '\n') at += 1;
      cell = text.slice(from, at);
    }
    if (row.length < columnsMax) row.push(cell.trim());
    if (text[at] === '\r') at += 1;
    if (at >= text.length || text[at] === '\n') {
      rows.push(row);
      row = [];
    }
    at += 1;
  }
  return rows;
}

const entities: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&amp;': '&',
  '&quot;': '"',
  '&apos;': "'",
};
const unescape = (text: string): string =>
  text.includes('&') ? text.replace(/&(?:lt|gt|amp|quot|apos);/g, (one) => entities[one] as string) : text;

/** Names without prefixes, as a path; attributes below their element. No document is validated. */
function eachElement(text: string, found: FoundText): void {
  const path: string[] = [];
  let at = 0;
  for (let count = 0; count < tagsMax; count += 1) {
    const open = text.indexOf('<', at);
    const between = unescape(text.slice(at, open < 0 ? text.length : open)).trim();
    if (between !== '') found(`/${path.join('/')}`, path.at(-1) ?? '', between);
    if (open < 0) return;
    if (text.startsWith('<![CDATA[', open)) {
      const end = text.indexOf(']]>', open);
      found(`/${path.join('/')}`, path.at(-1) ?? '', text.slice(open + 9, end < 0 ? text.length : end));
      if (end < 0) return;
      at = end + 3;
      continue;
    }
    const close = text.indexOf('>', open);
    if (close < 0) return;
    at = close + 1;
    const tag = text.slice(open + 1, close);
    if (tag.startsWith('/')) path.pop();
    else if (!tag.startsWith('?') && !tag.startsWith('!')) readTag(tag, path, found);
  }
}

function readTag(tag: string, path: string[], found: FoundText): void {
  const own = /^[\w.:-]{1,128}/.exec(tag)?.[0] ?? '';
  const local = (name: string): string => name.slice(name.indexOf(':') + 1);
  const below = [...path, local(own)];
  let left = columnsMax;
  for (const [, name = '', double, single] of tag
    .slice(own.length)
    .matchAll(/([\w.:-]{1,128})\s{0,4}=\s{0,4}(?:"([^"]*)"|'([^']*)')/g)) {
    if ((left -= 1) < 0) break;
    found(`/${below.join('/')}/${local(name)}`, local(name), unescape(double ?? single ?? ''));
  }
  if (!tag.endsWith('/') && path.length < 64) path.push(local(own));
}
