// Requests that ended workers: by what they are known again, how often that happened, and until when they are refused.
// Main writes (it hears of the ends), the gate of every worker reads, in memory that they share.
//
// A request is known by method and path, without the query, which whoever wants to may change: of one client after two
// ends within ten minutes, of everybody (also of those behind a trusted proxy) after five. The first refusal lasts ten
// minutes, each further one twice as long.
import type { BanTable } from './ban-table.js';
import type { ClientKey } from './client-key.js';

const windowMs = 600_000;
const ofClient = { threshold: 2, windowMs, firstMs: windowMs } as const;
const ofEverybody = { threshold: 5, windowMs, firstMs: windowMs } as const;

/** 1,024 requests, 45 KB; beyond, the one that would be forgotten first gives way. */
export const crashEntries = 1024;
/** How far back ends are counted, in milliseconds. */
export const crashWindowMs = windowMs;

/** The table of what is under way cuts longer ones (worker/flight-table.ts). */
const pathCharsMax = 200;

export interface CrashingRequest {
  readonly method: string;
  readonly uri: string;
  readonly client: string;
}

function fingerprintOf({ method, uri }: Pick<CrashingRequest, 'method' | 'uri'>): string {
  const query = uri.indexOf('?');
  return `${method}\n${uri.slice(0, query < 0 ? pathCharsMax : Math.min(query, pathCharsMax))}`;
}

export class CrashRequests {
  private readonly armed: Int32Array;

  /** `armed`: a number that is 0 until something is refused, so that nobody pays for what never happens. */
  constructor(
    private readonly table: BanTable,
    armed: SharedArrayBuffer,
  ) {
    this.armed = new Int32Array(armed);
  }

  /** A worker ended at this request. `key`: any; it is overwritten. Times are of the clock that all threads share. */
  note(request: CrashingRequest, key: ClientKey, nowMs: number): void {
    const fingerprint = fingerprintOf(request);
    key.readText(`${request.client}\n${fingerprint}`);
    this.table.offend(key.low, key.high, nowMs, ofClient);
    key.readText(fingerprint);
    this.table.offend(key.low, key.high, nowMs, ofEverybody);
    Atomics.store(this.armed, 0, 1);
  }

  /** Until when it is refused; 0: it is not. */
  refusedUntil(request: CrashingRequest, key: ClientKey, nowMs: number): number {
    if (Atomics.load(this.armed, 0) === 0) return 0;
    const fingerprint = fingerprintOf(request);
    key.readText(`${request.client}\n${fingerprint}`);
    const mine = this.table.bannedUntil(key.low, key.high, nowMs);
    if (mine > 0) return mine;
    key.readText(fingerprint);
    return this.table.bannedUntil(key.low, key.high, nowMs);
  }
}
