// The request that the code runs for, as far as the sensor keeps it: the head by reference, and the first bytes of the
// body as they come. Values are taken out of it when something dangerous is about to be called, not before.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingHttpHeaders } from 'node:http';
import { valuesOf, type Value } from './values.js';

export const bodyBytesMax = 65_536;

export interface Head {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/** A path that a program put together of a directory and of what came with the request. */
export interface Joined {
  readonly result: string;
  /** The directory that the part with dots was put behind. */
  readonly base: string;
  readonly part: string;
  /** Where the program did it: it may compare the result there. */
  readonly place: { readonly path: string; readonly line: number | null };
}

const joinedMax = 50;

export class Visit {
  readonly head: Head;
  readonly chunks: Uint8Array[] = [];
  readonly joined: Joined[] = [];
  #bytes = 0;
  #values: readonly Value[] | null = null;
  #valuesAt = -1;
  /** Reports of this request, so that one does not fill the queue. */
  reports = 0;
  /** What was reported of it: one call of a library may come by two places that are looked at. */
  readonly told = new Set<string>();

  constructor(head: Head) {
    this.head = head;
  }

  /** A part of the body, kept until there are 64 KiB. */
  take(chunk: unknown): void {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, 'latin1') : chunk;
    if (!(bytes instanceof Uint8Array) || this.#bytes >= bodyBytesMax) return;
    const part = bytes.subarray(0, bodyBytesMax - this.#bytes);
    this.chunks.push(part);
    this.#bytes += part.byteLength;
  }

  noteJoined(joined: Joined): void {
    if (this.joined.length < joinedMax) this.joined.push(joined);
  }

  /** What came with the request so far; parsed again where more of the body has come. */
  values(): readonly Value[] {
    if (this.#values === null || this.#valuesAt !== this.#bytes) {
      this.#values = valuesOf(this.head, this.chunks);
      this.#valuesAt = this.#bytes;
    }
    return this.#values;
  }
}

const storage = new AsyncLocalStorage<Visit | undefined>();

/** Of the code that runs now; none outside of a request. */
export const currentVisit = (): Visit | undefined => storage.getStore();
export const runAs = <T>(visit: Visit, work: () => T): T => storage.run(visit, work);
/** What the sensor itself does is of no request. */
export const runAlone = <T>(work: () => T): T => storage.run(undefined, work);
