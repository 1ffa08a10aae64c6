// Rows of one table of an SQLite file (https://www.sqlite.org/fileformat2.html), read without a database engine: tables
// as B-trees with overflow pages. No index, no journal: an image has the file as it was written out.

const headerText = 'SQLite format 3\u0000';
const depthMax = 40;

export type Value = number | string | Buffer | null;

class Reader {
  readonly #bytes: Buffer;
  readonly #pageSize: number;
  readonly #usable: number;
  readonly #seen = new Set<number>();
  /** Bytes: all rows together are no longer than the file, whatever their heads claim. */
  #left: number;

  constructor(bytes: Buffer) {
    if (bytes.toString('latin1', 0, 16) !== headerText) throw new Error('is no SQLite database');
    const size = bytes.readUInt16BE(16);
    this.#bytes = bytes;
    this.#left = bytes.length;
    this.#pageSize = size === 1 ? 65_536 : size;
    this.#usable = this.#pageSize - (bytes[20] ?? 0);
    if (this.#pageSize < 512 || (this.#pageSize & (this.#pageSize - 1)) !== 0 || this.#usable < 480)
      throw new Error('has no page size that SQLite knows');
  }

  #page(number: number): Buffer {
    const from = (number - 1) * this.#pageSize;
    if (number < 1 || from + this.#pageSize > this.#bytes.length) throw new Error('ends before one of its pages');
    return this.#bytes.subarray(from, from + this.#pageSize);
  }

  *rows(root: number, depth = 0): Generator<readonly Value[]> {
    if (depth > depthMax || this.#seen.has(root)) throw new Error('has pages that lead in a circle');
    this.#seen.add(root);
    const page = this.#page(root);
    const at = root === 1 ? 100 : 0;
    const kind = page[at];
    if (kind !== 0x05 && kind !== 0x0d) throw new Error('has a page of another kind in a table');
    const cells = page.readUInt16BE(at + 3);
    const pointers = at + (kind === 0x05 ? 12 : 8);
    for (let cell = 0; cell < cells; cell++) {
      const from = page.readUInt16BE(pointers + 2 * cell);
      if (kind === 0x05) yield* this.rows(page.readUInt32BE(from), depth + 1);
      else yield valuesOf(this.#payload(page, from));
    }
    if (kind === 0x05) yield* this.rows(page.readUInt32BE(at + 8), depth + 1);
  }

  #payload(page: Buffer, from: number): Buffer {
    const [length, afterLength] = varint(page, from);
    const [, start] = varint(page, afterLength);
    const whole = this.#usable - 35;
    const least = Math.floor(((this.#usable - 12) * 32) / 255) - 23;
    const fitting = least + ((length - least) % (this.#usable - 4));
    const local = length <= whole ? length : fitting <= whole ? fitting : least;
    this.#left -= length;
    if (this.#left < 0) throw new Error('has rows that are longer than the file');
    const parts = [page.subarray(start, start + local)];
    let left = length - local;
    let next = left > 0 ? page.readUInt32BE(start + local) : 0;
    while (left > 0) {
      const more = this.#page(next);
      parts.push(more.subarray(4, 4 + Math.min(left, this.#usable - 4)));
      left -= this.#usable - 4;
      next = more.readUInt32BE(0);
    }
    return Buffer.concat(parts);
  }
}

/** Up to nine bytes, seven bits each. */
function varint(bytes: Buffer, from: number): readonly [value: number, next: number] {
  let value = 0;
  for (let at = from; at < from + 9; at++) {
    const byte = bytes.readUInt8(at);
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return [value, at + 1];
  }
  throw new Error('has a number of more than eight bytes');
}

const integerBytes = [0, 1, 2, 3, 4, 6, 8, 8];

function valuesOf(record: Buffer): Value[] {
  const [headerLength, first] = varint(record, 0);
  const values: Value[] = [];
  let at = headerLength;
  for (let next = first; next < headerLength; ) {
    const [type, after] = varint(record, next);
    next = after;
    const length = type >= 12 ? Math.floor((type - 12) / 2) : (integerBytes[type] ?? 0);
    const bytes = record.subarray(at, at + length);
    if (bytes.length < length) throw new Error('has a row that ends in the middle');
    at += length;
    values.push(valueOf(type, bytes));
  }
  return values;
}

function valueOf(type: number, bytes: Buffer): Value {
  if (type >= 12) return type % 2 === 0 ? bytes : bytes.toString('utf8');
  if (type === 0) return null;
  if (type === 8 || type === 9) return type - 8;
  if (type === 7) return bytes.readDoubleBE(0);
  return bytes.length <= 6 ? bytes.readIntBE(0, bytes.length) : Number(bytes.readBigInt64BE(0));
}

/** Throws an Error with the reason for what is no such database, or has no such table. */
export function* rowsOf(bytes: Buffer, table: string): Generator<readonly Value[]> {
  const named = [...new Reader(bytes).rows(1)].find(([type, name]) => type === 'table' && name === table);
  const root = named?.[3];
  if (typeof root !== 'number') throw new Error(`has no table ${table}`);
  yield* new Reader(bytes).rows(root);
}
