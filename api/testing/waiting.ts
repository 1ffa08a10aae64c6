// How tests wait: for a condition, and for as long as a slow machine needs. A deadline here is there to end a test that
// would wait for ever, not to measure anything.

/**
 * For `t.setTimeout`: a bare `node` run allows 30 s for a whole file; where bin/test.mjs sets a limit, that one holds.
 */
export const testMsMax = Number(process.env['TAP_TIMEOUT'] ?? 900) * 1000;

const patienceMs = 180_000;
const betweenLooksMs = 20;
const betweenLooksMsMax = 500;
/** A look may cost the work of a request: what takes long is looked at seldom, so that it does not take longer. */
const shareOfWait = 0.15;

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Looks until it is so. Rejects with `what` when it does not come, and with whatever looking throws. */
export async function until(what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const startedMs = performance.now();
  while (!(await isTrue())) {
    const waitedMs = performance.now() - startedMs;
    if (waitedMs > patienceMs) throw new Error(`waited ${patienceMs / 1000} s in vain: ${what}`);
    await pause(Math.min(Math.max(betweenLooksMs, waitedMs * shareOfWait), betweenLooksMsMax));
  }
}
