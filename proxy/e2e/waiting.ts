// How tests wait: for a condition, and for as long as a slow machine needs. A deadline here is there to end a test that
// would wait for ever, never to measure anything.

/**
 * For `t.setTimeout` of files that may take longer than the 30 s of a bare run; where bin/test.mjs sets a limit, that
 * one holds.
 */
export const testMsMax = Number(process.env['TAP_TIMEOUT'] ?? 900) * 1000;

export const patienceMs = 120_000;

/** Asks until `isTrue`; false when it does not come. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<boolean> {
  const startedMs = performance.now();
  while (!(await isTrue())) {
    if (performance.now() - startedMs > patienceMs) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return true;
}
