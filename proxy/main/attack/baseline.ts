// How many requests a minute are usual, learned from what comes. A sample is the number of requests of one minute; the
// baseline is the median of the last sixty, so that half an hour of anything moves nothing by itself.
//
// Slow poisoning, by somebody who raises the traffic little by little so that a later flood looks usual, is bounded
// twice: the baseline at most doubles within an hour, and is never more than twice the median of the highest baselines
// of the last seven days, once three days are known. It falls as fast as the median does. Below attack_min_rpm divided
// by attack_spike_factor growth is free, because nothing below attack_min_rpm is an attack.
//
// Rejected: a mean with a deviation (one flood moves both), a profile by hour of the week (it needs weeks to say
// anything, and a median of an hour follows a usual morning: a rise to the tenfold in three hours stays below the
// threefold of the baseline). Memory: 60 + 7 numbers.

const samplesMax = 60;
const daysMax = 7;
const daysKnown = 3;
/** Minutes before the baseline says anything. */
export const learnMinutes = 3;
const growthPerMinute = 2 ** (1 / 60);
const dayMs = 86_400_000;

export function medianOf(values: readonly number[]): number {
  if (values.length === 0) return 0;
  const sorted = [...values].sort((left, right) => left - right);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}

/** What outlives a restart. */
export interface SavedBaseline {
  readonly rpm: number;
  readonly samples: readonly number[];
  readonly day: number;
  readonly dayHigh: number;
  readonly highs: readonly number[];
}

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0;
const isCounts = (value: unknown, most: number): value is readonly number[] =>
  Array.isArray(value) && value.length <= most && value.every(isCount);

/** null for what is no saved baseline. */
export function readBaseline(value: unknown): SavedBaseline | null {
  const { rpm, samples, day, dayHigh, highs } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (!isCount(rpm) || !isCount(day) || !isCount(dayHigh)) return null;
  if (!isCounts(samples, samplesMax) || !isCounts(highs, daysMax)) return null;
  return { rpm, samples, day, dayHigh, highs };
}

export class Baseline {
  private samples: number[] = [];
  private highs: number[] = [];
  private day = 0;
  private dayHigh = 0;
  /** Requests per minute. */
  rpm = 0;

  constructor(saved: SavedBaseline | null = null) {
    if (saved === null) return;
    this.rpm = saved.rpm;
    this.samples = [...saved.samples];
    this.day = saved.day;
    this.dayHigh = saved.dayHigh;
    this.highs = [...saved.highs];
  }

  get isLearned(): boolean {
    return this.samples.length >= learnMinutes;
  }

  /** Minutes that are known, up to sixty. */
  get minutes(): number {
    return this.samples.length;
  }

  save(): SavedBaseline {
    const { rpm, samples, day, dayHigh, highs } = this;
    return { rpm, samples: [...samples], day, dayHigh, highs: [...highs] };
  }

  /** One more minute. `wallMs`: for telling days apart; `floor`: up to where growth is free, requests per minute. */
  learn(sample: number, wallMs: number, floor: number): void {
    const wasLearned = this.isLearned;
    this.samples.push(sample);
    if (this.samples.length > samplesMax) this.samples.shift();
    const recent = medianOf(this.samples);
    const ceiling = wasLearned ? Math.max(floor, this.rpm * growthPerMinute) : Number.POSITIVE_INFINITY;
    const ofDays = this.highs.length < daysKnown ? Number.POSITIVE_INFINITY : Math.max(floor, 2 * medianOf(this.highs));
    this.rpm = Math.min(recent, ceiling, ofDays);
    this.noteDay(Math.floor(wallMs / dayMs));
  }

  private noteDay(day: number): void {
    if (day !== this.day) {
      if (this.day !== 0) this.highs.push(this.dayHigh);
      if (this.highs.length > daysMax) this.highs.shift();
      this.day = day;
      this.dayHigh = 0;
    }
    this.dayHigh = Math.max(this.dayHigh, this.rpm);
  }
}
