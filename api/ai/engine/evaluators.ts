// Each evaluator by itself: one that throws, or does not come back in its time, is reported and harms no other. What it
// would have said is missing from the vector, so that a replay leaves it out as well.
import { score, layerSignals, type Scored } from './score.js';
import { layers, type FeatureVector, type Layer, type Weights } from './vector.js';

export interface EvaluatorReport {
  readonly name: string;
  readonly failures: number;
  /** The last one; null: there was none in this round. */
  readonly error: string | null;
  readonly took_ms: number;
}

export class Evaluators {
  private readonly reports = new Map<string, { failures: number; error: string | null; tookMs: number }>();

  constructor(private readonly clock: () => number = () => performance.now()) {}

  private of(name: string): { failures: number; error: string | null; tookMs: number } {
    let report = this.reports.get(name);
    if (report === undefined) this.reports.set(name, (report = { failures: 0, error: null, tookMs: 0 }));
    return report;
  }

  failed(name: string, error: unknown): void {
    const report = this.of(name);
    report.failures += 1;
    report.error = (error instanceof Error ? error.message : String(error)).slice(0, 500);
  }

  /** null: it failed, or took longer than `timeoutMs`. */
  async ask<T>(name: string, timeoutMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T | null> {
    const beganMs = this.clock();
    const over = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        over.abort();
        reject(new Error(`it took longer than ${timeoutMs} ms`));
      }, timeoutMs);
    });
    this.of(name).error = null;
    try {
      const asked = (async () => work(over.signal))();
      return await Promise.race([asked, late]);
    } catch (error) {
      this.failed(name, error);
      return null;
    } finally {
      clearTimeout(timer);
      this.of(name).tookMs = Math.round(this.clock() - beganMs);
    }
  }

  /** The verdict on a vector, with the layers that can say something; the vector names those that cannot. */
  score(
    vector: FeatureVector,
    weights: Weights,
    threshold: number,
    scorer: typeof score = score,
    signalsOf: typeof layerSignals = layerSignals,
  ): { readonly vector: FeatureVector; readonly scored: Scored } {
    try {
      return { vector, scored: scorer(vector, weights, threshold) };
    } catch {
      const broken = layers.filter((layer) => this.isBroken(layer, vector, signalsOf));
      const without = { ...vector, missing: [...new Set([...vector.missing, ...broken])] };
      return { vector: without, scored: scorer(without, weights, threshold) };
    }
  }

  private isBroken(layer: Layer, vector: FeatureVector, signalsOf: typeof layerSignals): boolean {
    try {
      signalsOf[layer](vector);
      return false;
    } catch (error) {
      this.failed(layer, error);
      return true;
    }
  }

  list(): EvaluatorReport[] {
    return [...this.reports].map(([name, { failures, error, tookMs }]) => ({ name, failures, error, took_ms: tookMs }));
  }

  /** Before a round: what fails now is what is reported. */
  begin(): void {
    for (const report of this.reports.values()) report.error = null;
  }
}
