// Bytes of JSON strings: escapes, and the UTF-8 that stands between and behind them.

/** The byte that stands behind a backslash for itself or for a control; -1 = none does. */
export function unescapeByte(escape: number): number {
  switch (escape) {
    case 0x22:
    case 0x5c:
    case 0x2f:
      return escape;
    case 0x62:
      return 0x08;
    case 0x66:
      return 0x0c;
    case 0x6e:
      return 0x0a;
    case 0x72:
      return 0x0d;
    case 0x74:
      return 0x09;
    default:
      return -1;
  }
}

/**
 * Length of the UTF-8 sequence at `at`, or 0. Overlong forms are refused (RFC 3629 §3; ModSecurity v3 lets them pass):
 * Jackson reads C0 A7 as an apostrophe that no rule would see. Surrogates pass, they stand for no ASCII character.
 */
export function utf8Length(body: Buffer, at: number): number {
  const lead = body[at] as number;
  const length =
    lead >= 0xc0 && lead < 0xe0 ? 2 : lead >= 0xe0 && lead < 0xf0 ? 3 : lead >= 0xf0 && lead < 0xf8 ? 4 : 0;
  for (let index = 1; index < length; index += 1) {
    const byte = body[at + index] ?? 0;
    if ((byte & 0xc0) !== 0x80) return 0;
  }
  const second = body[at + 1] ?? 0;
  if (lead < 0xc2 || (lead === 0xe0 && second < 0xa0) || (lead === 0xf0 && second < 0x90)) return 0;
  return length;
}

export function readHex4(body: Buffer, at: number): number {
  let code = 0;
  for (let index = 0; index < 4; index += 1) {
    const byte = body[at + index] ?? 0;
    const lower = byte | 0x20;
    const digit = byte >= 0x30 && byte <= 0x39 ? byte - 0x30 : lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
    if (digit < 0) return -1;
    code = code * 16 + digit;
  }
  return code;
}

/**
 * Writes a code point; returns the new size. A lone high surrogate becomes `?`, a lone low one its three bytes:
 * ModSecurity v3 (yajl).
 */
export function writeUtf8(out: Buffer, size: number, code: number): number {
  if (code >= 0xd800 && code <= 0xdbff) {
    out[size] = 0x3f;
    return size + 1;
  }
  if (code < 0x80) {
    out[size] = code;
    return size + 1;
  }
  if (code < 0x800) {
    out[size] = 0xc0 | (code >> 6);
    out[size + 1] = 0x80 | (code & 0x3f);
    return size + 2;
  }
  if (code < 0x10000) {
    out[size] = 0xe0 | (code >> 12);
    out[size + 1] = 0x80 | ((code >> 6) & 0x3f);
    out[size + 2] = 0x80 | (code & 0x3f);
    return size + 3;
  }
  out[size] = 0xf0 | (code >> 18);
  out[size + 1] = 0x80 | ((code >> 12) & 0x3f);
  out[size + 2] = 0x80 | ((code >> 6) & 0x3f);
  out[size + 3] = 0x80 | (code & 0x3f);
  return size + 4;
}
