// A secret that a tool names, as it stands in other texts of the record: percent-encoded in an address (once or several
// times, one character or all), as a form, escaped in JSON or a script, as entities of HTML.
import { hide } from '../values.js';

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

const bytesOf = (text: string): string => Buffer.from(text).toString('latin1');
const byEntity = new Map(Object.entries(entities).map(([char, name]) => [name, char]));
const escapes = new RegExp(
  [
    /%(?:25){0,3}([\da-f]{2})|&#0{0,5}(\d{1,7});|&#x0{0,5}([\da-f]{1,6});|&(\w{2,4});/,
    /\\{1,4}(?:u([\da-f]{4})|x([\da-f]{2}))|\+/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gi',
);

/** Everything undone that `waysOf` does, as bytes: a look whether a secret may be in it at all. */
function undone(text: string): string {
  const charOf = (code: number): string => (code <= 0x10ffff ? bytesOf(String.fromCodePoint(code)) : '');
  const plain = bytesOf(text).replace(escapes, (all, byte, decimal, hex, name, four, two) => {
    if (byte !== undefined) return String.fromCharCode(Number.parseInt(byte as string, 16));
    if (decimal !== undefined) return charOf(Number(decimal));
    if (name !== undefined) return byEntity.get((name as string).toLowerCase()) ?? all;
    const code = (hex ?? four ?? two) as string | undefined;
    return code === undefined ? ' ' : charOf(Number.parseInt(code, 16));
  });
  return plain.replaceAll('+', ' ');
}

/** Undoing it would change the secret itself. */
const isWritten = (secret: string): boolean => /[%&\\]/.test(secret);

/** A record names few of them; those whose look-up cannot be saved are fewer. */
const [secretsMax, writtenMax] = [100, 8];
const given = new WeakMap<readonly string[], readonly string[]>();

/** Without those that are another one as an address or JSON writes it: the pattern of that one finds them. */
function ownOf(named: readonly string[]): readonly string[] {
  const before = given.get(named);
  if (before !== undefined) return before;
  const short = named.filter(({ length }) => length <= lengthMax).slice(0, secretsMax);
  const others = new Set(
    short.flatMap((one) =>
      [encodeURIComponent(Buffer.from(one).toString()), JSON.stringify(one).slice(1, -1)].filter(
        (text) => text !== one,
      ),
    ),
  );
  const own = short.filter((one) => !others.has(one));
  const written = new Set(own.filter(isWritten).slice(writtenMax));
  const made = own.filter((one) => !written.has(one));
  given.set(named, made);
  return made;
}

/** The text without the secrets, however their characters are written; `named` as from `namedSecrets`. */
export function maskRewritten(text: string, named: readonly string[]): string {
  if (!/%[\da-f]{2}|\+|&(?:#|\w{2,4};)|\\[ux]/i.test(text)) return text;
  let masked = text;
  let plain: string | null = null;
  for (const secret of ownOf(named)) {
    plain ??= undone(text);
    if (isWritten(secret) || plain.includes(bytesOf(secret.replaceAll('+', ' '))))
      masked = masked.replace(formOf(secret), () => hide(secret));
  }
  return masked;
}
