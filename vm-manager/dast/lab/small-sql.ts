// The database of the lab: conditions over one small table, read from text as a database reads them, so that a value
// that is joined into a statement changes what it means, or breaks it.

export type LabRow = Readonly<Record<string, string | number>>;

const rows: readonly LabRow[] = [
  { id: 1, name: 'ball', category: 'toys', owner: 'jane' },
  { id: 2, name: 'doll', category: 'toys', owner: 'jane' },
  { id: 3, name: 'wall', category: 'house', owner: 'joe' },
];

type Token = { readonly kind: 'text' | 'number' | 'word' | 'sign'; readonly value: string };
const form = /\s+|'((?:[^']|'')*)'|(\d+)|(\w+)|(--.*)|([=(),%;"])/y;

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  form.lastIndex = 0;
  while (form.lastIndex < text.length) {
    const at = form.lastIndex;
    const found = form.exec(text);
    if (found === null)
      throw new Error(
        text[at] === "'"
          ? `unterminated quoted string at or near "${text.slice(at, at + 20)}"`
          : `syntax error at or near "${text[at]}"`,
      );
    const [, string, number, word, , sign] = found;
    if (string !== undefined) tokens.push({ kind: 'text', value: string.replaceAll("''", "'") });
    else if (number !== undefined) tokens.push({ kind: 'number', value: number });
    else if (word !== undefined) tokens.push({ kind: 'word', value: word.toLowerCase() });
    else if (sign !== undefined) tokens.push({ kind: 'sign', value: sign });
  }
  return tokens;
}

const isLike = (value: string, pattern: string): boolean => {
  const parts = pattern.split('%');
  let at = 0;
  for (const [index, part] of parts.entries()) {
    const next = index === 0 ? (value.startsWith(part) ? 0 : -1) : value.indexOf(part, at);
    if (next < 0) return false;
    at = next + part.length;
  }
  return pattern.endsWith('%') || value.endsWith(parts.at(-1) ?? '');
};

class Reader {
  readonly #tokens: readonly Token[];
  #at = 0;
  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }
  #next(): Token {
    const token = this.#tokens[this.#at++];
    if (token === undefined) throw new Error('syntax error at or near "end of input"');
    return token;
  }
  #is(value: string): boolean {
    const isThere = this.#tokens[this.#at]?.kind !== 'text' && this.#tokens[this.#at]?.value === value;
    if (isThere) this.#at++;
    return isThere;
  }
  #operand(): (row: LabRow) => string {
    const { kind, value } = this.#next();
    if (kind === 'sign') throw new Error(`syntax error at or near "${value}"`);
    if (kind !== 'word') return () => value;
    if (!(value in (rows[0] ?? {}))) throw new Error(`column "${value}" does not exist`);
    return (row) => String(row[value]);
  }
  #term(): (row: LabRow) => boolean {
    if (this.#is('(')) {
      const inner = this.condition();
      if (!this.#is(')')) throw new Error('syntax error at or near ")"');
      return inner;
    }
    const left = this.#operand();
    const isLikeWord = this.#is('like');
    if (!isLikeWord && !this.#is('=')) throw new Error('syntax error at or near "="');
    const right = this.#operand();
    return isLikeWord ? (row) => isLike(left(row), right(row)) : (row) => left(row) === right(row);
  }
  condition(): (row: LabRow) => boolean {
    const terms = [this.#term()];
    while (this.#is('and')) terms.push(this.#term());
    return (row) => terms.every((holds) => holds(row));
  }
  end(): void {
    const left = this.#tokens[this.#at];
    if (left !== undefined) throw new Error(`syntax error at or near "${left.value}"`);
  }
}

/** Rows that the condition holds for. Throws for what is no condition. */
export function where(condition: string): readonly LabRow[] {
  const reader = new Reader(tokensOf(condition));
  const holds = reader.condition();
  reader.end();
  return rows.filter(holds);
}

/** With the value bound: it can mean nothing but itself. */
export const whereBound = (column: string, value: string | number, contains = false): readonly LabRow[] =>
  rows.filter((row) => (contains ? String(row[column]).includes(String(value)) : row[column] === value));
