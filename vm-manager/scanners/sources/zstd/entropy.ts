// The two codes of Zstandard (RFC 8878, 4): finite state entropy and Huffman, as tables that are looked up. Streams of
// bits are read from their end, whose highest set bit marks where they begin.

export class ZstdError extends Error {}

export const highBit = (value: number): number => 31 - Math.clz32(value);

/** Bits of a stream from its end on; beyond its beginning there are zeros. Behind `bytes` must lie 4 more bytes. */
export class BackwardBits {
  readonly #bytes: Buffer;
  readonly #from: number;
  /** Bits that are left; below 0 where more were read than there are. */
  left: number;

  constructor(bytes: Buffer, from: number, to: number) {
    const last = to > from ? (bytes[to - 1] ?? 0) : 0;
    if (last === 0) throw new ZstdError('a stream of bits has no end');
    this.#bytes = bytes;
    this.#from = from;
    this.left = (to - from - 1) * 8 + highBit(last);
  }

  /** At most 25 bits, which stay. */
  peek(count: number): number {
    const at = this.left - count;
    if (at >= 0) {
      const bytes = this.#bytes;
      const from = this.#from + (at >> 3);
      // a call of `readUInt32LE` costs more than all else here
      const four =
        (bytes[from] ?? 0) |
        ((bytes[from + 1] ?? 0) << 8) |
        ((bytes[from + 2] ?? 0) << 16) |
        ((bytes[from + 3] ?? 0) << 24);
      return (four >>> (at & 7)) & ((1 << count) - 1);
    }
    if (this.left <= 0) return 0;
    const kept = this.#bytes.readUInt32LE(this.#from) & ((1 << this.left) - 1);
    return (kept << -at) & ((1 << count) - 1);
  }

  /** At most 31 bits. */
  read(count: number): number {
    if (count === 0) return 0;
    if (count > 16) {
      const high = this.read(count - 16);
      return high * 65_536 + this.read(16);
    }
    const value = this.peek(count);
    this.left -= count;
    return value;
  }
}

/** Of each state: its symbol, how many bits lead to the next one, and from where on. */
export interface FseTable {
  readonly log: number;
  readonly symbols: Uint8Array;
  readonly bits: Uint8Array;
  readonly bases: Uint16Array;
}

export function fseTable(counts: readonly number[], log: number): FseTable {
  const size = 1 << log;
  const symbols = new Uint8Array(size);
  const next = counts.map((count) => (count === -1 ? 1 : count));
  let high = size - 1;
  counts.forEach((count, symbol) => {
    if (count === -1) symbols[high--] = symbol;
  });
  const step = (size >> 1) + (size >> 3) + 3;
  let at = 0;
  counts.forEach((count, symbol) => {
    for (let n = 0; n < count; n++) {
      symbols[at] = symbol;
      do at = (at + step) & (size - 1);
      while (at > high);
    }
  });
  if (at !== 0) throw new ZstdError('a table of states does not fit its size');
  const bits = new Uint8Array(size);
  const bases = new Uint16Array(size);
  for (let state = 0; state < size; state++) {
    const symbol = symbols[state] ?? 0;
    const number = next[symbol] ?? 0;
    next[symbol] = number + 1;
    bits[state] = log - highBit(number);
    bases[state] = (number << (bits[state] ?? 0)) - size;
  }
  return { log, symbols, bits, bases };
}

/** A table of one symbol, which takes no bits. */
export const fseOfOne = (symbol: number): FseTable => ({
  log: 0,
  symbols: Uint8Array.of(symbol),
  bits: Uint8Array.of(0),
  bases: Uint16Array.of(0),
});

