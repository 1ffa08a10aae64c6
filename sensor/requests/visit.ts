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

/** Dots, or a root at the beginning of a value, in any writing of them. */
const climbs = /\.\.|%2[ef]|=\/|"\s*\/|\n\/|\\u002[ef]|\\\//i;

const noChunks: readonly Uint8Array[] = [];
const noneJoined: readonly Joined[] = [];

export class Visit {
  readonly head: Head;
  /** Most requests need none of these: they share one list until then. */
  chunks: readonly Uint8Array[] = noChunks;
  joined: readonly Joined[] = noneJoined;
  #bytes = 0;
  #values: readonly Value[] | null = null;
  #valuesAt = -1;
  #climbs = false;
  #climbsAt = -1;
  /** Reports of this request, so that one does not fill the queue. */
  reports = 0;
  /** What was reported of it: one call of a library may come by two places that are looked at. */
  told: Set<string> | null = null;

  constructor(head: Head) {
    this.head = head;
  }

  /** A part of the body, kept until there are 64 KiB. */
  take(chunk: unknown): void {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, 'latin1') : chunk;
    if (!(bytes instanceof Uint8Array) || this.#bytes >= bodyBytesMax) return;
    const part = bytes.subarray(0, bodyBytesMax - this.#bytes);
    if (this.chunks === noChunks) this.chunks = [part];
    else (this.chunks as Uint8Array[]).push(part);
    this.#bytes += part.byteLength;
  }

  noteJoined(joined: Joined): void {
    if (this.joined === noneJoined) this.joined = [joined];
    else if (this.joined.length < joinedMax) (this.joined as Joined[]).push(joined);
  }

  /** Whether anything of it can be a path that leaves its directory: asked before each file, so without parsing. */
  mayClimb(): boolean {
    const { url = '', headers } = this.head;
    if (climbs.test(url) || climbs.test(headers.cookie ?? '')) return true;
    if (this.#bytes === 0) return false;
    if (this.#climbsAt !== this.#bytes) {
      this.#climbsAt = this.#bytes;
      this.#climbs =
        headers['content-encoding'] !== undefined || climbs.test(Buffer.concat(this.chunks).toString('latin1'));
    }
    return this.#climbs;
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

/** Requests in flight that are looked at together; of more the oldest are left out. */
const crowdMax = 128;
interface Flight {
  readonly visit: Visit;
  readonly reply: Ending;
}
/** What says when an answer is over; of http/2 its stream does. */
interface Ending {
  readonly destroyed?: boolean;
  readonly stream?: { readonly destroyed?: boolean } | null;
}
/**
 * By the order in which they came. Those that are over are dropped when somebody looks, and when there are many: to be
 * told of each end would cost each request a listener.
 */
let inFlight: Flight[] = [];
const isOver = ({ reply }: Flight): boolean => reply.destroyed === true || reply.stream?.destroyed === true;
const dropOver = (): void => {
  for (const one of inFlight) if (isOver(one)) return void (inFlight = inFlight.filter((other) => !isOver(other)));
};

/** All requests in flight as one: which of them it is says the value that is found. */
class Crowd extends Visit {
  constructor() {
    super({ headers: {} });
  }

  override mayClimb(): boolean {
    for (const { visit } of inFlight) if (visit.mayClimb()) return true;
    return false;
  }

  override values(): readonly Value[] {
    const all: Value[] = [];
    for (const { visit } of inFlight) for (const value of visit.values()) all.push({ ...value, of: visit });
    return all;
  }
}
const crowd = new Crowd();

/**
 * From Node.js 24 on (and on 22 with its flag) the request that code runs for is known at next to no cost. Before, to
 * know it slows down each promise of the application by hooks, a tenth of its time and more: there the requests in
 * flight are told apart by their values.
 */
const isExact =
  Number(process.versions.node.split('.', 1)[0]) >= 24 ||
  [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].some((one) => one.includes('-async-context-frame'));
const storage = isExact ? new AsyncLocalStorage<Visit | undefined>() : null;
let alone = 0;

/** Of the code that runs now; none outside of a request. */
export function currentVisit(): Visit | undefined {
  if (storage !== null) return storage.getStore();
  if (alone > 0 || inFlight.length === 0) return undefined;
  dropOver();
  return inFlight.length === 0 ? undefined : crowd;
}

/** So many are kept before those that are over are looked for. */
const heapMax = 32;

/** Runs what answers the request; `reply` says when that is over. */
export function runAs<T>(visit: Visit, reply: unknown, work: () => T): T {
  if (storage !== null) return storage.run(visit, work);
  if (inFlight.length >= heapMax) {
    dropOver();
    if (inFlight.length >= crowdMax) inFlight.shift();
  }
  inFlight.push({ visit, reply: reply ?? {} });
  return work();
}

/** What the sensor itself does is of no request. */
export function runAlone<T>(work: () => T): T {
  if (storage !== null) return storage.run(undefined, work);
  alone++;
  try {
    return work();
  } finally {
    alone--;
  }
}

/** Whether another request in flight, of another address, has the same value: then it may be either. */
export function isAmbiguous(visit: Visit, text: string): boolean {
  if (storage !== null) return false;
  const path = visit.head.url?.split('?', 1)[0];
  for (const { visit: other } of inFlight)
    if (other !== visit && other.head.url?.split('?', 1)[0] !== path && other.values().some((one) => one.text === text))
      return true;
  return false;
}
