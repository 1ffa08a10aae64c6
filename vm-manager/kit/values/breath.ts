// Long work in turns: other requests have several turns of the loop each, and none of theirs waits longer than this.
import { setImmediate } from 'node:timers/promises';

const breathMs = 5;

/** Gives other requests their turn where work has lasted. Use: `await breath.take()` within the loop. */
export class Breath {
  private last = performance.now();

  take(): Promise<void> | undefined {
    return performance.now() - this.last < breathMs ? undefined : this.pause();
  }

  private async pause(): Promise<void> {
    await setImmediate();
    this.last = performance.now();
  }
}
