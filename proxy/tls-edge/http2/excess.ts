// How much of what HTTP/2 allows one connection may do. Each costs its client a few bytes and this side a frame, a
// request or memory: requests taken back (CVE-2023-44487), settings and pings that have to be answered (CVE-2019-9512,
// CVE-2019-9515). Buckets that fill again with time, so that a connection that lives for days is not ended for its age.

export interface Allowance {
  /** So many at once … */
  readonly burst: number;
  /** … and so many a second in the long run. */
  readonly perSecond: number;
}

export const allowances = {
  /** A browser takes back all pictures of a page when somebody leaves it. */
  resets: { burst: 200, perSecond: 10 },
  /** A client says them once, and again when it resizes its windows. */
  settings: { burst: 20, perSecond: 1 },
  /** gRPC measures the line by pings, with every few reads. */
  pings: { burst: 200, perSecond: 10 },
  /** Requests beyond those that it was told it may have at a time; some leave before it was told. */
  streams: { burst: 100, perSecond: 1 },
} as const satisfies Readonly<Record<string, Allowance>>;

/**
 * Bytes of a connection that are neither body nor head of a request: windows, priorities, empty frames, frames of
 * unknown types. Some are needed: two window updates may come for each small piece of a response, so what is sent pays
 * for them, and so does each piece of a body for its frame. A body that nobody reads may fill its window.
 */
export const idleBytes = {
  burst: 256 * 1024,
  perSecond: 16 * 1024,
  perSentByte: 0.5,
  perRequest: 1024,
  perBody: 65_535,
  perChunk: 64,
} as const;

export class Bucket {
  private readonly allowance: Allowance;
  private left: number;
  private atMs: number;

  constructor(
    allowance: Allowance,
    nowMs: number,
    /** Of `burst`, 0 to 1. */
    share = 1,
  ) {
    this.allowance = share === 1 ? allowance : { ...allowance, burst: Math.max(1, allowance.burst * share) };
    this.left = this.allowance.burst;
    this.atMs = nowMs;
  }

  /** False: it is empty. `nowMs` by a monotonic clock. */
  take(nowMs: number, count = 1): boolean {
    const { burst, perSecond } = this.allowance;
    this.left = Math.min(burst, this.left + ((nowMs - this.atMs) * perSecond) / 1000);
    this.atMs = nowMs;
    if (this.left < count) return false;
    this.left -= count;
    return true;
  }
}
