// The patterns of schemas that are plain enough for a table of states: literals, classes, groups, alternatives and
// counted repetition (ECMA-262 section 22.2.1, the part that RE2 shares with it). Whatever else a pattern has, `null`:
// it stays with RE2. What a class or an escape means is not written down here a second time: RE2 is asked.

/** `set`: a character of one of `sets`. `repeat`: `max` is Infinity for no bound. */
export type PatternNode =
  | { readonly kind: 'set'; readonly set: number }
  | { readonly kind: 'row'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'choice'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'repeat'; readonly part: PatternNode; readonly min: number; readonly max: number };

export interface PlainPattern {
  readonly node: PatternNode;
  readonly fromStart: boolean;
  readonly toEnd: boolean;
  /** Sources of single characters, classes and escapes, by the index that nodes name. */
  readonly sets: readonly string[];
}

/** What may stand for itself. Letters and digits after a backslash mean something else. */
const isPlainLiteral = (char: string): boolean => char >= ' ' && char <= '~' && !'\\^$.|?*+()[]{}'.includes(char);
const isEscape = (char: string): boolean =>
  (char > ' ' && char <= '/') ||
  (char >= ':' && char <= '@') ||
  (char >= '[' && char <= '`') ||
  /^[{-~dwsDWS]$/.test(char);

class Reader {
  private at = 0;
  private depth = 0;
  readonly sets: string[] = [];

  constructor(private readonly text: string) {}

  get isAtEnd(): boolean {
    return this.at === this.text.length;
  }

  choice(): PatternNode | null {
    const parts: PatternNode[] = [];
    do {
      const row = this.row();
      if (row === null) return null;
      parts.push(row);
    } while (this.takes('|'));
    return parts.length === 1 ? (parts[0] ?? null) : { kind: 'choice', parts };
  }

  private row(): PatternNode | null {
    const parts: PatternNode[] = [];
    while (!this.isAtEnd && this.text[this.at] !== '|' && this.text[this.at] !== ')') {
      const atom = this.atom();
      const part = atom === null ? null : this.repeated(atom);
      if (part === null) return null;
      parts.push(part);
    }
    return { kind: 'row', parts };
  }

  private takes(wanted: string): boolean {
    if (!this.text.startsWith(wanted, this.at)) return false;
    this.at += wanted.length;
    return true;
  }

  private atom(): PatternNode | null {
    const char = this.text[this.at] ?? '';
    if (char === '(') return this.group();
    if (char === '[') return this.set(this.classEnd());
    if (char === '\\') return this.set(isEscape(this.text[this.at + 1] ?? '') ? this.at + 2 : -1);
    return this.set(char === '.' || isPlainLiteral(char) ? this.at + 1 : -1);
  }

  private group(): PatternNode | null {
    if (!this.takes('(?:')) this.at += 1;
    this.depth += 1;
    if (this.depth > 20 || this.text[this.at] === '?') return null;
    const inner = this.choice();
    this.depth -= 1;
    return inner !== null && this.takes(')') ? inner : null;
  }

  /** Behind the `]`; -1 where two readers could see two ends. */
  private classEnd(): number {
    let at = this.at + (this.text[this.at + 1] === '^' ? 2 : 1);
    if (this.text[at] === ']') return -1;
    for (; at < this.text.length; at += 1) {
      if (this.text[at] === '[') return -1;
      if (this.text[at] === '\\') at += 1;
      else if (this.text[at] === ']') return at + 1;
    }
    return -1;
  }

  private set(end: number): PatternNode | null {
    if (end === -1) return null;
    const source = this.text.slice(this.at, end);
    this.at = end;
    const known = this.sets.indexOf(source);
    return { kind: 'set', set: known === -1 ? this.sets.push(source) - 1 : known };
  }

  /** A lazy quantifier finds another match, but it finds one where the greedy one does. */
  private repeated(part: PatternNode): PatternNode | null {
    const found = /^(?:([*+?])|\{(\d{1,4})(?:(,)(\d{1,4})?)?\})\??/.exec(this.text.slice(this.at, this.at + 16));
    if (found === null) return part;
    this.at += found[0].length;
    const [, sign, least, comma, most] = found;
    if (/^[*+?{]/.test(this.text.slice(this.at, this.at + 1))) return null;
    if (sign !== undefined)
      return { kind: 'repeat', part, min: sign === '+' ? 1 : 0, max: sign === '?' ? 1 : Infinity };
    const min = Number(least);
    const max = comma === undefined ? min : most === undefined ? Infinity : Number(most);
    return max < min ? null : { kind: 'repeat', part, min, max };
  }
}

/** null: the pattern has more than this reads. A `^` at its beginning and a `$` at its end count for all of it. */
export function readPattern(pattern: string): PlainPattern | null {
  const fromStart = pattern.startsWith('^');
  const isEscaped = /(?:^|[^\\])(?:\\\\)*\\\$$/.test(pattern);
  const toEnd = pattern.endsWith('$') && !isEscaped;
  const reader = new Reader(pattern.slice(fromStart ? 1 : 0, toEnd ? -1 : undefined));
  const node = reader.choice();
  if (node === null || !reader.isAtEnd) return null;
  // in `^a|b$` each anchor is of one alternative only
  if (node.kind === 'choice' && (fromStart || toEnd)) return null;
  return { node, fromStart, toEnd, sets: reader.sets };
}
