// How many ordinary requests the embedded database takes. It lies on the disk of the data plane and has one connection:
// at 3,200 requests a second it would grow by 130 GB a day. Events, and requests that were not plainly passed, are
// always taken; what is left out is counted as sampled out.

export interface OrdinaryLimit {
  readonly perSecond: number;
  /** What may come at once after a quiet time. */
  readonly burst: number;
}

/** 1.7 million a day, about 0.8 GB; a test drive never meets it. */
export const ordinaryLimit: OrdinaryLimit = { perSecond: 20, burst: 100_000 };

/** A bucket of tokens: how many of `wanted` may be stored at `nowMs`. A clock that is set back refills nothing. */
export function createOrdinaryBucket({ perSecond, burst }: OrdinaryLimit): (wanted: number, nowMs: number) => number {
  let tokens = burst;
  let lastMs = -Infinity;
  return (wanted, nowMs) => {
    if (lastMs !== -Infinity && nowMs > lastMs)
      tokens = Math.min(burst, tokens + ((nowMs - lastMs) / 1000) * perSecond);
    lastMs = nowMs;
    const taken = Math.min(wanted, Math.floor(tokens));
    tokens -= taken;
    return taken;
  };
}
