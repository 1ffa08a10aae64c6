// A copy of an answer while it is relayed, for what is looked for in it once the request is through. Bounded: an answer
// that is longer is not kept at all, because part of a JSON text is none.
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { findField } from '../http/header-fields.js';
import type { TrafficObserver } from './observer.js';

const wireBytesMax = 64 * 1024;
const decodedBytesMax = 256 * 1024;

const decoders: Readonly<Record<string, (bytes: Buffer, options: { maxOutputLength: number }) => Buffer>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

export class ReplySample {
  private chunks: Buffer[] = [];
  private bytes = 0;

  /** `chunk` is borrowed: it is copied. */
  add(chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.bytes > wireBytesMax) this.chunks = [];
    else this.chunks.push(Buffer.from(chunk));
  }

  /** Decoded; null: too long, empty, or of a coding that is not known or was not kept to. */
  take(responseHeaders: readonly string[]): Buffer | null {
    const { chunks, bytes } = this;
    this.chunks = [];
    if (bytes === 0 || bytes > wireBytesMax) return null;
    const body = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
    const coding = findField(responseHeaders, 'content-encoding')?.trim().toLowerCase() ?? 'identity';
    if (coding === 'identity' || coding === '') return body;
    try {
      return decoders[coding]?.(body, { maxOutputLength: decodedBytesMax }) ?? null;
    } catch {
      return null; // it calls itself coded and is not, or unpacks to more than is looked at
    }
  }
}

/** What a request of the road has of it. */
export interface SampledRequest {
  readonly context: { readonly observer: TrafficObserver | null };
  readonly generation: { readonly config: { readonly piiDetect: boolean; readonly apiDiscoveryEnabled: boolean } };
  readonly head: { readonly method: string; readonly uri: string };
  readonly response: { readonly status: number; readonly fields: readonly string[] };
  readonly atMs: number;
  readonly isSuspicious: boolean;
  replySample?: ReplySample | null | undefined;
}

/** The answer is about to be relayed: some are copied meanwhile, for personal data and objects to be looked for. */
export function sampleReply(request: SampledRequest): void {
  const { observer } = request.context;
  const { piiDetect: detectsPii, apiDiscoveryEnabled } = request.generation.config;
  if (observer === null || !apiDiscoveryEnabled || request.isSuspicious) return;
  const { method, uri } = request.head;
  const { status, fields: responseHeaders } = request.response;
  if (observer.wantsReply({ method, uri, status, responseHeaders, detectsPii }, request.atMs))
    request.replySample = new ReplySample();
}
