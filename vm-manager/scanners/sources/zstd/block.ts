// A packed block of Zstandard (RFC 8878, 3.1.1.3): literals, and sequences that say how many of them come and what is
// repeated of what was unpacked before.
import {
  BackwardBits,
  fseOfOne,
  fseTable,
  huffmanStream,
  readFseTable,
  readHuffman,
  ZstdError,
  type FseTable,
  type HuffmanTable,
} from './entropy.js';

export const blockBytesMax = 128 * 1024;

const count = (length: number, of: (n: number) => number): number[] => Array.from({ length }, (_, n) => of(n));
const powers = (length: number, first: number, add: number): number[] => count(length, (n) => (first << n) + add);
const literalBases = [...count(16, (n) => n), 16, 18, 20, 22, 24, 28, 32, 40, 48, ...powers(11, 64, 0)];
const literalBits = [...count(16, () => 0), 1, 1, 1, 1, 2, 2, 3, 3, 4, ...count(11, (n) => n + 6)];
const matchBases = [...count(32, (n) => n + 3), 35, 37, 39, 41, 43, 47, 51, 59, 67, 83, 99, ...powers(10, 128, 3)];
const matchBits = [...count(32, () => 0), 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, ...count(10, (n) => n + 7)];
const repeated = (...pairs: readonly (readonly [times: number, value: number])[]): number[] =>
  pairs.flatMap(([times, value]) => count(times, () => value));

interface Kind {
  readonly logMax: number;
  readonly symbolMax: number;
  readonly usual: FseTable;
}
const kinds: Readonly<Record<'literals' | 'offsets' | 'matches', Kind>> = {
  literals: {
    ...{ logMax: 9, symbolMax: 35 },
    usual: fseTable([4, 3, ...repeated([11, 2], [3, 1], [9, 2]), 3, 2, ...repeated([5, 1], [4, -1])], 6),
  },
  offsets: { logMax: 8, symbolMax: 31, usual: fseTable(repeated([6, 1], [3, 2], [15, 1], [5, -1]), 5) },
  matches: {
    ...{ logMax: 9, symbolMax: 52 },
    usual: fseTable([1, 4, 3, ...repeated([6, 2], [37, 1], [7, -1])], 6),
  },
};

/** What one block leaves to the next ones of its frame. */
export class BlockState {
  huffman: HuffmanTable | null = null;
  readonly tables: Record<keyof typeof kinds, FseTable | null> = { literals: null, offsets: null, matches: null };
  readonly offsets = Int32Array.of(1, 4, 8);
}

/** Where unpacked bytes go; it keeps as many of them as sequences may refer to. */
export interface Window {
  append(from: Buffer, at: number, length: number): void;
  /** Throws ZstdError for an offset beyond what is kept. */
  repeat(offset: number, length: number): void;
}

const literals = Buffer.alloc(blockBytesMax);

interface Literals {
  readonly length: number;
  readonly end: number;
}

function plainLiterals(bytes: Buffer, from: number, to: number): Literals {
  const head = bytes.readUInt32LE(from);
  const format = (head >> 2) & 3;
  const width = format === 1 ? 2 : format === 3 ? 3 : 1;
  const length = width === 1 ? (head & 255) >> 3 : (head >> 4) & (width === 2 ? 0xfff : 0xfffff);
  const at = from + width;
  const isOne = (head & 3) === 1;
  if (length > blockBytesMax || at + (isOne ? 1 : length) > to) throw new ZstdError('literals are cut off');
  if (isOne) literals.fill(bytes[at] ?? 0, 0, length);
  else bytes.copy(literals, 0, at, at + length);
  return { length, end: at + (isOne ? 1 : length) };
}

function packedLiterals(bytes: Buffer, from: number, to: number, state: BlockState): Literals {
  const format = ((bytes[from] ?? 0) >> 2) & 3;
  const width = format === 3 ? 18 : format === 2 ? 14 : 10;
  const headBytes = format === 3 ? 5 : format === 2 ? 4 : 3;
  if (from + headBytes > to) throw new ZstdError('literals are cut off');
  const head = bytes.readUInt32LE(from) + (headBytes === 5 ? (bytes[from + 4] ?? 0) * 2 ** 32 : 0);
  const length = Math.floor(head / 16) % 2 ** width;
  const end = from + headBytes + (Math.floor(head / 2 ** (4 + width)) % 2 ** width);
  if (length > blockBytesMax || end > to) throw new ZstdError('literals are cut off');
  let at = from + headBytes;
  if ((head & 3) === 2) {
    const found = readHuffman(bytes, at, end);
    state.huffman = found.table;
    at = found.end;
  }
  if (state.huffman === null) throw new ZstdError('literals go by a tree that was never sent');
  if (format === 0) {
    huffmanStream(state.huffman, new BackwardBits(bytes, at, end), literals, 0, length);
    return { length, end };
  }
  const part = (length + 3) >> 2;
  if (at + 6 > end || part * 3 > length) throw new ZstdError('literals are cut off');
  let begin = at + 6;
  for (let n = 0; n < 4; n++) {
    const stop = n === 3 ? end : begin + bytes.readUInt16LE(at + n * 2);
    if (stop > end) throw new ZstdError('literals are cut off');
    const stream = new BackwardBits(bytes, begin, stop);
    huffmanStream(state.huffman, stream, literals, part * n, n === 3 ? length : part * (n + 1));
    begin = stop;
  }
  return { length, end };
}

