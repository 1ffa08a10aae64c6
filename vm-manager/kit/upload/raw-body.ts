// The bytes of a body as they came, beside what they were read as: a signature is over the bytes.
import { ApiError } from '#http-kit';
import type { FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';

const bodies = new WeakMap<FastifyRequest, Buffer>();

/** A hook before parsing: keeps the bytes, at most so many. Throws ApiError 413. */
export const keepRawBody =
  (bytesMax: number) =>
  async (request: FastifyRequest, _reply: unknown, payload: Readable): Promise<Readable> => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of payload) {
      bytes += (chunk as Buffer).length;
      if (bytes > bytesMax) throw new ApiError('body_too_large', `The body is larger than ${bytesMax} bytes.`);
      chunks.push(chunk as Buffer);
    }
    const body = Buffer.concat(chunks);
    bodies.set(request, body);
    return Object.assign(Readable.from([body]), { receivedEncodedLength: bytes });
  };

/** Of an endpoint with `raw`. */
export function rawBodyOf(request: FastifyRequest): Buffer {
  const body = bodies.get(request);
  if (body === undefined) throw new Error('an endpoint without `raw` asked for the bytes of its body');
  return body;
}
