// Durations by size, plain numbers that threads can send each other.

/** Upper bounds in seconds. The inspection ones are far below those of whole requests. */
export const durationBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;
export const inspectionBounds = [
  0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1,
] as const;

export interface HistogramSnapshot {
  /** One per bound, then one for the rest; not cumulative. */
  readonly counts: number[];
  sumSeconds: number;
}

export function emptyHistogram(bounds: readonly number[]): HistogramSnapshot {
  return { counts: new Array<number>(bounds.length + 1).fill(0), sumSeconds: 0 };
}

export function observe(histogram: HistogramSnapshot, bounds: readonly number[], seconds: number): void {
  let index = 0;
  while (index < bounds.length && seconds > (bounds[index] as number)) index += 1;
  histogram.counts[index] = (histogram.counts[index] as number) + 1;
  histogram.sumSeconds += seconds;
}

export function addHistogram(into: HistogramSnapshot, from: HistogramSnapshot): void {
  for (let index = 0; index < from.counts.length; index += 1)
    into.counts[index] = (into.counts[index] ?? 0) + (from.counts[index] ?? 0);
  into.sumSeconds += from.sumSeconds;
}