function tableOf(mode: number, name: keyof typeof kinds, bytes: Buffer, from: number, to: number, state: BlockState) {
  const { logMax, symbolMax, usual } = kinds[name];
  let [table, end]: [FseTable | null, number] = [state.tables[name], from];
  if (mode === 0) table = usual;
  else if (mode === 1) {
    if (from >= to || (bytes[from] ?? 0) > symbolMax) throw new ZstdError('sequences go by a symbol that is none');
    table = fseOfOne(bytes[from] ?? 0);
    end = from + 1;
  } else if (mode === 2) ({ table, end } = readFseTable(bytes, from, to, logMax, symbolMax));
  if (table === null) throw new ZstdError('sequences go by a table that was never sent');
  state.tables[name] = table;
  return { table, end };
}

/** The offset that a value means: it may be one of the last three, which move up. */
function offsetOf(value: number, hasLiterals: boolean, last: Int32Array): number {
  const first = last[0] ?? 1;
  let at = value - 1 + (hasLiterals ? 0 : 1);
  if (value <= 3 && at === 0) return first;
  let offset = value - 3;
  if (value <= 3) offset = at === 1 ? (last[1] ?? 4) : at === 2 ? (last[2] ?? 8) : first - 1;
  else at = 3;
  if (at !== 1) last[2] = last[1] ?? 4;
  last[1] = first;
  last[0] = offset;
  return offset;
}

function countOf(bytes: Buffer, at: number, to: number): { sequences: number; end: number } {
  const head = at < to ? (bytes[at] ?? 0) : 0;
  const size = head < 128 ? 1 : head < 255 ? 2 : 3;
  if (at + size > to) throw new ZstdError('sequences are cut off');
  if (size === 1) return { sequences: head, end: at + 1 };
  const sequences = size === 2 ? ((head - 128) << 8) + (bytes[at + 1] ?? 0) : bytes.readUInt16LE(at + 1) + 0x7f00;
  return { sequences, end: at + size };
}

/** Unpacks `bytes` from 0 to `to`; behind them must lie 8 bytes of anything. */
export function unpackBlock(bytes: Buffer, to: number, state: BlockState, window: Window): void {
  if (to < 2) throw new ZstdError('a block is cut off');
  const isPlain = ((bytes[0] ?? 0) & 3) < 2;
  const { length, end } = isPlain ? plainLiterals(bytes, 0, to) : packedLiterals(bytes, 0, to, state);
  const { sequences, end: modesAt } = countOf(bytes, end, to);
  if (sequences === 0) return window.append(literals, 0, length);
  const modes = modesAt < to ? (bytes[modesAt] ?? 0) : 3;
  if ((modes & 3) !== 0) throw new ZstdError('sequences are packed in an unknown way');
  const byLiterals = tableOf(modes >> 6, 'literals', bytes, modesAt + 1, to, state);
  const byOffsets = tableOf((modes >> 4) & 3, 'offsets', bytes, byLiterals.end, to, state);
  const byMatches = tableOf((modes >> 2) & 3, 'matches', bytes, byOffsets.end, to, state);
  const stream = new BackwardBits(bytes, byMatches.end, to);
  const [ll, of, ml] = [byLiterals.table, byOffsets.table, byMatches.table];
  let llState = stream.read(ll.log);
  let ofState = stream.read(of.log);
  let mlState = stream.read(ml.log);
  let taken = 0;
  for (let n = 0; n < sequences; n++) {
    const offsetCode = of.symbols[ofState] ?? 0;
    const value = 2 ** offsetCode + stream.read(offsetCode);
    const mlCode = ml.symbols[mlState] ?? 0;
    const matchLength = (matchBases[mlCode] ?? 0) + stream.read(matchBits[mlCode] ?? 0);
    const llCode = ll.symbols[llState] ?? 0;
    const literalLength = (literalBases[llCode] ?? 0) + stream.read(literalBits[llCode] ?? 0);
    if (stream.left < 0 || taken + literalLength > length) throw new ZstdError('sequences take more than there is');
    window.append(literals, taken, literalLength);
    taken += literalLength;
    window.repeat(offsetOf(value, literalLength > 0, state.offsets), matchLength);
    if (n === sequences - 1) break;
    llState = (ll.bases[llState] ?? 0) + stream.read(ll.bits[llState] ?? 0);
    mlState = (ml.bases[mlState] ?? 0) + stream.read(ml.bits[mlState] ?? 0);
    ofState = (of.bases[ofState] ?? 0) + stream.read(of.bits[ofState] ?? 0);
  }
  if (stream.left !== 0) throw new ZstdError('sequences do not end with their bits');
  window.append(literals, taken, length - taken);
}
