// SecUnicodeMapFile: which byte stands for a code point in `%uXXXX` and overlong escapes.

/**
 * Reads one code page of a mapping file: a line with the page number, then lines of `codepoint:byte` pairs in hex.
 * Returns flattened pairs sorted by code point, or null when the page is not in the file.
 */
export function parseUnicodeMap(text: string, codePage: string): number[] | null {
  const pairs = new Map<number, number>();
  let inside = false;
  let found = false;
  for (const line of text.split(/\r?\n/)) {
    const words = line.trim().split(/\s+/);
    const page = /^(\d{3,5})$/.exec(words[0] ?? '');
    if (page !== null) {
      inside = page[1] === codePage;
      found ||= inside;
    }
    if (!inside || line.startsWith('#')) continue;
    for (const word of words) {
      const match = /^([0-9a-fA-F]{1,6}):([0-9a-fA-F]{1,2})$/.exec(word);
      if (match !== null) pairs.set(Number.parseInt(match[1] as string, 16), Number.parseInt(match[2] as string, 16));
    }
  }
  return found ? flatten(pairs) : null;
}

function flatten(pairs: ReadonlyMap<number, number>): number[] {
  return [...pairs].sort(([left], [right]) => left - right).flat();
}

/**
 * Where code page 20127 follows Unicode's decompositions (first letter without its marks, width variants): [from, to].
 */
const decomposed: readonly (readonly [number, number])[] = [
  [0xa0, 0xa0],
  [0xaa, 0x17e],
  [0x1a0, 0x1a1],
  [0x1af, 0x1b0],
  [0x1cd, 0x1f0],
  [0x2000, 0x2006],
  [0xff01, 0xff5e],
];

/** Inside those ranges, but without a best fit. */
const unfitted: ReadonlySet<number> = new Set([0x17a, 0x1e0, 0x1e1, 0xff1f]);

/** The rest of its best fits: code point in hex and the character it stands for. */
const bestFits = [
  `a1! a2c a4$ a5Y a6| a9C ab< ad- aeR b7. b8, bb> c6A d0D d8O e6a f8o 110D 111d 126H 127h 131i 141L 142l 152O`,
  `153o 166T 167t 180b 189D 191F 192f 197I 19al 19fO 1abt 1aeT 1b6z 1e4G 1e5g 261g 2b9' 2ba" 2bc' 2c4^ 2c6^`,
  `2c8' 2cb\` 2cd_ 2dc~ 300\` 302^ 303~ 30e" 331_ 332_ 2010- 2011- 2013- 2014- 2018' 2019' 201a, 201c" 201d"`,
  `201e" 2022. 2026. 2032' 2035\` 2039< 203a> 2122T`,
].join(' ');

/** Made when it is first asked for: most configurations bring the file. */
let builtIn: number[] | null = null;

/** Code page 20127 (US-ASCII) as pairs, for configurations that name `unicode.mapping` where there is no such file. */
export function builtInUnicodeMap(): number[] {
  if (builtIn !== null) return builtIn;
  const pairs = new Map<number, number>();
  for (const [from, to] of decomposed) {
    for (let point = from; point <= to; point += 1) {
      const letters = String.fromCharCode(point).normalize('NFKD');
      const code = letters.charCodeAt(0);
      // Spacing marks (¨, ´) decompose to a blank and have no best fit.
      const isFit =
        code === 0x20 ? point === 0xa0 || point >= 0x2000 : code > 0x20 && code < 0x7f && /^.\p{M}*$/u.test(letters);
      if (isFit && !unfitted.has(point)) pairs.set(point, code);
    }
  }
  for (const word of bestFits.split(' '))
    pairs.set(Number.parseInt(word.slice(0, -1), 16), word.charCodeAt(word.length - 1));
  builtIn = flatten(pairs);
  return builtIn;
}
