// Zstandard as a stream, for the versions of Node.js that have it not: frames one after the other, of which no more is
// kept than their window. The sum at the end of a frame is passed over: layers are compared with their SHA-256.
import { setImmediate as turn } from 'node:timers/promises';
import { BlockState, blockBytesMax, unpackBlock, type Window } from './block.js';
import { ZstdError } from './entropy.js';

export { ZstdError } from './entropy.js';

const frameMagic = 0xfd2fb528;
const skippedMagic = 0x184d2a50;
/** What `zstd` itself takes without being asked for more. */
const windowBytesMax = 128 * 1024 * 1024;
/** Of copies: beyond it a call is faster than a loop. */
const shortMax = 48;
/** How long blocks are unpacked before others have their turn. */
const turnMsMax = 8;

/** Bytes of the input in the pieces that are asked for. */
class Pieces {
  readonly #from: AsyncIterator<Buffer>;
  #held: Buffer = Buffer.alloc(0);
  #isOver = false;

  constructor(from: AsyncIterable<Buffer>) {
    this.#from = from[Symbol.asyncIterator]();
  }

  async #fill(bytes: number): Promise<void> {
    const parts = [this.#held];
    let length = this.#held.length;
    while (length < bytes && !this.#isOver) {
      const next = await this.#from.next();
      this.#isOver = next.done === true;
      if (next.done === true) break;
      parts.push(next.value);
      length += next.value.length;
    }
    if (parts.length > 1) this.#held = Buffer.concat(parts);
  }

  async isOver(): Promise<boolean> {
    await this.#fill(1);
    return this.#held.length === 0;
  }

  /** Throws ZstdError where there are not as many. */
  async take(bytes: number): Promise<Buffer> {
    if (this.#held.length < bytes) await this.#fill(bytes);
    if (this.#held.length < bytes) throw new ZstdError('it ends in the middle of a frame');
    const taken = this.#held.subarray(0, bytes);
    this.#held = this.#held.subarray(bytes);
    return taken;
  }

  /** Lets the input go, such as the file that it is read from. */
  async close(): Promise<void> {
    await this.#from.return?.();
  }

  async skip(bytes: number): Promise<void> {
    for (let left = bytes; left > 0; left -= 65_536) await this.take(Math.min(left, 65_536));
  }
}

/** The last bytes of a frame; it grows as they come, so that a header alone takes no memory. */
class Kept implements Window {
  readonly #bytesMax: number;
  #bytes: Buffer;
  #length = 0;
  #before = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#bytes = Buffer.alloc(blockBytesMax * 4);
  }

  /** Begins a block: what is no longer needed goes, and there is room for one. */
  begin(): void {
    if (this.#length + blockBytesMax > this.#bytes.length) {
      const kept = Math.min(this.#length, this.#bytesMax);
      const size = kept + blockBytesMax;
      // moved rarely: there is as much room again as is kept
      const target = size * 2 > this.#bytes.length ? Buffer.alloc(size * 2) : this.#bytes;
      this.#bytes.copy(target, 0, this.#length - kept, this.#length);
      this.#bytes = target;
      this.#length = kept;
    }
    this.#before = this.#length;
  }

  /** What the block has made. */
  made(): Buffer {
    return Buffer.from(this.#bytes.subarray(this.#before, this.#length));
  }

  #require(length: number): void {
    if (this.#length - this.#before + length > blockBytesMax) throw new ZstdError('a block is larger than it may be');
  }

  append(from: Buffer, at: number, length: number): void {
    this.#require(length);
    const [bytes, to] = [this.#bytes, this.#length];
    if (length > shortMax) from.copy(bytes, to, at, at + length);
    else for (let n = 0; n < length; n++) bytes[to + n] = from[at + n] ?? 0;
    this.#length = to + length;
  }

  fill(value: number, length: number): void {
    this.#require(length);
    this.#bytes.fill(value, this.#length, this.#length + length);
    this.#length += length;
  }

  repeat(offset: number, length: number): void {
    this.#require(length);
    if (offset < 1 || offset > this.#length || offset > this.#bytesMax + blockBytesMax)
      throw new ZstdError('a sequence refers to what was not there');
    const [bytes, to] = [this.#bytes, this.#length];
    if (offset >= length && length > shortMax) bytes.copyWithin(to, to - offset, to - offset + length);
    // what is repeated may overlap with what it makes
    else for (let n = to, from = to - offset; n < to + length; n++, from++) bytes[n] = bytes[from] ?? 0;
    this.#length = to + length;
  }
}

/** Window of the frame whose magic was read. */
async function readHeader(input: Pieces): Promise<{ windowBytes: number; hasSum: boolean }> {
  const [head = 0] = await input.take(1);
  const isSingle = (head & 0x20) !== 0;
  if ((head & 8) !== 0) throw new ZstdError('a frame has a header of an unknown kind');
  let windowBytes = 0;
  if (!isSingle) {
    const [code = 0] = await input.take(1);
    windowBytes = 2 ** (10 + (code >> 3));
    windowBytes += (windowBytes / 8) * (code & 7);
  }
  const dictionary = await input.take([0, 1, 2, 4][head & 3] ?? 0);
  if (dictionary.some((byte) => byte !== 0)) throw new ZstdError('a frame needs a dictionary, which nobody has sent');
  const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][head >> 6] ?? 0;
  const size = await input.take(sizeBytes);
  if (isSingle)
    windowBytes =
      sizeBytes === 8 ? Number(size.readBigUInt64LE()) : size.readUIntLE(0, sizeBytes) + (sizeBytes === 2 ? 256 : 0);
  if (windowBytes > windowBytesMax) throw new ZstdError(`a frame needs a window of more than ${windowBytesMax} bytes`);
  return { windowBytes, hasSum: (head & 4) !== 0 };
}

async function* blocksOfFrame(input: Pieces): AsyncGenerator<Buffer> {
  const { windowBytes, hasSum } = await readHeader(input);
  const kept = new Kept(windowBytes);
  const state = new BlockState();
  // with room behind it, so that bits are read four bytes at a time
  const packed = Buffer.alloc(blockBytesMax + 8);
  let began = performance.now();
  for (let isLast = false; !isLast; ) {
    const head = (await input.take(3)).readUIntLE(0, 3);
    const [type, size] = [(head >> 1) & 3, head >> 3];
    isLast = (head & 1) === 1;
    if (type === 3 || size > blockBytesMax) throw new ZstdError('a block is of an unknown kind');
    kept.begin();
    if (type === 1) kept.fill((await input.take(1))[0] ?? 0, size);
    else {
      const bytes = await input.take(size);
      if (type === 0) kept.append(bytes, 0, size);
      else {
        bytes.copy(packed);
        unpackBlock(packed, size, state, kept);
      }
    }
    const made = kept.made();
    if (made.length > 0) yield made;
    if (performance.now() - began < turnMsMax) continue;
    await turn();
    began = performance.now();
  }
  if (hasSum) await input.take(4);
}

/** Bytes as they were before they were packed. Throws ZstdError, also in the midst, for what is damaged. */
export async function* unpackZstd(from: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const input = new Pieces(from);
  try {
    while (!(await input.isOver())) {
      const magic = (await input.take(4)).readUInt32LE();
      if (magic === frameMagic) yield* blocksOfFrame(input);
      else if (magic >>> 4 === skippedMagic >>> 4) await input.skip((await input.take(4)).readUInt32LE());
      else throw new ZstdError('it is not packed with Zstandard');
    }
  } finally {
    await input.close();
  }
}
