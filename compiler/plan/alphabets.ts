// Values made of few kinds of bytes: they are scanned for fewer and shorter patterns.

/**
 * Most new values are ids, tokens and numbers, most others words; the last alphabet adds what prose and paths have.
 * Smallest first.
 */
export const alphabets = [
  '0123456789ABCDEFabcdef.-',
  '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.-',
  '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_.- ,:/@+',
];
/** Parallel: 1 at every byte of the alphabet. */
export const alphabetTables = alphabets.map((alphabet) => {
  const table = new Uint8Array(256);
  for (const character of alphabet) table[character.charCodeAt(0)] = 1;
  return table;
});
