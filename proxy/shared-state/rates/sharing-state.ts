// What main and the workers of a node tell each other of limits that several nodes share (rl_distributed): whether it
// is wanted, how many nodes there are, and which workers have a store that answers. Places themselves are the workers'
// own business (admit/limits/leases/).

/** Of all: on or off, nodes. Of a worker: whether its store answers, places that nobody was told of. */
const headWords = 2;
const workerWords = 2;

export function createSharingMemory(workers: number): SharedArrayBuffer {
  return new SharedArrayBuffer((headWords + workers * workerWords) * Int32Array.BYTES_PER_ELEMENT);
}

export class SharingState {
  private readonly words: Int32Array;

  /** `worker`: whose words `setUp` and `addLost` write. */
  constructor(
    buffer: SharedArrayBuffer,
    private readonly workers: number,
    private readonly worker = 0,
  ) {
    this.words = new Int32Array(buffer);
  }

  get isOn(): boolean {
    return this.words[0] === 1;
  }

  /** Nodes that share the limits; 1 while there is nobody to share with. */
  get nodes(): number {
    return this.isOn ? Math.max(1, this.words[1] as number) : 1;
  }

  /** By main. */
  set(isOn: boolean, nodes: number): void {
    Atomics.store(this.words, 1, nodes);
    Atomics.store(this.words, 0, isOn ? 1 : 0);
  }

  /** By a worker: whether its store answers. */
  setUp(isUp: boolean): void {
    Atomics.store(this.words, headWords + this.worker * workerWords, isUp ? 1 : 0);
  }

  /** By a worker: places that were given away and that the store will not hear of. */
  addLost(places: number): void {
    Atomics.add(this.words, headWords + this.worker * workerWords + 1, places);
  }

  /** Whether every worker has a store that answers. */
  get areAllUp(): boolean {
    for (let worker = 0; worker < this.workers; worker += 1)
      if (Atomics.load(this.words, headWords + worker * workerWords) !== 1) return false;
    return true;
  }

  /** By main: worker `index` is gone. */
  forget(index: number): void {
    Atomics.store(this.words, headWords + index * workerWords, 0);
  }

  /** Places of all workers that the store did not hear of, since the start. */
  get lost(): number {
    let lost = 0;
    for (let worker = 0; worker < this.workers; worker += 1)
      lost += Atomics.load(this.words, headWords + worker * workerWords + 1);
    return lost;
  }
}
