// What was found of values seen before: cookies and documents that weak rules match come again with every request of a
// client, and running the signs over a value costs a microsecond and pushes other tables out of the processor's cache.
// Answers are pure functions of kind and text, so nothing can go stale, and a wrong answer is impossible.
import type { Sign } from './sign.js';

/** Texts up to this length are kept: longer ones are not judged (judge.ts). */
const textBytesMax = 16_384;
/** Of all texts of one memory; beyond it everything is forgotten at once, so that a flood costs an insertion each. */
const bytesMax = 512 * 1024;
/** Short texts cost the table more than their bytes. */
const entryBytes = 64;

/** Its own bytes: a slice would keep the body that it was cut from alive for as long as it is remembered. */
const ownCopy = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');

export interface SignMemory {
  /** What `look` finds in the latin1 text, from memory where it is there. The list is shared: nobody changes it. */
  of(text: string): readonly Sign[];
  /** Bytes that are kept now, at most 512 KiB. */
  readonly bytes: number;
}

/** `look` is asked for texts that the memory does not hold; it must be a pure function of the text. */
export function createSignMemory(look: (text: string) => readonly Sign[]): SignMemory {
  const known = new Map<string, readonly Sign[]>();
  let bytes = 0;
  return {
    of(text) {
      if (text.length > textBytesMax) return look(text);
      const before = known.get(text);
      if (before !== undefined) return before;
      const found = look(text);
      const added = text.length + entryBytes;
      if (bytes + added > bytesMax) {
        known.clear();
        bytes = 0;
      }
      bytes += added;
      known.set(ownCopy(text), found);
      return found;
    },
    get bytes() {
      return bytes;
    },
  };
}
