// A generation on its way to a node that has not its artifact: the bytes go along, compressed where the node takes
// that. They are read and compressed once for all nodes of an apply, and every request has the same pieces of memory.
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { GenerationRequest } from '#proxy/contract';

/** Divisible by three: the base64 of the pieces is the base64 of the whole. */
const pieceBytes = 3 * 256 * 1024;
/** By then all nodes of an apply have it. */
const forgetAfterMs = 60_000;
/** A sixth of the bytes for a third of a second of one core (29 MB, the core rule set); higher levels gain a sixth. */
const compression = { level: 1 };

export interface Body extends AsyncIterable<string | Buffer> {
  readonly bytes: number;
}

export function asBody(bytes: Buffer, head = '', tail = ''): Body {
  return {
    bytes: Buffer.byteLength(head) + bytes.length + Buffer.byteLength(tail),
    async *[Symbol.asyncIterator]() {
      if (head !== '') yield head;
      for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
      if (tail !== '') yield tail;
    },
  };
}

/** The request around the artifact. */
function around(generation: GenerationRequest, field: 'artifactBase64' | 'artifactGzipBase64'): [string, string] {
  const marker = '\u0001artifact';
  const text = JSON.stringify({ ...generation, artifactPath: '', [field]: marker });
  const [head = '', tail = ''] = text.split(JSON.stringify(marker).slice(1, -1));
  return [head, tail];
}

export class ArtifactBodies {
  private last: { readonly file: string; readonly bytes: Promise<Buffer> } | null = null;
  private timer: NodeJS.Timeout | undefined;

  /** Rejects with the system's reason where the file cannot be read. */
  async of(generation: GenerationRequest, file: string, isCompressed: boolean): Promise<Body> {
    if (!isCompressed) return withBytes(generation, file);
    const [head, tail] = around(generation, 'artifactGzipBase64');
    return asBody(await this.compressed(file), head, tail);
  }

  private compressed(file: string): Promise<Buffer> {
    if (this.last?.file !== file) {
      clearTimeout(this.timer);
      // From when it was read on: a file that was damaged and made anew must not be sent as it was for ever.
      this.timer = setTimeout(() => (this.last = null), forgetAfterMs).unref();
      const bytes = compress(file);
      const last = { file, bytes };
      bytes.catch(() => this.last === last && (this.last = null)); // the next one tries again
      this.last = last;
    }
    return this.last.bytes;
  }
}

async function compress(file: string): Promise<Buffer> {
  const small = await promisify(gzip)(await readFile(file), compression);
  return Buffer.from(small.toString('base64'), 'latin1');
}

/** For a node of a release before compression, read piece by piece: 20 MB must not pass through one string. */
async function withBytes(generation: GenerationRequest, file: string): Promise<Body> {
  const [head, tail] = around(generation, 'artifactBase64');
  const { size } = await stat(file);
  return {
    bytes: Buffer.byteLength(head) + Buffer.byteLength(tail) + Math.ceil(size / 3) * 4,
    async *[Symbol.asyncIterator]() {
      yield head;
      let rest: Buffer = Buffer.alloc(0);
      for await (const chunk of createReadStream(file, { highWaterMark: pieceBytes }) as AsyncIterable<Buffer>) {
        const all = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
        const whole = all.length - (all.length % 3);
        yield all.toString('base64', 0, whole);
        rest = all.subarray(whole);
      }
      yield rest.toString('base64') + tail;
    },
  };
}
