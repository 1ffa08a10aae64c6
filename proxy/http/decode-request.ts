// Content codings of requests, undone for inspection only: the application gets the bytes as they came. Stricter than
// for responses, since the sender may be an attacker: what is not wholly and clearly one coded text is refused, for the
// application may read it otherwise than the rules did.
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { codingsOf, type Coding } from './decode-body.js';

/** RFC 9110 section 8.4: the codings of a request's Content-Encoding fields, or how the request is to be refused. */
export type RequestCodings = readonly Coding[] | { readonly refusedWith: 413 | 415 };

/** `contentEncoding`: all fields, joined; null = none. `codingsMax` 0: compressed bodies are not taken. */
export function requestCodingsOf(contentEncoding: string | null, codingsMax: number): RequestCodings {
  if (contentEncoding === null) return [];
  const named = contentEncoding.split(',').filter((part) => !/^\s*(?:identity\s*)?$/i.test(part));
  if (named.length === 0) return [];
  if (codingsMax === 0) return { refusedWith: 415 };
  if (named.length > codingsMax) return { refusedWith: 413 };
  const codings = codingsOf(contentEncoding);
  return codings === 'unknown' ? { refusedWith: 415 } : codings;
}

export interface DecodeLimits {
  readonly bytesMax: number;
  /** Times that the body may grow, all codings together; of what is over 1 KiB on the wire and the free allowance. */
  readonly ratioMax: number;
}

/**
 * What any body may become, and over how many bytes on the wire it may not become more. Inspection costs CPU for each
 * decoded byte (CWE-409; the search of inspection/amplification.test.ts): 30 ns where it is words and numbers, 0.5 µs
 * where the words are those that rules look for, up to 1.4 µs where each nearly is an attack, a bracket or an escape.
 * So a body of numbers may have 64 KiB, one of plain characters 16 KiB, one with many backslashes 6 KiB, any other
 * 8 KiB: JSON within strings of JSON is read again and again, and 12 KiB of it took 40 ms at paranoia level 4, as did
 * 300 fields of a form. Beyond 1 KiB the ratio decides. With 64 KiB for plain characters, 300 bytes of words took 37 ms
 * at level 4; for every body, 97 bytes of escapes 68 ms.
 */
const numbersFreeBytes = 64 * 1024;
const plainFreeBytes = 16 * 1024;
const freeBytes = 8 * 1024;
const freeEscapedBytes = 6 * 1024;
const freeWireBytes = 1024;
/** One in so many bytes of the smaller allowance may be another character. Escapes have at least one in six. */
const bytesPerOther = 8;

const backslash = 0x5c;
/** 1 for each byte that is neither among `characters` nor in one of `ranges`. */
function othersThan(characters: string, ranges: readonly string[]): Uint8Array {
  const table = new Uint8Array(256).fill(1);
  for (const character of characters) table[character.charCodeAt(0)] = 0;
  for (const range of ranges) table.fill(0, range.charCodeAt(0), range.charCodeAt(1) + 1);
  return table;
}
const isNoNumber = othersThan(' \t\r\n,.:-', ['09']);
const isNotPlain = othersThan(' \t\r\n,.:-_@"', ['09', 'az', 'AZ']);

/**
 * Bytes that a body of `wireBytes` may become: of any characters, where nearly all of them are plain, or of numbers,
 * and where one in eight is a backslash.
 */
export function decodedBytesMax(
  wireBytes: number,
  { bytesMax, ratioMax }: DecodeLimits,
): { readonly any: number; readonly plain: number; readonly numbers: number; readonly escaped: number } {
  const more = Math.max(0, wireBytes - freeWireBytes) * ratioMax;
  const upTo = (free: number): number => Math.min(bytesMax, free + more);
  return {
    any: upTo(freeBytes),
    plain: upTo(plainFreeBytes),
    numbers: upTo(numbersFreeBytes),
    escaped: upTo(freeEscapedBytes),
  };
}

function hasManyBackslashes(bytes: Buffer, most: number): boolean {
  let count = 0;
  for (let at = bytes.indexOf(backslash); at !== -1; at = bytes.indexOf(backslash, at + 1))
    if ((count += 1) > most) return true;
  return false;
}

function hasFewOf(isOther: Uint8Array, bytes: Buffer, othersMax: number): boolean {
  let others = 0;
  for (const byte of bytes) {
    others += isOther[byte] as number;
    if (others > othersMax) return false;
  }
  return true;
}

export type DecodedRequest =
  | { readonly kind: 'decoded'; readonly bytes: Buffer }
  /** Larger than a limit. */
  | { readonly kind: 'too-large' }
  /** Damaged, cut off, followed by something, or readable in two ways. */
  | { readonly kind: 'wrong' };

/** Undoes all codings, off this thread. Never rejects. */
export async function decodeRequest(
  bytes: Buffer,
  codings: readonly Coding[],
  limits: DecodeLimits,
): Promise<DecodedRequest> {
  const most = decodedBytesMax(bytes.length, limits);
  let decoded = bytes;
  for (const coding of [...codings].reverse()) {
    const undone = await undo(decoded, coding, most.numbers);
    if (undone.kind !== 'decoded') return undone;
    decoded = undone.bytes;
  }
  const othersMax = most.any / bytesPerOther;
  if (codings.length > 0 && decoded.length > most.any && !hasFewOf(isNotPlain, decoded, othersMax))
    return { kind: 'too-large' };
  if (codings.length > 0 && decoded.length > most.plain && !hasFewOf(isNoNumber, decoded, othersMax))
    return { kind: 'too-large' };
  if (codings.length > 0 && decoded.length > most.escaped && hasManyBackslashes(decoded, most.escaped / bytesPerOther))
    return { kind: 'too-large' };
  return { kind: 'decoded', bytes: decoded };
}

async function undo(bytes: Buffer, coding: Coding, bytesMax: number): Promise<DecodedRequest> {
  if (coding === 'br') return inflate(createBrotliDecompress(), bytes, bytesMax);
  if (coding === 'gzip') return inflate(createGunzip(), bytes, bytesMax);
  // "deflate" is zlib by RFC 9110 section 8.4.1.2 and raw deflate to some servers: what is both is nothing clear.
  const [wrapped, raw] = await Promise.all([
    inflate(createInflate(), bytes, bytesMax),
    inflate(createInflateRaw(), bytes, bytesMax),
  ]);
  if (wrapped.kind === 'wrong') return raw;
  return raw.kind === 'wrong' ? wrapped : { kind: 'wrong' };
}

interface Zlib extends Transform {
  /** Of the coded bytes, those that the decoder took. */
  readonly bytesWritten: number;
}

function inflate(stream: Zlib, bytes: Buffer, bytesMax: number): Promise<DecodedRequest> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let total = 0;
    const finish = (outcome: DecodedRequest): void => {
      resolve(outcome);
      stream.destroy();
    };
    stream.on('data', (chunk: Buffer) => {
      total += chunk.length;
      chunks.push(chunk);
      if (total > bytesMax) finish({ kind: 'too-large' });
    });
    stream.on('end', () =>
      finish(
        stream.bytesWritten < bytes.length ? { kind: 'wrong' } : { kind: 'decoded', bytes: Buffer.concat(chunks) },
      ),
    );
    stream.on('error', () => finish({ kind: 'wrong' })); // damaged or cut off: expected of bytes from a network
    stream.end(bytes);
  });
}
