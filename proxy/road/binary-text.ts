// What of a binary message of a WebSocket is text. Many frameworks hand both kinds of messages to one handler, which
// reads the bytes as text (Buffer.toString, string(b), JSON.parse): the sender chooses the kind, so it says nothing.
// Others read strings out of the bytes (MessagePack, protobuf, C strings). What a sender may add without end, control
// characters and noise, never decides that nothing is looked at.
import { isUtf8 } from 'node:buffer';

/** Shorter texts hold no attack. */
const textBytesMin = 4;
/**
 * So many printable characters of ASCII in a row are a string also among bytes that are none. Of 300 messages of 64 KiB
 * of noise, the core rules at level 1 stopped none; with 12 characters it was 1 %, with 8 characters 25 %.
 */
const runBytesMin = 16;
/** Values that one inspection is given; what is beyond is one value together. */
const valuesMax = 100;

const enum Kind {
  /** No part of a text: control characters, bytes that are no UTF-8. */
  Other,
  Printable,
}

const kindOf = new Uint8Array(256).fill(Kind.Other);
kindOf.fill(Kind.Printable, 0x20, 0x7f);
for (const blank of [9, 10, 13]) kindOf[blank] = Kind.Printable;

/** Bytes of the UTF-8 character beyond ASCII that begins at `at`, or 0. */
function characterBytes(bytes: Buffer, at: number): number {
  const lead = bytes[at] as number;
  const count =
    lead >= 0xf0 && lead <= 0xf4 ? 4 : lead >= 0xe0 && lead < 0xf0 ? 3 : lead >= 0xc2 && lead < 0xe0 ? 2 : 0;
  for (let next = 1; next < count; next += 1) if (((bytes[at + next] ?? 0) & 0xc0) !== 0x80) return 0;
  return count;
}

interface Pieces {
  /** Everything, with one blank for each row of bytes that are none of a text: backends read past them or cut there. */
  readonly blanked: Buffer;
  /** Only what is of a text: backends leave the rest out. */
  readonly joined: Buffer;
  /** Of a text at least this long; what stands between bytes that are none of it. */
  readonly runs: readonly Buffer[];
}

function piecesOf(bytes: Buffer): Pieces {
  const blanked = Buffer.allocUnsafe(bytes.length);
  const joined = Buffer.allocUnsafe(bytes.length);
  const runs: Buffer[] = [];
  let blankedAt = 0;
  let joinedAt = 0;
  let runFrom = 0;
  let ascii = 0;
  const endRun = (): void => {
    if (ascii >= runBytesMin) runs.push(joined.subarray(runFrom, joinedAt));
    runFrom = joinedAt;
    ascii = 0;
  };
  let isBetween = false;
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at] as number;
    const length = byte < 0x80 ? (kindOf[byte] as number) : characterBytes(bytes, at);
    if (length === 0) {
      if (!isBetween) {
        endRun();
        blanked[blankedAt++] = 0x20;
      }
      isBetween = true;
      at += 1;
      continue;
    }
    isBetween = false;
    ascii += byte < 0x80 ? 1 : 0;
    for (const end = at + length; at < end; at += 1) {
      blanked[blankedAt++] = bytes[at] as number;
      joined[joinedAt++] = bytes[at] as number;
    }
  }
  endRun();
  return { blanked: blanked.subarray(0, blankedAt), joined: joined.subarray(0, joinedAt), runs };
}

function withoutNuls(bytes: Buffer): Buffer {
  if (!bytes.includes(0)) return bytes;
  return Buffer.from(bytes.filter((byte) => byte !== 0));
}

function valuesOf(runs: readonly Buffer[]): readonly Buffer[] {
  if (runs.length <= valuesMax) return runs;
  const beyond = runs.slice(valuesMax - 1).flatMap((run) => [run, Buffer.from('\n')]);
  return [...runs.slice(0, valuesMax - 1), Buffer.concat(beyond)];
}

const isMostlyText = (text: Buffer, bytes: Buffer): boolean => text.length * 8 >= bytes.length * 5;

const keyOf = (values: readonly Buffer[]): string => values.map((value) => value.toString('latin1')).join('\0');

/**
 * The readings of a message, each a list of values that are inspected together; none: no text is in it.
 *
 * A message is text where all of it is UTF-8, control characters or not, or where at least 5 of 8 bytes are of
 * printable text: then it is read as a whole, with other bytes taken for blanks and left out. Compressed data, pictures
 * and sound have some 40 % (of 200 bytes of it, 2 % have more than half); of those, and of text as well, each run that
 * is long enough is read by itself. U+0000 is left out of the bytes as well, which makes ASCII of UTF-16 and UTF-32
 * as .NET, Java and C write them.
 */
export function readingsOfBinary(message: Buffer): readonly (readonly Buffer[])[] {
  if (message.length < textBytesMin) return [];
  const pieces = piecesOf(message);
  const { blanked, joined, runs } = pieces;
  if (joined.length < textBytesMin) return [];
  if (joined.length === message.length) return [[message]];
  const readings: (readonly Buffer[])[] = [];
  if (isMostlyText(joined, message) || isUtf8(message)) readings.push([blanked], [joined]);
  const narrow = withoutNuls(message);
  readings.push(valuesOf(runs), narrow === message ? [] : valuesOf(piecesOf(narrow).runs));
  const seen = new Set(['']);
  return readings.filter((values) => {
    const key = keyOf(values);
    return !seen.has(key) && seen.add(key);
  });
}

/** `empty`: UTF-8 with nothing to read in it, such as zeros; what follows may be text as well as not. */
export type PartKind = 'text' | 'binary' | 'empty';

/**
 * What a message is that is longer than may be looked at, by a part of it. `isFirst`: its beginning. A part may begin
 * and end within a character.
 */
export function kindOfPart(part: Buffer, isFirst: boolean): PartKind {
  const { joined } = piecesOf(part);
  if (isUtf8(wholeCharacters(part, isFirst))) return joined.length < textBytesMin ? 'empty' : 'text';
  return isFirst && isMostlyText(joined, part) ? 'text' : 'binary';
}

function wholeCharacters(part: Buffer, isFirst: boolean): Buffer {
  let start = 0;
  while (!isFirst && start < 3 && ((part[start] ?? 0) & 0xc0) === 0x80) start += 1;
  let lead = part.length - 1;
  while (lead > part.length - 4 && lead > start && ((part[lead] ?? 0) & 0xc0) === 0x80) lead -= 1;
  const isCut = lead >= start && (part[lead] ?? 0) >= 0xc2 && characterBytes(part, lead) === 0;
  return part.subarray(start, isCut ? lead : part.length);
}
