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
 * decoded byte (CWE-409; the search of inspection/amplification.test.ts), at paranoia level 4 and for texts that no
 * memo knows 3 µs where it is words that rules look for, 1 µs where it is lines of numbers, and fifteen for each point
 * of weight below, as fields of a form that nearly are attacks. So any body may have 1.5 KiB, a longer one 6.5 KiB
 * where a point of weight counts as five bytes, and one of numbers 12 KiB. Beyond 1 KiB on the wire the ratio decides.
 * With 64 KiB for numbers, 16 KiB for words and 8 KiB for others, 116 bytes of brotli took 70 ms at level 4.
 */
const numbersFreeBytes = 12 * 1024;
const pricedFreeBytes = 6.5 * 1024;
const freeBytes = 1.5 * 1024;
const freeWireBytes = 1024;
const bytesPerWeight = 5;
/** Of numbers, one in so many bytes of the priced allowance may be another character. */
const bytesPerNoNumber = 16;

/** The weight of each byte: `most`, or that of the first of the `weights` that has it; `09` in `ranges` is a range. */
function weightsOf(most: number, weights: readonly (readonly [number, string])[], ranges: readonly string[]) {
  const table = new Uint8Array(256).fill(most);
  for (const [weight, characters] of weights)
    for (const character of characters) table[character.charCodeAt(0)] = weight;
  for (const range of ranges) table.fill(0, range.charCodeAt(0), range.charCodeAt(1) + 1);
  return table;
}
const isNoNumber = weightsOf(1, [[0, ' \t\r\n,.:-']], ['09']);
/** What patterns of attacks consist of is dear; brackets of JSON are less, tags and letters beyond ASCII the least. */
const weights = weightsOf(
  4,
  [
    [0, ' \t\r\n,.:-_@"+'],
    [1, '<>/'],
    [2, '{}[]'],
    [3, '\\'],
  ],
  ['09', 'az', 'AZ'],
);
weights.fill(1, 0x80);

/**
 * Bytes that a body of `wireBytes` may become: of any characters, of characters at their price, and of numbers.
 */
export function decodedBytesMax(
  wireBytes: number,
  { bytesMax, ratioMax }: DecodeLimits,
): { readonly any: number; readonly priced: number; readonly numbers: number } {
  const more = Math.max(0, wireBytes - freeWireBytes) * ratioMax;
  const upTo = (free: number): number => Math.min(bytesMax, free + more);
  return { any: upTo(freeBytes), priced: upTo(pricedFreeBytes), numbers: upTo(numbersFreeBytes) };
}

function weighsAtMost(table: Uint8Array, bytes: Buffer, most: number): boolean {
  let weight = 0;
  for (const byte of bytes) {
    weight += table[byte] as number;
    if (weight > most) return false;
  }
  return true;
}

/** Whether a decoded body has more than what few bytes on the wire may become. */
function isTooLong(decoded: Buffer, { any, priced }: ReturnType<typeof decodedBytesMax>): boolean {
  if (decoded.length <= any || weighsAtMost(isNoNumber, decoded, priced / bytesPerNoNumber)) return false;
  return !weighsAtMost(weights, decoded, (priced - decoded.length) / bytesPerWeight);
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
  if (codings.length > 0 && isTooLong(decoded, most)) return { kind: 'too-large' };
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
