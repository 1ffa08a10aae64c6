// Medians and spreads. The spread is (max − min) / median of the repetitions: with three to five of them nothing finer
// is honest.

export interface Measure {
  readonly median: number;
  readonly min: number;
  readonly max: number;
  /** (max − min) / median; 0.05 = 5 %. */
  readonly spread: number;
  readonly values: readonly number[];
}

export function summarize(values: readonly number[]): Measure {
  if (values.length === 0) throw new RangeError('summarize needs at least one value');
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  const median = sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] as number)) / 2;
  const min = sorted[0] as number;
  const max = sorted.at(-1) as number;
  return { median, min, max, spread: median === 0 ? 0 : (max - min) / median, values };
}

/** The p-quantile (0–1) of samples, nearest rank. */
export function quantile(samples: readonly number[], p: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(p * sorted.length) - 1))] ?? NaN;
}
