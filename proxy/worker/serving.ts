// Which generation serves in this worker, which one is prepared, and which ones still finish what they have.
import { InspectionTotals } from '../metrics/inspection-totals.js';
import type { Generation } from './generation.js';

export class Serving {
  private prepared: Generation | null = null;
  private readonly retiring = new Set<Generation>();
  private readonly totals: InspectionTotals;

  constructor(
    public current: Generation,
    workerId: number,
    /** Between two requests, when another generation has taken over. */
    private readonly onSwap: (previous: Generation, next: Generation) => void,
  ) {
    this.totals = new InspectionTotals(workerId);
  }

  get retiringCount(): number {
    return this.retiring.size;
  }

  /** By counterKey (metrics/metrics.ts): what the automata did, over all generations. */
  inspectionCounters(): Record<string, number> {
    return this.totals.counters([this.current, ...this.retiring].map(({ inspection }) => inspection));
  }

  /** What `make` makes is held until it is committed or discarded; what was held before is let go first. */
  async prepare(make: () => Promise<Generation>): Promise<void> {
    this.discard();
    this.prepared = await make();
  }

  /** Of the prepared generation, or of that one only. */
  discard(id?: number): void {
    if (this.prepared === null || (id !== undefined && this.prepared.id !== id)) return;
    this.prepared.inspection?.release();
    this.prepared = null;
  }

  /** One assignment between two requests. What the old generation still carries, it finishes. */
  commit(id: number): void {
    const next = this.prepared;
    if (next === null || next.id !== id)
      throw new Error(`commit of generation ${id}, which this worker has not prepared`);
    const previous = this.current;
    this.current = next;
    this.prepared = null;
    this.onSwap(previous, next);
    this.retire(previous);
  }

  private retire(generation: Generation): void {
    const release = (): void => {
      this.retiring.delete(generation);
      this.totals.retire(generation.inspection);
      generation.inspection?.release();
    };
    if (generation.inFlight === 0) {
      release();
      return;
    }
    this.retiring.add(generation);
    generation.onIdle = release;
  }
}
