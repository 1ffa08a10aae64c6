// One clock for all threads of the process, in milliseconds with fractions. `performance.now()` begins anew in each
// thread; the system's monotonic clock behind it (process.hrtime) does not, and is too slow to be asked every time.

/** Monotonic, the same for all threads to a microsecond; 0 is some moment before the process began. */
export function createSharedClock(): () => number {
  const offsetMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();
  return () => offsetMs + performance.now();
}
