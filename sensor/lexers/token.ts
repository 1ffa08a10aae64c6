// What the lexers give: pieces of a text that a program reads as one thing, and what a value does to them.

export interface Token {
  /**
   * quoted: content between delimiters, in which a value is only data · comment · word · number · sign: anything else
   * that the program reads.
   */
  readonly kind: 'quoted' | 'comment' | 'word' | 'number' | 'sign';
  readonly start: number;
  readonly end: number;
}

/** Tokens of one text at most: more are not read, and nothing is said of what stands behind them. */
export const tokensMax = 20_000;
const occurrencesMax = 8;

/**
 * The tokens that `value` makes up at one of its places in `text`: none where it lies within one that quotes, and none
 * where it is one token as a whole, as a number or a name in its place is. Offsets are UTF-16 units. Gives the first
 * place where it makes up more, or null.
 */
export function* brokenBy(
  text: string,
  tokens: readonly Token[],
  value: string,
): Generator<{ readonly start: number; readonly touched: readonly Token[] }> {
  const read = tokens.at(-1)?.end ?? 0;
  let at = text.indexOf(value);
  for (let turn = 0; at >= 0 && turn < occurrencesMax; turn++, at = text.indexOf(value, at + 1)) {
    const [start, end] = [at, at + value.length];
    if (end > read && tokens.length >= tokensMax) return;
    const touched = tokensWithin(tokens, start, end);
    const [only] = touched;
    if (touched.length === 0 || only === undefined) continue;
    if (touched.length > 1 || crosses(only, start, end)) yield { start, touched };
  }
}

/** Whether a delimiter of a quoted text or comment lies within the span. */
export const crosses = (token: Token, start: number, end: number): boolean =>
  (token.kind === 'quoted' || token.kind === 'comment') && (start <= token.start || end >= token.end);

function tokensWithin(tokens: readonly Token[], start: number, end: number): Token[] {
  let [low, high] = [0, tokens.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((tokens[middle]?.end ?? 0) <= start) low = middle + 1;
    else high = middle;
  }
  const found: Token[] = [];
  for (let index = low; index < tokens.length; index++) {
    const token = tokens[index];
    if (token === undefined || token.start >= end) break;
    found.push(token);
  }
  return found;
}
