// Content codings of responses, undone for inspection only: the client gets the bytes as they came. Bounded on the
// decoded side, where a few kilobytes can claim to be gigabytes. Those of requests: decode-request.ts.
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw, constants } from 'node:zlib';

export interface Decoded {
  readonly bytes: Buffer;
  /** Not all could be decoded: limit reached, cut off, or damaged. */
  readonly isPartial: boolean;
}

export type Coding = 'gzip' | 'br' | 'deflate';

const codingsMax = 3; // one on top of the other; more are an attack or a fault
const salvageBytes = 256;

/** The coding that a name stands for; null = none; 'unknown' = cannot be read here. */
export function codingOf(name: string): Coding | null | 'unknown' {
  switch (name.trim().toLowerCase()) {
    case '':
    case 'identity':
      return null;
    case 'gzip':
    case 'x-gzip':
      return 'gzip';
    case 'br':
      return 'br';
    case 'deflate':
      return 'deflate';
    default:
      return 'unknown';
  }
}

/** The codings of all Content-Encoding fields, joined, in the order in which they were applied; [] = none. */
export function codingsOf(contentEncoding: string | null): readonly Coding[] | 'unknown' {
  if (contentEncoding === null) return [];
  const codings: Coding[] = [];
  for (const part of contentEncoding.split(',')) {
    const coding = codingOf(part);
    if (coding === 'unknown' || codings.length === codingsMax) return 'unknown';
    if (coding !== null) codings.push(coding);
  }
  return codings;
}

/**
 * Undoes all codings, each to at most `bytesMax` bytes, off this thread. Never rejects: damaged input gives what was
 * readable.
 */
export async function decodeBody(bytes: Buffer, codings: readonly Coding[], bytesMax: number): Promise<Decoded> {
  let decoded: Decoded = { bytes, isPartial: false };
  for (let index = codings.length - 1; index >= 0; index -= 1) {
    const { isPartial } = decoded;
    const undone = await undo(decoded.bytes, codings[index] as Coding, bytesMax);
    decoded = { bytes: undone.bytes, isPartial: isPartial || undone.isPartial };
  }
  return decoded;
}

async function undo(bytes: Buffer, coding: Coding, bytesMax: number): Promise<Decoded> {
  const flush = { finishFlush: constants.Z_SYNC_FLUSH };
  if (coding === 'br') return read(createBrotliDecompress(), bytes, bytes.length, bytesMax);
  // "deflate" is zlib by the book and raw deflate by some servers: the first byte tells.
  const isRaw = coding === 'deflate' && ((bytes[0] ?? 0) & 0x0f) !== 8;
  const decoded = await read(
    coding === 'gzip' ? createGunzip(flush) : isRaw ? createInflateRaw(flush) : createInflate(flush),
    bytes,
    bytes.length,
    bytesMax,
  );
  if (!decoded.isPartial || decoded.bytes.length >= bytesMax) return decoded;
  // zlib keeps what it has when it meets a damage. Browsers show it: pages with a wrong checksum or something behind
  // their end work everywhere. So once more without wrapping and checksum, in pieces, so that no more is lost than the
  // damaged one.
  const start = isRaw ? 0 : coding === 'gzip' ? gzipHeadBytes(bytes) : 2;
  const salvaged = await read(createInflateRaw(flush), bytes.subarray(start), salvageBytes, bytesMax);
  return salvaged.bytes.length > decoded.bytes.length ? { bytes: salvaged.bytes, isPartial: true } : decoded;
}

/** RFC 1952 section 2.3. */
function gzipHeadBytes(bytes: Buffer): number {
  const flags = bytes[3] ?? 0;
  let at = 10;
  if ((flags & 4) !== 0) at += 2 + (bytes[at] ?? 0) + (bytes[at + 1] ?? 0) * 256;
  // a name, a comment: to the next NUL
  for (const flag of [8, 16]) if ((flags & flag) !== 0) at = bytes.indexOf(0, at) + 1;
  return (flags & 2) !== 0 ? at + 2 : at;
}

/** What the stream makes of the bytes, given in pieces, up to `bytesMax`. */
function read(stream: Transform, bytes: Buffer, pieceBytes: number, bytesMax: number): Promise<Decoded> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let total = 0;
    let isDone = false;
    let at = 0;
    const finish = (isPartial: boolean): void => {
      if (isDone) return;
      isDone = true;
      resolve({ bytes: Buffer.concat(chunks), isPartial });
      stream.destroy();
    };
    stream.on('data', (chunk: Buffer) => {
      if (isDone) return;
      const room = bytesMax - total;
      chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
      total += Math.min(chunk.length, room);
      if (total >= bytesMax) finish(true);
    });
    stream.on('end', () => finish(false));
    stream.on('error', () => finish(true)); // damaged or cut off: expected of bytes from a network
    const next = (): void => {
      if (isDone) return;
      const piece = bytes.subarray(at, at + pieceBytes);
      at += piece.length;
      if (at >= bytes.length) stream.end(piece);
      else stream.write(piece, next);
    };
    next();
  });
}
