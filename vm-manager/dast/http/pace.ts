// How fast and how much may be asked of one target. The rate is of the target: a scan, what it tries behind the
// firewall and a finding that is proved again wait for their turns in one queue. The budget is of a run, and of the run
// that goes on beside it.
import { setTimeout as pause } from 'node:timers/promises';
import { ScanOver } from '../model.js';
import type { Bounds } from './bounds.js';

const slowest = 32;

/** When the next request may leave; requests leave at least an interval apart. */
export class Rate {
  #nextAt = 0;
  /** The interval between requests is so many times the one of the rate. */
  #slowness = 1;
  #turns: Promise<void> = Promise.resolve();

  get idleMs(): number {
    return performance.now() - this.#nextAt;
  }

  /** Resolves in the order of the calls; at once for a signal that is aborted. */
  async turn(perSecond: number, signal: AbortSignal): Promise<void> {
    const mine = this.#turns.then(async () => {
      const waitMs = this.#nextAt - performance.now();
      // timers know whole milliseconds alone; the one way in which this fails is the stop, which is asked for next
      if (waitMs >= 1) await pause(waitMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      this.#nextAt = Math.max(this.#nextAt, performance.now() - 1) + (1000 / perSecond) * this.#slowness;
    });
    this.#turns = mine;
    return mine;
  }

  slow(): void {
    this.#slowness = Math.min(this.#slowness * 2, slowest);
  }

  /** Back to the rate by and by. */
  ease(): void {
    this.#slowness = Math.max(1, this.#slowness * 0.8);
  }

  /** The target names the seconds that it wants to be left alone. */
  rest(seconds: number): void {
    this.#nextAt = Math.max(this.#nextAt, performance.now() + Math.min(seconds, 60) * 1000);
  }
}

const rates = new Map<string, Rate>();
const ratesMax = 1000;

/** Of the target's origin, in this process: two targets of one origin share it. */
export function rateOf(origin: string): Rate {
  const known = rates.get(origin);
  if (known !== undefined) return known;
  if (rates.size >= ratesMax) for (const [name, { idleMs }] of rates) if (idleMs > 60_000) rates.delete(name);
  const made = new Rate();
  rates.set(origin, made);
  return made;
}

export interface ClientCounts {
  requests: number;
  failed: number;
  refused: Record<'out_of_scope' | 'excluded' | 'method', number>;
  slowed: number;
}

type Limits = Pick<Bounds, 'requestsMax' | 'secondsMax'>;

export class Budget {
  readonly counts: ClientCounts = {
    requests: 0,
    failed: 0,
    refused: { out_of_scope: 0, excluded: 0, method: 0 },
    slowed: 0,
  };
  readonly #limits: Limits;
  /** Of the run that goes on at the same time: what this one takes is taken from it, too. */
  readonly #beside: Budget | null;
  readonly #began = performance.now();

  constructor(limits: Limits, beside: Budget | null = null) {
    [this.#limits, this.#beside] = [limits, beside];
  }

  /** Throws ScanOver where nothing is left. */
  take(): void {
    if (!this.#hasMore()) {
      const used = this.counts.requests;
      throw new ScanOver('budget', `The budget of ${used} requests is used up.`);
    }
    this.#count();
  }

  /** Throws ScanOver where the time is over. */
  requireTime(): void {
    const { secondsMax } = this.#limits;
    if (performance.now() - this.#began > secondsMax * 1000)
      throw new ScanOver('time', `The scan took more than ${secondsMax} seconds.`);
  }

  #isUsedUp(): boolean {
    return this.counts.requests >= this.#limits.requestsMax;
  }

  #hasMore(): boolean {
    return !this.#isUsedUp() && (this.#beside === null || this.#beside.#hasMore());
  }

  #count(): void {
    this.counts.requests++;
    if (this.#beside !== null) this.#beside.#count();
  }
}
