// Content codings of responses, undone for inspection only: the client gets the bytes as they came. Bounded on the
// decoded side, where a few kilobytes can claim to be gigabytes.
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw, constants } from 'node:zlib';

export interface Decoded {
  readonly bytes: Buffer;
  /** Not all could be decoded: limit reached, cut off, or damaged. */
  readonly isPartial: boolean;
}

export type Coding = 'gzip' | 'br' | 'deflate';

/** The coding of a Content-Encoding value; null = none needed; 'unknown' = cannot be read here (or several at once). */
export function codingOf(contentEncoding: string | null): Coding | null | 'unknown' {
  if (contentEncoding === null) return null;
  switch (contentEncoding.trim().toLowerCase()) {
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

/** Decodes at most `bytesMax` bytes, off this thread. Never rejects: damaged input gives what was readable. */
export function decodeBody(bytes: Buffer, coding: Coding, bytesMax: number): Promise<Decoded> {
  return new Promise((resolve) => {
    const flush = { finishFlush: constants.Z_SYNC_FLUSH };
    // "deflate" is zlib by the book and raw deflate by some servers: the first byte tells.
    const isZlib = ((bytes[0] ?? 0) & 0x0f) === 8;
    const stream = coding === 'gzip' ? createGunzip(flush) : coding === 'br' ? createBrotliDecompress() : isZlib ? createInflate(flush) : createInflateRaw(flush);
    const chunks: Buffer[] = [];
    let total = 0;
    let isDone = false;
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
    stream.end(bytes);
  });
}
