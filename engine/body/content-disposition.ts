// The Content-Disposition header of one part and the boundary parameter of the request's Content-Type: small grammars
// in which backends disagree, so everything that two parsers could read in two ways is an error or a flag (RFC 7578,
// RFC 2046, RFC 5987; the strictness is ModSecurity v3's).
import { decodeUriPath } from '../parse/urlencoded.js';
import { otherReadings } from './other-readings.js';

/** Outcome of reading a Content-Disposition value; `error` is a short reason, null when it is sound. */
export interface Disposition {
  error: string | null;
  /** A quote or a blank stands where a careless parser would be fooled (MULTIPART_INVALID_QUOTING). */
  invalidQuoting: boolean;
  name: string;
  filename: string;
  hasFilename: boolean;
  /** The percent-decoded `filename*`, '' when there is none. */
  extendedFilename: string;
  /** What some backends make of `name` and `filename`, other than these (other-readings.ts). */
  readonly otherNames: string[];
  readonly otherFilenames: string[];
  /** Every `name` and `filename` value met, duplicates and ones before an error included. */
  readonly names: string[];
  readonly filenames: string[];
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09;

/** RFC 2045 token character. */
function isToken(code: number): boolean {
  return code > 0x20 && code < 0x7f && !'()<>@,;:\\"/[]?='.includes(String.fromCharCode(code));
}

function skipBlanks(text: string, at: number): number {
  while (at < text.length && isBlank(text.charCodeAt(at))) at += 1;
  return at;
}

interface ParameterValue {
  value: string;
  end: number;
  error: string | null;
  singleQuoted: boolean;
}

/**
 * A quoted string (`"` or, flagged, `'`) or a token starting at `at`. A backslash only escapes the quote and itself.
 */
function readParameterValue(text: string, at: number, extended: boolean): ParameterValue {
  const first = text.charCodeAt(at);
  if (first !== 0x22 && first !== 0x27) {
    let end = at;
    // RFC 5987 values hold quotes and percent signs; ordinary ones are tokens.
    while (end < text.length && (isToken(text.charCodeAt(end)) || (extended && text[end] === "'"))) end += 1;
    return { value: text.slice(at, end), end, error: null, singleQuoted: false };
  }
  const pieces: string[] = [];
  let pieceStart = at + 1;
  for (let index = at + 1; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === 0x5c) {
      const next = text.charCodeAt(index + 1);
      if (index + 1 >= text.length) break;
      if (next === first || next === 0x5c) {
        pieces.push(text.slice(pieceStart, index));
        pieceStart = index + 1;
        index += 1;
      }
    } else if (code === first) {
      pieces.push(text.slice(pieceStart, index));
      return { value: pieces.join(''), end: index + 1, error: null, singleQuoted: first === 0x27 };
    }
  }
  pieces.push(text.slice(pieceStart));
  return { value: pieces.join(''), end: text.length, error: 'quote not closed', singleQuoted: first === 0x27 };
}

/** Takes over one parameter; returns the error or null. */
function acceptParameter(into: Disposition, parameter: string, value: string, seen: Set<string>): string | null {
  if (parameter !== 'name' && parameter !== 'filename' && parameter !== 'filename*')
    return `unknown parameter ${parameter}`;
  if (parameter === 'name') into.names.push(value);
  else into.filenames.push(value);
  if (seen.has(parameter)) return `duplicate ${parameter}`;
  seen.add(parameter);
  const others = otherReadings(value);
  if (others === null) return `${parameter} with an encoded word in another charset`;
  (parameter === 'name' ? into.otherNames : into.otherFilenames).push(...others);
  if (parameter === 'name') into.name = value;
  if (parameter === 'filename') {
    into.filename = value;
    into.hasFilename = true;
  }
  if (parameter !== 'filename*') return null;
  // charset'language'value, RFC 5987 §3.2.1
  const first = value.indexOf("'");
  const second = value.indexOf("'", first + 1);
  if (first <= 0 || second < 0) return "filename* is not charset'language'value";
  into.extendedFilename = decodeUriPath(value.slice(second + 1));
  return null;
}

/**
 * Reads `form-data; name=…; filename=…` (unfolded, latin1). Parameter names are case-sensitive and may appear once;
 * others than name, filename and filename* are errors, and filename* needs filename beside it: half of the backends
 * ignore the one, half prefer it. Single quotes as delimiters are read but flagged.
 */
