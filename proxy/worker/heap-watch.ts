// A worker that comes near the limit of its heap is replaced while it still can finish what it has: V8 ends a thread
// that reaches it at once, with every request that it carried.
import { getHeapStatistics } from 'node:v8';

const usedMax = 0.75;
/** Garbage that nobody collected yet looks the same; what is there at several looks in a row is used. */
const looksInRow = 3;

export class HeapWatch {
  private high = 0;

  constructor(
    private readonly read: () => {
      readonly used_heap_size: number;
      readonly heap_size_limit: number;
    } = getHeapStatistics,
  ) {}

  /** Asked every half second; why the worker is to be replaced, or null. */
  look(): string | null {
    const { used_heap_size: used, heap_size_limit: limit } = this.read();
    this.high = used > limit * usedMax ? this.high + 1 : 0;
    if (this.high < looksInRow) return null;
    const megabytes = (bytes: number): number => Math.round(bytes / 1024 / 1024);
    return `its heap holds ${megabytes(used)} of at most ${megabytes(limit)} MB`;
  }
}
