// One clock for all threads of the process, in milliseconds with fractions. `performance.now()` begins anew in each
// thread; the system's monotonic clock behind it (process.hrtime) does not, and is too slow to be asked every time.

/** A moment of this thread's `performance.now()` → the same moment for all threads, to a microsecond. */
export function createSharedClock(): (momentMs: number) => number {
  const offsetMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();
  return (momentMs) => offsetMs + momentMs;
}
