// How the connections of one port are spread over the workers that share it. The kernel deals new connections out by
// chance and never moves one: what came while a worker was away, or before it listened, stays with the others for as
// long as clients keep it. So a worker that has more than chance explains asks some clients, with the answer that they
// get anyway, to come back (`Connection: close`); where they come back to is dealt anew.
import type { ConnectionShare } from './listener.js';

/** A worker that does not listen; connections could not go there. */
const away = -1;

/** Between two such answers of a worker: what comes back needs time to arrive somewhere. */
const pauseMs = 5;

/** Memory that all workers see: one count each. */
export function createConnectionShares(workers: number): SharedArrayBuffer {
  const shares = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT * workers);
  new Int32Array(shares).fill(away);
  return shares;
}

/** Worker `index` is gone, however it went. */
export function forgetShare(shares: SharedArrayBuffer, index: number): void {
  Atomics.store(new Int32Array(shares), index, away);
}

/**
 * More than this is no chance: three standard deviations above the mean, when each of `total` connections went to each
 * of `workers` with the same probability (a binomial distribution), and at least one above it.
 */
export function crowdedBeyond(total: number, workers: number): number {
  const mean = total / workers;
  return mean + Math.max(1, 3 * Math.sqrt(mean * (1 - 1 / workers)));
}

/** The share of worker `index`, which listens from now on. `now`: a monotonic clock, ms. */
export function shareOf(shares: SharedArrayBuffer, index: number, now: () => number): ConnectionShare {
  const counts = new Int32Array(shares);
  let isLeft = false;
  let own = 0;
  let lastMs = Number.NEGATIVE_INFINITY;
  const change = (by: number): void => {
    own += by;
    if (!isLeft) Atomics.store(counts, index, own);
  };
  change(0);
  return {
    opened: () => change(1),
    closed: () => change(-1),
    leave: () => {
      isLeft = true;
      forgetShare(shares, index);
    },
    isCrowded: () => {
      if (own < 4 || isLeft) return false;
      let total = 0;
      let workers = 0;
      for (let worker = 0; worker < counts.length; worker += 1) {
        const count = Atomics.load(counts, worker);
        if (count === away) continue;
        total += count;
        workers += 1;
      }
      if (workers < 2 || own <= crowdedBeyond(total, workers)) return false;
      const nowMs = now();
      if (nowMs - lastMs < pauseMs) return false;
      lastMs = nowMs;
      return true;
    },
  };
}
