// References in XML text and attribute values: the five predefined entities and characters by number, nothing else.

/** UTF-8 bytes (as latin1) of a character that XML 1.0 allows, or null. */
function characterText(code: number): string | null {
  const isAllowed =
    code === 0x09 ||
    code === 0x0a ||
    code === 0x0d ||
    (code >= 0x20 && code <= 0xd7ff) ||
    (code >= 0xe000 && code <= 0xfffd) ||
    (code >= 0x10000 && code <= 0x10ffff);
  if (!isAllowed) return null;
  if (code < 0x80) return String.fromCharCode(code);
  if (code < 0x800) return String.fromCharCode(0xc0 | (code >> 6), 0x80 | (code & 0x3f));
  const low = [0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)];
  if (code < 0x10000) return String.fromCharCode(0xe0 | (code >> 12), ...low);
  return String.fromCharCode(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 0x3f), ...low);
}

/** Bytes of the longest reference that is read; a sound one is far shorter. */
const referenceBytesMax = 64;

/** Where the reference whose `&` is at `at` has its `;`, or -1; the bound keeps many stray `&` linear. */
export function endOfReference(raw: string, at: number): number {
  const end = Math.min(raw.length, at + 1 + referenceBytesMax);
  for (let index = at + 1; index < end; index += 1) if (raw.charCodeAt(index) === 0x3b) return index;
  return -1;
}

/** The code that a numeric reference between `from` and `end` (behind its `#`) names, or -1. */
function codeOf(raw: string, from: number, end: number): number {
  const isHex = raw.charCodeAt(from) === 0x78;
  let code = isHex && end === from + 1 ? -1 : 0;
  for (let at = isHex ? from + 1 : from; at < end; at += 1) {
    const byte = raw.charCodeAt(at);
    const lower = byte | 0x20;
    const isLetter = isHex && lower >= 0x61 && lower <= 0x66;
    if (!isLetter && (byte < 0x30 || byte > 0x39)) return -1;
    code = code * (isHex ? 16 : 10) + (isLetter ? lower - 0x57 : byte - 0x30);
    if (code > 0x10ffff) return -1;
  }
  return end === from ? -1 : code;
}

/** What a reference between `from` and `end` stands for, or null. */
export function referenced(raw: string, from: number, end: number): string | null {
  if (raw.charCodeAt(from) !== 0x23) return predefined.get(raw.slice(from, end)) ?? null;
  const code = codeOf(raw, from + 1, end);
  return code < 0 ? null : characterText(code);
}

const predefined = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['quot', '"'],
  ['apos', "'"],
]);