export function parseContentDisposition(text: string): Disposition {
  const result: Disposition = {
    error: null,
    invalidQuoting: false,
    name: '',
    filename: '',
    hasFilename: false,
    extendedFilename: '',
    otherNames: [],
    otherFilenames: [],
    names: [],
    filenames: [],
  };
  const fail = (error: string): Disposition => {
    result.error = error;
    return result;
  };
  if (!text.startsWith('form-data')) return fail('not form-data');
  let at = skipBlanks(text, 9);
  if (at === text.length) return result;
  // To Werkzeug a blank here, to PHP, Rack and multiparty one at an equals sign, makes a field of a file whose contents
  // no rule sees.
  if (at > 9) result.invalidQuoting = true;
  if (text[at] !== ';') return fail('form-data not followed by a semicolon');
  at += 1;
  const seen = new Set<string>();
  while (at < text.length) {
    at = skipBlanks(text, at);
    if (at === text.length) return fail('semicolon without a parameter');
    const start = at;
    while (at < text.length && text[at] !== '=' && !isBlank(text.charCodeAt(at))) at += 1;
    const parameter = text.slice(start, at);
    at = skipBlanks(text, at);
    if (text[at] !== '=') return fail('parameter without a value');
    at = skipBlanks(text, at + 1);
    if (isBlank(text.charCodeAt(at - 1)) || isBlank(text.charCodeAt(start + parameter.length)))
      result.invalidQuoting = true;
    if (at === text.length) return fail('parameter without a value');
    const read = readParameterValue(text, at, parameter === 'filename*');
    if (read.singleQuoted) result.invalidQuoting = true;
    // Duplicates and unknown parameters are told apart from broken quoting by the first of the two errors only.
    const refused = acceptParameter(result, parameter, read.value, seen) ?? read.error;
    if (refused !== null) return fail(refused);
    at = skipBlanks(text, read.end);
    if (at === text.length) break;
    if (text[at] !== ';') {
      const before = text[at - 1];
      if (before === '"' || before === "'" || text[at] === '"' || text[at] === "'") result.invalidQuoting = true;
      return fail('parameters not separated by a semicolon');
    }
    at += 1;
  }
  if (seen.has('filename*') && !seen.has('filename')) return fail('filename* without filename');
  return result;
}

export interface Boundary {
  /** '' together with an error. */
  readonly boundary: string;
  readonly error: string | null;
  readonly quoted: boolean;
  readonly whitespace: boolean;
  readonly missingSemicolon: boolean;
}

/** Occurrences of "boundary" (any case) with a "=" somewhere behind them. */
function countBoundaryParameters(text: string): number {
  const lower = text.toLowerCase();
  const lastEquals = lower.lastIndexOf('=');
  let count = 0;
  for (let at = lower.indexOf('boundary'); at >= 0; at = lower.indexOf('boundary', at + 8))
    if (lastEquals >= at + 8) count += 1;
  return count;
}

/** RFC 2046 §5.1.1 bchars; a blank not at the end. */
function isBoundaryText(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const isAlphanumeric =
      (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
    if (isAlphanumeric || (code === 0x20 && at + 1 < text.length)) continue;
    if (!"'()+_,-./:=?".includes(text[at] as string)) return false;
  }
  return true;
}

const isSpace = (code: number): boolean => code === 0x20 || (code >= 0x09 && code <= 0x0d);

/**
 * Finds the boundary in `multipart/form-data; boundary=…` (a latin1 header value). It must be the first and only such
 * parameter, written in lower case; a parameter after an unquoted one is tolerated as in ModSecurity v3.
 */
export function parseBoundary(contentType: string): Boundary {
  const flags = { quoted: false, whitespace: false, missingSemicolon: false };
  const fail = (what: string): Boundary => ({ ...flags, boundary: '', error: what });
  if (contentType.length > 1024) return fail('Invalid boundary in C-T (length).');
  if (contentType.slice(0, 19).toLowerCase() !== 'multipart/form-data') return fail('Invalid MIME type.');
  if (countBoundaryParameters(contentType) > 1) return fail('Multiple boundary parameters in C-T.');
  const at = contentType.indexOf('boundary');
  if (at < 0)
    return fail(
      countBoundaryParameters(contentType) > 0
        ? 'Invalid boundary in C-T (case sensitivity).'
        : 'Boundary not found in C-T.',
    );
  let semicolons = 0;
  for (let index = 19; index < at; index += 1) {
    if (contentType[index] === ';') semicolons += 1;
    if (semicolons > 1 || (contentType[index] !== ';' && !isSpace(contentType.charCodeAt(index))))
      return fail('Invalid boundary in C-T (malformed).');
  }
  flags.missingSemicolon = semicolons === 0;
  const equals = contentType.indexOf('=', at + 8);
  if (equals < 0) return fail('Invalid boundary in C-T (malformed).');
  for (let index = at + 8; index < equals; index += 1) {
    if (!isSpace(contentType.charCodeAt(index))) return fail('Invalid boundary in C-T (parameter name).');
    flags.whitespace = true;
  }
  let value = contentType.slice(equals + 1);
  if (isSpace(value.charCodeAt(0))) flags.whitespace = true;
  if (value.startsWith('"') && value.endsWith('"') && value.length >= 2) {
    value = value.slice(1, -1);
    flags.quoted = true;
  } else {
    if (value.startsWith('"') || value.endsWith('"')) return fail('Invalid boundary in C-T (quote).');
    const semicolon = value.indexOf(';');
    if (semicolon >= 0) value = value.slice(0, semicolon);
    // RFC 2045 §5.1 wants these quoted: PHP, Rack and commons-fileupload end the boundary at a comma, Werkzeug at any
    // of them, others read on.
    if (/[ (),/:=?]/.test(value)) return fail('Invalid boundary in C-T (not quoted).');
  }
  if (value.length === 0) return fail('Invalid boundary in C-T (empty).');
  if (countBoundaryParameters(value) > 0) return fail('Invalid boundary in C-T (content).');
  if (!isBoundaryText(value)) return fail('Invalid boundary in C-T (characters).');
  return { ...flags, boundary: value, error: null };
}
