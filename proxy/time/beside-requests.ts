// Long work of a thread that answers requests: done in slices, and between two of them whoever waits is answered.
import type { Steps } from '#engine';

/** Milliseconds of work after which requests have their turn; a step that takes longer is not interrupted. */
const sliceMs = 4;

/**
 * Drives `steps` to their end, in slices of `sliceMs` milliseconds. Rejects with what a step throws. What is decided
 * between two slices (another order of main, a stop) must not be undone by what comes after: its owner looks to that.
 */
export async function besideRequests<Value>(steps: Steps<Value>): Promise<Value> {
  for (;;) {
    const startedMs = performance.now();
    do {
      const { done, value } = steps.next();
      if (done === true) return value;
    } while (performance.now() - startedMs < sliceMs);
    // Behind an immediate the loop has looked at its sockets; a timer would come before them.
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
}
