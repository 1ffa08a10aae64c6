// Hashes for counting, not for secrets: 32 bits of FNV-1a (public domain) with a finaliser, over text as it is.
import { mix } from '../shared-state/client-key.js';

const basis = 0x811c9dc5;
const prime = 0x01000193;
const textCharsMax = 512;

/** Of the end of a text: what tokens differ in stands there. */
export function hashText(text: string): number {
  let hash = basis ^ text.length;
  for (let at = Math.max(0, text.length - textCharsMax); at < text.length; at += 1)
    hash = Math.imul(hash ^ text.charCodeAt(at), prime);
  return mix(hash);
}

const [slash, question, hashSign, zero, nine, digitStands] = [47, 63, 35, 48, 57, 35];
const longSegment = 20;

/** Two numbers of one path, without the query; read after `hashPath`. */
export class PathHash {
  /** Of the path. */
  full = 0;
  /** Of the path with one sign for each run of digits, and for each long segment with a digit in it. */
  shape = 0;

  read(uri: string): void {
    let full = basis;
    let shape = basis;
    let segment = basis;
    let segmentBegan = 0;
    let hasDigit = false;
    let wasDigit = false;
    const end = Math.min(uri.length, textCharsMax);
    for (let at = 0; at <= end; at += 1) {
      const code = at === end ? slash : uri.charCodeAt(at);
      const isOver = code === question || code === hashSign;
      if (code === slash || isOver) {
        const isLong = at - segmentBegan >= longSegment && hasDigit;
        shape = Math.imul(shape ^ (isLong ? digitStands : segment), prime);
        segment = basis;
        segmentBegan = at + 1;
        hasDigit = wasDigit = false;
        if (isOver) break;
      } else if (code >= zero && code <= nine) {
        hasDigit = true;
        if (!wasDigit) segment = Math.imul(segment ^ digitStands, prime);
        wasDigit = true;
      } else {
        segment = Math.imul(segment ^ code, prime);
        wasDigit = false;
      }
      full = Math.imul(full ^ code, prime);
    }
    this.full = mix(full);
    this.shape = mix(shape);
  }
}
