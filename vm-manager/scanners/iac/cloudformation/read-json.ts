// JSON with the line of every name and value: the reader of the language has no lines.
import { depthMax, nodesMax, Unreadable, type Field, type Node } from './node.js';

const blank = /[ \t\r\n]/;
const numberForm = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

class Reader {
  readonly #text: string;
  #at = 0;
  #line = 1;
  #nodes = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): Node {
    const node = this.#value(0);
    this.#skip();
    if (this.#at < this.#text.length) throw this.#error('has something after its end');
    return node;
  }

  #error(what: string): Unreadable {
    return new Unreadable(`${what} in line ${this.#line}`, this.#line);
  }

  #skip(): void {
    for (; this.#at < this.#text.length && blank.test(this.#text[this.#at] ?? ''); this.#at++)
      if (this.#text[this.#at] === '\n') this.#line++;
  }

  #take(sign: string): boolean {
    this.#skip();
    if (this.#text[this.#at] !== sign) return false;
    this.#at++;
    return true;
  }

  #value(depth: number): Node {
    if (depth > depthMax || ++this.#nodes > nodesMax) throw this.#error('is too deep or too large');
    this.#skip();
    const line = this.#line;
    const sign = this.#text[this.#at];
    if (sign === '{') return { kind: 'map', line, fields: this.#fields(depth) };
    if (sign === '[') return { kind: 'list', line, items: this.#items(depth) };
    if (sign === '"') return { kind: 'scalar', line, value: this.#string() };
    for (const [word, value] of [
      ['true', true],
      ['false', false],
      ['null', null],
    ] as const)
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length;
        return { kind: 'scalar', line, value };
      }
    numberForm.lastIndex = this.#at;
    const [number] = numberForm.exec(this.#text) ?? [];
    if (number === undefined) throw this.#error('is no JSON');
    this.#at += number.length;
    return { kind: 'scalar', line, value: Number(number) };
  }

  #string(): string {
    const from = this.#at;
    for (this.#at++; this.#text[this.#at] !== '"'; this.#at++) {
      if (this.#at >= this.#text.length || this.#text[this.#at] === '\n') throw this.#error('has a text without end');
      if (this.#text[this.#at] === '\\') this.#at++;
    }
    this.#at++;
    try {
      return JSON.parse(this.#text.slice(from, this.#at).replaceAll('\t', '\\t')) as string;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw this.#error('has a text that is no JSON');
    }
  }

  #fields(depth: number): ReadonlyMap<string, Field> {
    const fields = new Map<string, Field>();
    this.#at++;
    if (this.#take('}')) return fields;
    do {
      this.#skip();
      if (this.#text[this.#at] !== '"') throw this.#error('has no name where one is due');
      const line = this.#line;
      const name = this.#string();
      if (!this.#take(':')) throw this.#error('has a name without a value');
      fields.set(name, { line, node: this.#value(depth + 1) });
    } while (this.#take(','));
    if (!this.#take('}')) throw this.#error('has an object without end');
    return fields;
  }

  #items(depth: number): readonly Node[] {
    const items: Node[] = [];
    this.#at++;
    if (this.#take(']')) return items;
    do items.push(this.#value(depth + 1));
    while (this.#take(','));
    if (!this.#take(']')) throw this.#error('has a list without end');
    return items;
  }
}

/** Throws `Unreadable`. */
export const readJson = (text: string): Node => new Reader(text).whole();
