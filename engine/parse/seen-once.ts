// Which texts came once before, per thread, for memories of answers: most texts that come once (tokens, ids) never come
// again. A memory that takes them in keeps them alive past the nursery of the collector, and a text that is a part of
// a request head keeps all of that head; what comes a second time is worth its place. Two bytes a text are kept.

/** Continues a hash over the bytes of a text; begin with its length. Everybody who asks a memory counts like this. */
export function hashByte(hash: number, byte: number): number {
  return (Math.imul(hash, 31) + byte) | 0;
}

export function hashText(text: string): number {
  let hash = text.length;
  for (let index = 0; index < text.length; index += 1) hash = hashByte(hash, text.charCodeAt(index) & 255);
  return hash;
}

/** So that texts that differ little stand far from each other. */
export function spread(hash: number): number {
  const mixed = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
  return mixed ^ (mixed >>> 13);
}

/** Notes of keys that came once: of the last `size` or so, a power of two. */
export class Notes {
  private readonly notes: Uint16Array;
  private readonly mask: number;

  constructor(size: number) {
    this.notes = new Uint16Array(size);
    this.mask = size - 1;
  }

  /** Whether a value of this key was noted before; notes it. A collision only keeps a value that need not be kept. */
  wasSeen(key: number): boolean {
    const at = key & this.mask;
    const note = (key >>> 16) | 1;
    if (this.notes[at] === note) return true;
    this.notes[at] = note;
    return false;
  }
}

const textsMax = 1 << 10;

export class SeenOnce {
  private readonly notes = new Notes(textsMax);

  /** Whether this text was noted before; notes it. */
  wasSeen(text: string): boolean {
    return this.notes.wasSeen(spread(hashText(text)));
  }
}
