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

/** Look-alikes that decompositions do not give: punctuation, Latin letters with strokes, Greek and Cyrillic twins. */
const lookAlikes: readonly (readonly [string, string])[] = [
  ['¡', '!'], ['¢', 'c'], ['¤', '$'], ['¥', 'Y'], ['¦', '|'], ['©', 'C'], ['«', '<'], ['\u00ad', '-'], ['®', 'R'], ['·', '.'], ['»', '>'],
  ['Æ', 'A'], ['Ð', 'D'], ['Ø', 'O'], ['Þ', 'T'], ['ß', 's'], ['æ', 'a'], ['ð', 'd'], ['ø', 'o'], ['þ', 't'],
  ['Đ', 'D'], ['đ', 'd'], ['Ħ', 'H'], ['ħ', 'h'], ['ı', 'i'], ['Ł', 'L'], ['ł', 'l'], ['Œ', 'O'], ['œ', 'o'], ['Ŧ', 'T'], ['ŧ', 't'],
  ['ƀ', 'b'], ['Ɖ', 'D'], ['Ƒ', 'F'], ['ƒ', 'f'], ['Ɨ', 'I'], ['ƚ', 'l'], ['Ɵ', 'O'], ['ƫ', 't'], ['Ʈ', 'T'], ['ƶ', 'z'], ['ǀ', '|'], ['ǃ', '!'], ['ɡ', 'g'],
  ['ʹ', "'"], ['ʺ', '"'], ['ʼ', "'"], ['˄', '^'], ['ˆ', '^'], ['ˈ', "'"], ['ˋ', '`'], ['ˍ', '_'], ['˜', '~'], ['\u0300', '`'], ['\u0302', '^'], ['\u0303', '~'],
  ['\u030e', '"'], ['\u0331', '_'], ['\u0332', '_'], ['Γ', 'G'], ['Θ', 'T'], ['Σ', 'S'], ['Φ', 'F'], ['Ω', 'O'], ['α', 'a'], ['δ', 'd'], ['ε', 'e'], ['π', 'p'],
  ['σ', 's'], ['τ', 't'], ['φ', 'f'], ['һ', 'h'], ['\u0589', ':'], ['٪', '%'], ['\u2010', '-'], ['\u2011', '-'], ['–', '-'], ['—', '-'], ['‗', '_'], ['‘', "'"],
  ['’', "'"], ['‚', ','], ['‛', "'"], ['“', '"'], ['”', '"'], ['„', '"'], ['‟', '"'], ['•', '.'], ['…', '.'], ['‰', '%'], ['′', "'"], ['‵', '`'], ['‹', '<'], ['›', '>'],
  ['⁄', '/'], ['−', '-'], ['∕', '/'], ['∖', '\\'], ['∗', '*'], ['∙', '.'], ['√', 'v'], ['∞', '8'], ['∣', '|'], ['∩', 'n'], ['∶', ':'], ['∼', '~'], ['⌂', '\u007f'],
  ['⌃', '^'], ['〈', '<'], ['〉', '>'], ['─', '-'], ['│', '|'], ['┼', '+'], ['□', '.'], ['▪', '.'], ['❘', '|'], ['〈', '<'], ['〉', '>'], ['《', '<'], ['》', '>'],
  ['〚', '['], ['〛', ']'], ['\u3000', ' '],
]; // prettier-ignore

let builtIn: number[] | null = null;

/**
 * Code page 20127 (US-ASCII) by best fit, from Unicode's own decompositions (width variants, accents, letter-like
 * symbols) and the look-alikes above. Wider than strictly needed on purpose: it is used to see through disguises.
 */
export function builtInUnicodeMap(): number[] {
  if (builtIn !== null) return builtIn;
  const pairs = new Map<number, number>();
  for (let point = 0xa0; point <= 0xffff; point += 1) {
    if (point >= 0xd800 && point <= 0xdfff) continue;
    const first = String.fromCharCode(point).normalize('NFKD');
    const code = first.charCodeAt(0);
    const isLetterWithMarks = /^.\p{M}*$/u.test(first);
    if (code < 0x7f && code >= 0x20 && isLetterWithMarks) pairs.set(point, code);
  }
  for (const [from, to] of lookAlikes) pairs.set(from.charCodeAt(0), to.charCodeAt(0));
  builtIn = flatten(pairs);
  return builtIn;
}
