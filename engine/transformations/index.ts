// The transformations that Gatehouse knows, as one table you can read. Adding one: a file beside this one, a line here,
// vectors in the test. Names and spellings follow the ModSecurity reference manual.
import { base64DecodeExt } from './base64-decode-ext.js';
import { base64Decode } from './base64-decode.js';
import { base64Encode } from './base64-encode.js';
import { cmdLine } from './cmd-line.js';
import { compressWhitespace } from './compress-whitespace.js';
import { cssDecode } from './css-decode.js';
import { escapeSeqDecode } from './escape-seq-decode.js';
import { hexDecode } from './hex-decode.js';
import { hexEncode } from './hex-encode.js';
import { htmlEntityDecode } from './html-entity-decode.js';
import { jsDecode } from './js-decode.js';
import { length } from './length.js';
import { lowercase } from './lowercase.js';
import { md5 } from './md5.js';
import { none } from './none.js';
import { normalizePathWin } from './normalize-path-win.js';
import { normalizePath } from './normalize-path.js';
import { parityEven7bit, parityOdd7bit, parityZero7bit } from './parity.js';
import { phpArgsNames } from './php-args-names.js';
import { removeCommentsChar } from './remove-comments-char.js';
import { removeComments } from './remove-comments.js';
import { removeNulls } from './remove-nulls.js';
import { removeWhitespace } from './remove-whitespace.js';
import { replaceComments } from './replace-comments.js';
import { replaceNulls } from './replace-nulls.js';
import { sha1 } from './sha1.js';
import { sqlHexDecode } from './sql-hex-decode.js';
import type { Transformation } from './transformation.js';
import { trim, trimLeft, trimRight } from './trim.js';
import { uppercase } from './uppercase.js';
import { urlDecodeUni } from './url-decode-uni.js';
import { urlDecode } from './url-decode.js';
import { urlEncode } from './url-encode.js';
import { utf8toUnicode } from './utf8-to-unicode.js';

const list: readonly Transformation[] = [
  base64Decode,
  base64DecodeExt,
  base64Encode,
  cmdLine,
  compressWhitespace,
  cssDecode,
  escapeSeqDecode,
  hexDecode,
  hexEncode,
  htmlEntityDecode,
  jsDecode,
  length,
  lowercase,
  md5,
  none,
  normalizePath,
  normalizePathWin,
  parityEven7bit,
  parityOdd7bit,
  parityZero7bit,
  phpArgsNames,
  removeComments,
  removeCommentsChar,
  removeNulls,
  removeWhitespace,
  replaceComments,
  replaceNulls,
  sha1,
  sqlHexDecode,
  trim,
  trimLeft,
  trimRight,
  uppercase,
  urlDecode,
  urlDecodeUni,
  urlEncode,
  utf8toUnicode,
];

/** Every transformation by its canonical name. */
export const transformations: ReadonlyMap<string, Transformation> = new Map(list.map((entry) => [entry.name, entry]));

/** Lower-cased spellings besides the canonical name. */
const otherSpellings: readonly (readonly [string, string])[] = [
  ['normalisepath', 'normalizePath'],
  ['normalisepathwin', 'normalizePathWin'],
  ['cmd_line', 'cmdLine'],
];
const canonical = new Map<string, string>([
  ...list.map((entry): [string, string] => [entry.name.toLowerCase(), entry.name]),
  ...otherSpellings,
]);

/**
 * The canonical name of a spelling in a rule (`normalisePath`, `base64decode`, any case), or null when there is no such
 * transformation.
 */
export function canonicalTransformationName(spelling: string): string | null {
  return canonical.get(spelling.toLowerCase()) ?? null;
}
