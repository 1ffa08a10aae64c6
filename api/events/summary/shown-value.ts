// A matched value as people read it: percent-encoding undone, bytes read as UTF-8 where they are, cut to a window
// around what matched. Control and direction characters stay in `value` (the page names them) and are written
// as escapes in plain text.

export interface ShownValue {
  readonly value: string;
  /** What matched, as places in `value`: first included, last not. Empty: unknown. */
  readonly hits: readonly (readonly [number, number])[];
}

const charsMax = 160;
const decodeRoundsMax = 3;

/** Records hold bytes, one code unit each; text that is not UTF-8 stays as it is. */
function asUtf8(text: string): string {
  if (!/[\u0080-\u00ff]/.test(text) || /[^\u0000-\u00ff]/.test(text)) return text;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(text, 'latin1'));
  } catch {
    return text;
  }
}

/** `%2527` → `'`: attackers encode more than once. */
export function decoded(text: string): string {
  let plain = text;
  for (let round = 0; round < decodeRoundsMax && /%[0-9A-Fa-f]{2}/.test(plain); round += 1)
    plain = plain.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return asUtf8(plain);
}

function find(value: string, hit: string | null): readonly [number, number] | null {
  if (hit === null || hit === '') return null;
  for (const wanted of [hit, decoded(hit)]) {
    const exact = value.indexOf(wanted);
    const at = exact >= 0 ? exact : value.toLowerCase().indexOf(wanted.toLowerCase());
    if (wanted !== '' && at >= 0 && at + wanted.length <= value.length) return [at, at + wanted.length];
  }
  return null;
}

/** Half of a pair is no character. */
function cutAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return at > 0 && at < text.length && code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}

export function showValue(stored: string, hit: string | null): ShownValue {
  const whole = decoded(stored);
  const found = find(whole, hit);
  if (whole.length <= charsMax) return { value: whole, hits: found === null ? [] : [found] };
  const from = cutAt(whole, found === null ? 0 : Math.max(0, Math.min(found[0] - 40, whole.length - charsMax)));
  const to = cutAt(whole, Math.min(whole.length, from + charsMax));
  const before = from > 0 ? '…' : '';
  const value = `${before}${whole.slice(from, to)}${to < whole.length ? '…' : ''}`;
  if (found === null) return { value, hits: [] };
  const move = before.length - from;
  return { value, hits: [[found[0] + move, Math.min(found[1], to) + move]] };
}

// controls, blanks that do not show, marks of direction, selectors, specials, and halves of pairs
const odd = new RegExp(
  [
    '[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u115f\\u1160\\u180e\\u200b-\\u200f\\u2028-\\u202e]',
    '[\\u2060-\\u206f\\ufeff\\ufff9-\\uffff]|[\\ufe00-\\ufe0f]',
    '[\\ud800-\\udbff](?![\\udc00-\\udfff])',
    '(?<![\\ud800-\\udbff])[\\udc00-\\udfff]',
  ].join('|'),
  'g',
);

/** For plain text: nothing in it can break a line, turn its direction or be invisible. */
export const escaped = (text: string): string =>
  text.replace(odd, (one) => {
    if (one === '\n') return '\\n';
    if (one === '\r') return '\\r';
    if (one === '\t') return '\\t';
    const code = one.charCodeAt(0);
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
