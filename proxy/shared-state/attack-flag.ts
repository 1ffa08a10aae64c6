// What main and workers tell each other of attacks, in memory that all share: workers how many requests they have
// served, main whether attack mode is in force. Neither waits for the other.

/** More workers than anybody starts on one machine; those beyond are not counted. */
const workersMax = 256;

export function createAttackMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer((1 + workersMax) * 4);
}

export class AttackFlag {
  private readonly words: Int32Array;
  private readonly seen = new Uint32Array(workersMax);

  constructor(buffer: SharedArrayBuffer) {
    this.words = new Int32Array(buffer);
  }

  /** Read once for each request: a plain look, which is a turn late at worst. */
  get isUp(): boolean {
    return this.words[0] === 1;
  }

  raise(isUp: boolean): void {
    Atomics.store(this.words, 0, isUp ? 1 : 0);
  }

  /** By a worker, every now and then: all requests since it began. */
  tell(workerId: number, requests: number): void {
    if (workerId < workersMax) Atomics.store(this.words, 1 + workerId, requests | 0);
  }

  /** By main: requests of all workers since it asked last. A worker that was replaced begins at 0. */
  take(): number {
    let requests = 0;
    for (let worker = 0; worker < workersMax; worker += 1) {
      const total = Atomics.load(this.words, 1 + worker) >>> 0;
      const before = this.seen[worker] as number;
      // 2^32 requests later the counter begins anew, too; the difference is small then
      const passed = (total - before) >>> 0;
      requests += passed < 2 ** 31 ? passed : total;
      this.seen[worker] = total;
    }
    return requests;
  }
}
