// Whether a worker still comes round. One in a loop that never ends dies of nothing: its sockets go on taking
// connections, and nobody on them is ever answered. So each counts, and main looks at the count.

export const pulseBytes = Int32Array.BYTES_PER_ELEMENT;

/** Twenty seconds with the usual second between looks: nothing that a worker does in one go takes a tenth of it. */
const looksMax = 20;

/** Called by the worker now and then. */
export function beat(pulse: SharedArrayBuffer): void {
  Atomics.add(new Int32Array(pulse), 0, 1);
}

/**
 * Main's side, for one worker. Its looks are turns of its own loop: while the whole process or machine stands still it
 * looks at nothing, and takes nobody for hanging.
 */
export class PulseWatch {
  private readonly count: Int32Array;
  private seen = 0;
  private looks = 0;

  constructor(pulse: SharedArrayBuffer) {
    this.count = new Int32Array(pulse);
  }

  /** True, once: nothing came for so many looks; never before the first beat. */
  look(): boolean {
    const count = Atomics.load(this.count, 0);
    this.looks = count === this.seen ? this.looks + 1 : 0;
    this.seen = count;
    return count !== 0 && this.looks === looksMax;
  }
}
