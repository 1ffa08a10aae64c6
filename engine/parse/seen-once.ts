// Which texts came once before, per thread, for memories of answers: most texts that come once (tokens, ids) never come
// again. A memory that takes them in keeps them alive past the nursery of the collector, and a text that is a part of
// a request head keeps all of that head; what comes a second time is worth its place. Two bytes a text are kept.

/** A power of two. */
const notesMax = 1 << 10;

export class SeenOnce {
  private readonly notes = new Uint16Array(notesMax);

  /** Whether this text was noted before; notes it. Two texts may count as one: then the first is kept needlessly. */
  wasSeen(text: string): boolean {
    const { length } = text;
    let hash = length;
    for (let index = 0; index < length; index += 1) hash = (Math.imul(hash, 31) + text.charCodeAt(index)) | 0;
    hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
    const at = hash & (notesMax - 1);
    const note = (hash >>> 16) | 1;
    if (this.notes[at] === note) return true;
    this.notes[at] = note;
    return false;
  }
}
