// Letters that look like others: `p\u0430ssword` with a Cyrillic letter is read as `password`, and lists of guesses
// have both. By the confusable letters of Unicode TS 39 that are letters of a keyboard somewhere.

/** Looks like → the letters, in the same order; capitals apart, as a capital may look like another Latin letter. */
const pairs: readonly (readonly [letters: string, latin: string])[] = [
  // Cyrillic
  ['АВСЕНІЈКМОРЅТУХԚԜҮ', 'abcehijkmopstyxqwy'],
  ['авсенгіјкморѕтухьԁԛԝүһӏ', 'abcehrijkmopstyxbdqwyhl'],
  // Greek
  ['ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ', 'abezhikmnoptyx'],
  ['αβγεηικμνορτυχωσϲϳ', 'abyenikuvoptuxwocj'],
  // Armenian, and Latin letters that no decomposition takes apart
  ['օսոհցԼ', 'ounhgl'],
  ['ıȷɑɡłŁøØđĐħĦŧŦƅɩʟ', 'ijagllooddhhttbil'],
];
const several: Readonly<Record<string, string>> = { ß: 'ss', ẞ: 'ss', æ: 'ae', Æ: 'ae', œ: 'oe', Œ: 'oe', þ: 'th' };
const table = new Map(Object.entries(several));
for (const [letters, latin] of pairs) [...letters].forEach((letter, at) => table.set(letter, latin[at] ?? letter));

/** In small Latin letters as far as it looks like them: without accents, and without what is not seen. */
export const folded = (text: string): string =>
  [...text.normalize('NFKD').replace(/[\p{M}\p{Cf}]/gu, '')]
    .map((letter) => table.get(letter) ?? letter)
    .join('')
    .toLowerCase();
