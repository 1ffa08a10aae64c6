// Query strings and urlencoded bodies, decoded the way ModSecurity v3 does it (each rule below was checked against
// libmodsecurity 3.0.9). On the road of every request: indexOf and one hand loop, no expression engine, and a string
// is only rebuilt when it holds `%` or `+`.
import type { Collection } from '../transaction/collection.js';

export interface UrlEncodedOutcome {
  /** More than `max` arguments were sent; the rest was not added and is not inspected. */
  readonly truncated: boolean;
  /** A `%` was not followed by two hexadecimal digits (URLENCODED_ERROR). The bytes were kept as they are. */
  readonly invalidEncoding: boolean;
}

const percent = 0x25;
const plus = 0x2b;

/** Value of a hexadecimal digit's code, or -1. */
function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

// One growing buffer for decoded bytes: decoding is synchronous and never re-entered, so sharing it is safe.
let decoded = Buffer.allocUnsafeSlow(4096);

// Whether the last call of decodePercent met a malformed sequence: a module variable spares an object per argument.
let sawInvalid = false;

/** `%XX` → byte, `+` → blank when `plusIsBlank`; malformed sequences stay and set `sawInvalid`. */
function decodePercent(text: string, plusIsBlank: boolean): string {
  const { length } = text;
  if (decoded.length < length) decoded = Buffer.allocUnsafeSlow(length * 2);
  const out = decoded;
  let size = 0;
  for (let at = 0; at < length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === percent) {
      const high = at + 2 < length ? hexDigit(text.charCodeAt(at + 1)) : -1;
      const low = high >= 0 ? hexDigit(text.charCodeAt(at + 2)) : -1;
      if (low >= 0) {
        out[size] = high * 16 + low;
        at += 2;
      } else {
        sawInvalid = true;
        out[size] = percent;
      }
    } else out[size] = code === plus && plusIsBlank ? 0x20 : code;
    size += 1;
  }
  const result = out.toString('latin1', 0, size);
  // A body of megabytes must not pin its buffer for the life of the process.
  if (decoded.length > 1_048_576) decoded = Buffer.allocUnsafeSlow(4096);
  return result;
}

/**
 * Percent-decodes a path the way ModSecurity v3 does for REQUEST_FILENAME and REQUEST_URI: `+` stays, malformed
 * sequences stay, `%u` is not special. latin1 in, latin1 out; returns the same string when there is no `%`.
 */
export function decodeUriPath(text: string): string {
  return text.indexOf('%') < 0 ? text : decodePercent(text, false);
}

/**
 * Splits `text` (latin1; the part after `?`, or a whole urlencoded body) on `separator` (one character) into name and
 * value at the first `=`, decodes both and appends them to `into`, at most `max` of them in this call.
 *
 * As ModSecurity v3: `a` and `a=` both have the value ''; `=b` has the name ''; an empty piece between two separators
 * is an argument with empty name and value, but the empty text and what follows a final separator are none; `+` is a
 * blank; a `%` without two hexadecimal digits stays and is reported. `%u0041` is not decoded. The separator and `=`
 * are looked for before decoding (`%26` never splits).
 */
export function parseUrlEncoded(text: string, separator: string, into: Collection, max: number): UrlEncodedOutcome {
  const { length } = text;
  const { names, values } = into;
  const plain = text.indexOf('%') < 0 && text.indexOf('+') < 0;
  const isLarge = length > ownCopyFromBytes;
  sawInvalid = false;
  let added = 0;
  let start = 0;
  // `equals` is the first "=" at or after `start`, kept between pieces: searching anew in each piece would make
  // "a&a&a…" without any "=" quadratic.
  let equals = text.indexOf('=');
  while (start < length) {
    if (added >= max) return { truncated: true, invalidEncoding: sawInvalid };
    let end = text.indexOf(separator, start);
    if (end < 0) end = length;
    if (equals >= 0 && equals < start) equals = text.indexOf('=', start);
    const hasValue = equals >= 0 && equals < end;
    const name = text.slice(start, hasValue ? equals : end);
    const value = hasValue ? text.slice(equals + 1, end) : '';
    if (plain) {
      names.push(isLarge ? ownCopy(name) : name);
      values.push(isLarge ? ownCopy(value) : value);
    } else {
      names.push(decodeArgument(name, isLarge));
      values.push(decodeArgument(value, isLarge));
    }
    added += 1;
    start = end + 1;
  }
  return { truncated: false, invalidEncoding: sawInvalid };
}

/** Above this size of the whole text, values are copied out of it. */
const ownCopyFromBytes = 4096;

/**
 * A slice of 13 characters or more points into its parent, and values outlive the request in the engine's memo: a
 * short value must not keep a body of a megabyte alive.
 */
function ownCopy(text: string): string {
  return text.length < 13 ? text : Buffer.from(text, 'latin1').toString('latin1');
}

function decodeArgument(text: string, isLarge: boolean): string {
  if (text.indexOf('%') >= 0 || text.indexOf('+') >= 0) return decodePercent(text, true);
  return isLarge ? ownCopy(text) : text;
}