/** A table as a block describes it, and where what follows begins. */
export function readFseTable(bytes: Buffer, from: number, to: number, logMax: number, symbolMax: number) {
  let at = from * 8;
  const read = (count: number): number => {
    if (at + count > to * 8) throw new ZstdError('a table of states is cut off');
    const value = (bytes.readUInt32LE(at >> 3) >>> (at & 7)) & ((1 << count) - 1);
    at += count;
    return value;
  };
  // the last description may end within bits that are read ahead
  const log = read(4) + 5;
  if (log > logMax) throw new ZstdError('a table of states is larger than it may be');
  const counts: number[] = [];
  for (let remaining = 1 << log; remaining > 0; ) {
    if (counts.length > symbolMax) throw new ZstdError('a table of states has too many symbols');
    const width = highBit(remaining + 1) + 1;
    const low = (1 << (width - 1)) - 1;
    const threshold = (1 << width) - 1 - (remaining + 1);
    let value = read(width - 1);
    if (value >= threshold) {
      value += read(1) << (width - 1);
      if (value > low) value -= threshold;
    }
    const count = value - 1;
    remaining -= Math.abs(count);
    counts.push(count);
    if (count !== 0) continue;
    for (let more = 3; more === 3; ) {
      more = read(2);
      for (let n = 0; n < more; n++) counts.push(0);
      if (counts.length > symbolMax + 1) throw new ZstdError('a table of states has too many symbols');
    }
  }
  if (counts.length > symbolMax + 1) throw new ZstdError('a table of states has too many symbols');
  return { table: fseTable(counts, log), end: (at + 7) >> 3 };
}

export interface HuffmanTable {
  readonly log: number;
  readonly symbols: Uint8Array;
  readonly bits: Uint8Array;
}

const huffmanLogMax = 11;

function huffmanTable(weights: number[]): HuffmanTable {
  const sum = weights.reduce((all, weight) => all + (weight === 0 ? 0 : 1 << (weight - 1)), 0);
  if (sum === 0 || weights.some((weight) => weight > huffmanLogMax)) throw new ZstdError('a Huffman tree has no leaf');
  const log = highBit(sum) + 1;
  const left = (1 << log) - sum;
  if (log > huffmanLogMax || (left & (left - 1)) !== 0) throw new ZstdError('a Huffman tree does not fit');
  weights.push(highBit(left) + 1);
  const symbols = new Uint8Array(1 << log);
  const bits = new Uint8Array(1 << log);
  let at = 0;
  for (let weight = 1; weight <= log; weight++)
    weights.forEach((own, symbol) => {
      if (own !== weight) return;
      symbols.fill(symbol, at, at + (1 << (weight - 1)));
      bits.fill(log + 1 - weight, at, at + (1 << (weight - 1)));
      at += 1 << (weight - 1);
    });
  return { log, symbols, bits };
}

/** Weights that are packed themselves: two states take turns until the bits are over. */
function packedWeights(bytes: Buffer, from: number, to: number): number[] {
  const { table, end } = readFseTable(bytes, from, to, 6, 255);
  const stream = new BackwardBits(bytes, end, to);
  const states = [stream.read(table.log), stream.read(table.log)];
  const weights: number[] = [];
  for (let turn = 0; ; turn ^= 1) {
    const state = states[turn] ?? 0;
    weights.push(table.symbols[state] ?? 0);
    if (weights.length > 254) throw new ZstdError('a Huffman tree has too many symbols');
    states[turn] = (table.bases[state] ?? 0) + stream.read(table.bits[state] ?? 0);
    if (stream.left >= 0) continue;
    weights.push(table.symbols[states[turn ^ 1] ?? 0] ?? 0);
    return weights;
  }
}

/** A tree as a block describes it, and where what follows begins. */
export function readHuffman(bytes: Buffer, from: number, to: number) {
  const head = from < to ? (bytes[from] ?? 0) : 0;
  const end = from + 1 + (head < 128 ? head : (head - 126) >> 1);
  if (from >= to || end > to) throw new ZstdError('a Huffman tree is cut off');
  if (head < 128) return { table: huffmanTable(packedWeights(bytes, from + 1, end)), end };
  const weights = Array.from({ length: head - 127 }, (_, n) => {
    const pair = bytes[from + 1 + (n >> 1)] ?? 0;
    return n % 2 === 0 ? pair >> 4 : pair & 15;
  });
  return { table: huffmanTable(weights), end };
}

/** Symbols of one stream into `out` from `at` up to `end`. */
export function huffmanStream(
  { log, symbols, bits }: HuffmanTable,
  stream: BackwardBits,
  out: Buffer,
  at: number,
  end: number,
): void {
  for (let to = at; to < end; to++) {
    const code = stream.peek(log);
    out[to] = symbols[code] ?? 0;
    stream.left -= bits[code] ?? 0;
  }
  if (stream.left !== 0) throw new ZstdError('literals do not end with their bits');
}
