// The transformations that Gatehouse knows, as one table you can read. Adding one: a file in the folder of its
// kind (decode, encode, strip, normalize), a line here, vectors in the test. Names and spellings follow the ModSecurity
// reference manual.
import { base64DecodeExt } from './decode/base64-decode-ext.js';
import { base64Decode } from './decode/base64-decode.js';
import { base64Encode } from './encode/base64-encode.js';
import { cmdLine } from './normalize/cmd-line.js';
import { compressWhitespace } from './strip/compress-whitespace.js';
import { cssDecode } from './decode/css-decode.js';
import { escapeSeqDecode } from './decode/escape-seq-decode.js';
import { hexDecode } from './decode/hex-decode.js';
import { hexEncode } from './encode/hex-encode.js';
import { htmlEntityDecode } from './decode/html-entity-decode.js';
import { jsDecode } from './decode/js-decode.js';
import { length } from './encode/length.js';
import { lowercase } from './normalize/lowercase.js';
import { md5 } from './encode/md5.js';
import { none } from './normalize/none.js';
import { normalizePathWin } from './normalize/normalize-path-win.js';
import { normalizePath } from './normalize/normalize-path.js';
import { parityEven7bit, parityOdd7bit, parityZero7bit } from './normalize/parity.js';
import { phpArgsNames } from './normalize/php-args-names.js';
import { removeCommentsChar } from './strip/remove-comments-char.js';
import { removeComments } from './strip/remove-comments.js';
import { removeNulls } from './strip/remove-nulls.js';
import { removeWhitespace } from './strip/remove-whitespace.js';
import { replaceComments } from './strip/replace-comments.js';
import { replaceNulls } from './strip/replace-nulls.js';
import { sha1 } from './encode/sha1.js';
import { sqlHexDecode } from './decode/sql-hex-decode.js';
import type { Transformation } from './transformation.js';
import { trim, trimLeft, trimRight } from './strip/trim.js';
import { uppercase } from './normalize/uppercase.js';
import { urlDecodeUni } from './decode/url-decode-uni.js';
import { urlDecode } from './decode/url-decode.js';
import { urlEncode } from './encode/url-encode.js';
import { utf8toUnicode } from './encode/utf8-to-unicode.js';

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
