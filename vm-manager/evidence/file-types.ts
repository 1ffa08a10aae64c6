// Which files people may add, judged by name and content alike. None is ever shown by a browser: each is a download.
import { unfit } from '../kit/endpoint.js';

export const fileBytesMax = 16 * 1024 * 1024;

const starts =
  (...beginnings: readonly string[]) =>
  (bytes: Buffer): boolean =>
    beginnings.some((beginning) => bytes.subarray(0, beginning.length).toString('latin1') === beginning);
const isWebp = (bytes: Buffer): boolean => starts('RIFF')(bytes) && bytes.subarray(8, 12).toString('latin1') === 'WEBP';

/** UTF-8 without control characters but tabs and line ends. */
function isText(bytes: Buffer): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    // eslint-disable-next-line no-control-regex
    return !/[\u0000-\u0008\u000e-\u001f]/.test(text);
  } catch {
    return false;
  }
}

/** A zip that names such an entry, where files of the kind have it. */
const office =
  (entry: string) =>
  (bytes: Buffer): boolean =>
    starts('PK\x03\x04')(bytes) && bytes.includes('PK\x01\x02', 0, 'latin1') && bytes.includes(entry, 0, 'latin1');
/** The first entry says what it is, and is not compressed. */
const openDocument =
  (kind: string) =>
  (bytes: Buffer): boolean =>
    starts('PK\x03\x04')(bytes) &&
    bytes.subarray(30, 38 + kind.length + 200).includes(`mimetypeapplication/vnd.oasis.opendocument.${kind}`);

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString('utf8'));
    return true;
  } catch {
    return false;
  }
}

/** Ending → what it is, and what its content has to be. */
const types: Readonly<Record<string, readonly [mediaType: string, fits: (bytes: Buffer) => boolean]>> = {
  pdf: ['application/pdf', starts('%PDF-')],
  png: ['image/png', starts('\x89PNG\r\n\x1a\n')],
  jpg: ['image/jpeg', starts('\xff\xd8\xff')],
  jpeg: ['image/jpeg', starts('\xff\xd8\xff')],
  webp: ['image/webp', isWebp],
  txt: ['text/plain', isText],
  log: ['text/plain', isText],
  md: ['text/markdown', isText],
  csv: ['text/csv', isText],
  yaml: ['application/yaml', isText],
  yml: ['application/yaml', isText],
  xml: ['application/xml', isText],
  eml: ['message/rfc822', isText],
  json: ['application/json', isJson],
  jsonl: ['application/jsonl', isText],
  docx: ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', office('word/document.xml')],
  xlsx: ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', office('xl/workbook.xml')],
  odt: ['application/vnd.oasis.opendocument.text', openDocument('text')],
  ods: ['application/vnd.oasis.opendocument.spreadsheet', openDocument('spreadsheet')],
};
export const fileEndings = Object.keys(types);

/** The media type. Throws 422 for another kind, and for content that is not what the name says. */
export function mediaTypeOf(name: string, bytes: Buffer): string {
  const ending = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  const type = types[ending];
  if (type === undefined)
    throw unfit('name', 'is no kind of file that is kept', `end it with .${fileEndings.join(', .')}`);
  if (!type[1](bytes)) throw unfit('file', `is not what .${ending} says`, `it has to be ${type[0]}`);
  return type[0];
}
