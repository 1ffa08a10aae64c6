// A secret that a tool names, as it stands in other texts of the record: percent-encoded in an address (once or several
// times, one character or all), as a form, escaped in JSON or a script, as entities of HTML.
import { hide } from './values.js';

const lengthMax = 200;
const knownMax = 500;
const known = new Map<string, RegExp>();

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
const anyCase = (hex: string): string => hex.replace(/[a-f]/gi, (one) => `[${one.toLowerCase()}${one.toUpperCase()}]`);
const entities: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' };

/** All ways to write one character. */
function waysOf(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  const bytes = [...Buffer.from(char)].map((byte) => `%(?:25){0,3}${anyCase(byte.toString(16).padStart(2, '0'))}`);
  const entity = entities[char];
  return [
    escaped(char),
    bytes.join(''),
    `&#(?:0{0,5}${code}|[xX]0{0,5}${anyCase(hex)});`,
    ...(entity === undefined ? [] : [`&${entity};`]),
    ...(code < 0x10000 ? [`\\\\{1,4}u${anyCase(hex.padStart(4, '0'))}`] : []),
    ...(code < 0x100 ? [`\\\\{1,4}x${anyCase(hex.padStart(2, '0'))}`] : []),
    ...(char === ' ' ? ['\\+'] : []),
  ].join('|');
}

function formOf(secret: string): RegExp {
  const found = known.get(secret);
  if (found !== undefined) return found;
  const made = new RegExp([...secret].map((char) => `(?:${waysOf(char)})`).join(''), 'gu');
  if (known.size >= knownMax) known.clear();
  known.set(secret, made);
  return made;
}

/** The text without the secrets, however their characters are written; `named` as from `namedSecrets`. */
export function maskRewritten(text: string, named: readonly string[]): string {
  if (!/%[\da-f]{2}|\+|&(?:#|\w{2,4};)|\\[ux]/i.test(text)) return text;
  let masked = text;
  for (const secret of named)
    if (secret.length <= lengthMax) masked = masked.replace(formOf(secret), () => hide(secret));
  return masked;
}
