// Limits that several nodes share (rl_distributed): what workers leave for main, which exchanges it with the key-value
// store (main/gates/shared-rates.ts). A worker asks nobody: it takes its place in the table of its node, notes that it
// did, and goes on. Until main has heard what the others took, a place costs as many as there are nodes: so each node
// gives away its fair share of what is left, and no more, also when the store does not answer for an hour.
//
// Memory: a ring of 16,384 notes a worker (512 KB). Beyond, a place counts on this node only, and `lost` says so.
import type { Rate } from './rate-counters.js';

const ringNotes = 16_384;
const noteNumbers = 4;
/** Of all: on or off, nodes. Of a worker: written, read, lost. */
const headWords = 2;
const ringWords = 3;

const wordsOf = (workers: number): number => headWords + workers * ringWords;
/** Numbers lie at places that eight divides. */
const ringsAt = (workers: number): number => Math.ceil((wordsOf(workers) * 4) / 8) * 8;

export function createExchangeMemory(workers: number): SharedArrayBuffer {
  return new SharedArrayBuffer(ringsAt(workers) + workers * ringNotes * noteNumbers * 8);
}

/** A place that was taken: the key as the table has it, and the limit. */
export interface TakenPlace {
  readonly low: number;
  readonly high: number;
  readonly events: number;
  readonly windowSeconds: number;
}

export class RateExchange {
  private readonly words: Int32Array;
  private readonly numbers: Float64Array;

  /** `worker`: whose ring `note` writes. */
  constructor(
    buffer: SharedArrayBuffer,
    private readonly workers: number,
    private readonly worker = 0,
  ) {
    this.words = new Int32Array(buffer, 0, wordsOf(workers));
    this.numbers = new Float64Array(buffer, ringsAt(workers));
  }

  /** Nodes that share the limits; 1 while there is nobody to share with. */
  get nodes(): number {
    return this.words[0] === 1 ? Math.max(1, this.words[1] as number) : 1;
  }

  /** By main. */
  set(isOn: boolean, nodes: number): void {
    Atomics.store(this.words, 1, nodes);
    Atomics.store(this.words, 0, isOn ? 1 : 0);
  }

  /** By a worker, for each place that it took; allocates nothing. */
  note(rate: Rate, low: number, high: number): void {
    const { words, numbers, worker } = this;
    if (words[0] !== 1) return;
    const at = headWords + worker * ringWords;
    const written = words[at] as number;
    if (((written - Atomics.load(words, at + 1)) | 0) >= ringNotes) {
      Atomics.add(words, at + 2, 1);
      return;
    }
    const place = (worker * ringNotes + ((written >>> 0) % ringNotes)) * noteNumbers;
    numbers[place] = low;
    numbers[place + 1] = high;
    numbers[place + 2] = rate.events;
    numbers[place + 3] = rate.windowSeconds;
    Atomics.store(words, at, (written + 1) | 0);
  }

  /** By main: all that was noted since. */
  drain(visit: (taken: TakenPlace) => void): void {
    const { words, numbers } = this;
    for (let worker = 0; worker < this.workers; worker += 1) {
      const at = headWords + worker * ringWords;
      const written = Atomics.load(words, at);
      for (let read = words[at + 1] as number; read !== written; read = (read + 1) | 0) {
        const place = (worker * ringNotes + ((read >>> 0) % ringNotes)) * noteNumbers;
        visit({
          low: numbers[place] as number,
          high: numbers[place + 1] as number,
          events: numbers[place + 2] as number,
          windowSeconds: numbers[place + 3] as number,
        });
      }
      Atomics.store(words, at + 1, written);
    }
  }

  /** Notes that there was no room for, since the start. */
  get lost(): number {
    let lost = 0;
    for (let worker = 0; worker < this.workers; worker += 1)
      lost += Atomics.load(this.words, headWords + worker * ringWords + 2);
    return lost;
  }
}
