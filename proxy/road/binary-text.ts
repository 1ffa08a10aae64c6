// What of a binary message of a WebSocket is text. Many frameworks hand both kinds of messages to one handler, which
// reads the bytes as text (Buffer.toString, string(b), JSON.parse): the sender chooses the kind, so it says nothing.
import { isUtf8 } from 'node:buffer';

/** Shorter texts hold no attack. */
const textBytesMin = 4;

const isPrintable = (byte: number): boolean =>
  (byte >= 0x20 && byte <= 0x7e) || byte === 9 || byte === 10 || byte === 13;

/** Bytes of the UTF-8 character beyond ASCII that begins at `at`, or 0. */
function characterBytes(bytes: Buffer, at: number): number {
  const lead = bytes[at] as number;
  const count =
    lead >= 0xf0 && lead <= 0xf4 ? 4 : lead >= 0xe0 && lead < 0xf0 ? 3 : lead >= 0xc2 && lead < 0xe0 ? 2 : 0;
  for (let next = 1; next < count; next += 1) if (((bytes[at + next] ?? 0) & 0xc0) !== 0x80) return 0;
  return count;
}

/** UTF-16 of ASCII, as .NET and Java write it, as UTF-8; null: it is none. */
function fromUtf16(message: Buffer): Buffer | null {
  if (message.length < 2 * textBytesMin || message.length % 2 !== 0) return null;
  const zeros = [0, 0];
  for (let at = 0; at < message.length; at += 1) if (message[at] === 0) zeros[at & 1] = (zeros[at & 1] as number) + 1;
  const [high = 0, low = 0] = zeros;
  const enough = (message.length * 3) / 8;
  if (high < enough && low < enough) return null;
  const little = high > low ? Buffer.from(message).swap16() : message;
  return Buffer.from(little.toString('utf16le'), 'utf8');
}

/**
 * The text as rules are to see it: other bytes are blanks, because backends read past them or cut there. null: it is
 * none. A message is text where all of it is UTF-8, control characters or not (a sender can add any number of them), or
 * where at least half of its bytes are of printable text; compressed data, pictures and sound have some 40 %.
 */
export function textOfBinary(message: Buffer): Buffer | null {
  if (message.length < textBytesMin) return null;
  const wide = fromUtf16(message);
  if (wide !== null) return textOfBinary(wide);
  const text = Buffer.alloc(message.length, 0x20);
  let count = 0;
  for (let at = 0; at < message.length; ) {
    const byte = message[at] as number;
    const length = byte < 0x80 ? (isPrintable(byte) ? 1 : 0) : characterBytes(message, at);
    for (let next = at; next < at + length; next += 1) text[next] = message[next] as number;
    count += length;
    at += length || 1;
  }
  if (count < textBytesMin) return null;
  return count * 2 >= message.length || isUtf8(message) ? text : null;
}
