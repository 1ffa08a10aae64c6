// Whether bytes that nothing declares are text. An alternate reading (JSON in base64, a body of another type) counts
// only where an application would read it so: random bytes begin like JSON now and then, and what a tolerant parser
// makes of their rest is noise that rules match.
import { isUtf8 } from 'node:buffer';

/** Control characters beyond white space: no JSON holds one. */
const controls = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g;
/** One in so many bytes is a slip of whoever wrote the text; more are data. */
const bytesPerControl = 64;

const isControl = (byte: number): boolean =>
  byte < 0x20 ? byte !== 0x09 && byte !== 0x0a && byte !== 0x0d : byte === 0x7f;

/** UTF-8 with at most one control character in 64 bytes. By bytes: a cookie may have thousands of short parts. */
export function isTextLike(bytes: Buffer): boolean {
  let left = Math.floor(bytes.length / bytesPerControl);
  for (let at = 0; at < bytes.length; at += 1) {
    if (!isControl(bytes[at] as number)) continue;
    left -= 1;
    if (left < 0) return false;
  }
  return isUtf8(bytes);
}

/** As tolerant applications read it: invalid UTF-8 replaced (U+FFFD), control characters left out. UTF-8. */
export function asTolerantText(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString('utf8').replace(controls, ''), 'utf8');
}
