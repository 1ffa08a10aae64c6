// Text that an attacker wrote, cut into pieces that a person can trust: control characters, bidirectional overrides,
// invisible and look-alike blanks are named instead of obeyed (Unicode Technical Report 36, "Trojan Source").
export interface TextPiece {
  readonly text: string;
  /** A character that would not show, or would change how its neighbours show; `text` names it. */
  readonly isOdd: boolean;
}

// C0 and C1 controls, soft hyphen, Arabic letter mark, zero-width and bidi characters, line separators, invisible
// operators, variation selectors, byte order mark, tags, and lone surrogates. What makes one emoji of several shows: a
// joiner between two of them, and the selector of a picture behind one.
const odd = new RegExp(
  [
    '[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u2028-\\u202e]',
    '[\\u200b\\u200c\\u200e\\u200f]',
    '[\\u2060-\\u206f\\u3164\\ufe00-\\ufe0e\\ufeff\\uffa0\\ufff9-\\ufffb]',
    '[\\u{e0000}-\\u{e0fff}]',
    '(?<!\\p{Extended_Pictographic})\\ufe0f',
    '(?<!\\p{Extended_Pictographic}\\ufe0f?|\\p{Emoji_Modifier})\\u200d',
    '\\u200d(?!\\p{Extended_Pictographic})',
    '[\\ud800-\\udbff](?![\\udc00-\\udfff])',
    '(?<![\\ud800-\\udbff])[\\udc00-\\udfff]',
  ].join('|'),
  'gu',
);

const names: Readonly<Record<number, string>> = { 0: 'NUL', 9: 'TAB', 10: 'LF', 13: 'CR', 27: 'ESC', 127: 'DEL' };

function nameOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return names[code] ?? `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Pieces that make up `text`, in order; every odd character stands alone. */
export function visiblePieces(text: string): TextPiece[] {
  const pieces: TextPiece[] = [];
  let from = 0;
  for (const match of text.matchAll(odd)) {
    if (match.index > from) pieces.push({ text: text.slice(from, match.index), isOdd: false });
    pieces.push({ text: nameOf(match[0]), isOdd: true });
    from = match.index + match[0].length;
  }
  if (from < text.length) pieces.push({ text: text.slice(from), isOdd: false });
  return pieces;
}

/** The same as one string, for places that take no elements, such as a title. */
export const visibleText = (text: string): string =>
  visiblePieces(text)
    .map((piece) => piece.text)
    .join('');
