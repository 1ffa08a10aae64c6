// Everything that is learned of one site: a baseline for each measure, and the shapes of paths that people ask for.
// Bounded: clients of one hour, shapes, hours of the week.
import { anomalyFeatures, type AnomalyFeature, type Deviation } from '../engine/vector.js';
import { Baseline, clientsPerHourMin, scales, supportMin } from './baseline.js';

const hourMs = 3_600_000;
/** Clients of one hour that are learned from; those that come first. */
const clientsMax = 5000;
const shapesMax = 5000;
/** A shape is known when so many clients have asked for it, each an hour or another client apart. */
const sightingsMin = 3;
/** As long as fewer are known, nothing is new. */
const shapesMin = 10;
const hoursOfWeek = 168;

/** Measures of a client at a site. */
export type Measures = Readonly<Record<Exclude<AnomalyFeature, 'novelty'>, number>>;

interface Shape {
  count: number;
  /** Who asked last: one client that asks again and again is one. */
  by: string;
}

export interface LayerMeter {
  /** 0 to 100: how much of what it compares with is known. */
  readonly percent: number;
  readonly note: string;
}

export class SiteLearning {
  private readonly baselines: Readonly<Record<AnomalyFeature, Baseline>>;
  private readonly shapes = new Map<number, Shape>();
  /** Of the hour that runs: the most of each measure, by client. */
  private hourClients = new Map<string, number[]>();
  private hour = -1;
  private knownShapes = 0;

  constructor(readonly site: string) {
    this.baselines = Object.fromEntries(anomalyFeatures.map((name) => [name, new Baseline(scales[name])])) as Readonly<
      Record<AnomalyFeature, Baseline>
    >;
  }

  /** How the measures of a client differ from what is usual now. `shapes`: of its paths. */
  compare(measures: Measures, shapes: Iterable<number>, atMs: number): Deviation[] {
    const observed: Record<AnomalyFeature, number> = { ...measures, novelty: this.novelIn(shapes) };
    return anomalyFeatures.map((feature) => ({
      feature,
      site: this.site,
      observed: round(observed[feature]),
      ...rounded(this.baselines[feature].expect(atMs)),
    }));
  }

  /** Paths that few have asked for, where it is known what people ask for. */
  novelIn(shapes: Iterable<number>): number {
    if (this.knownShapes < shapesMin) return 0;
    let novel = 0;
    for (const shape of shapes) if ((this.shapes.get(shape)?.count ?? 0) < sightingsMin) novel += 1;
    return novel;
  }

  /** A client without any fault. Returns whether an hour was over, and something was learned that is to be stored. */
  learn(client: string, measures: Measures, shapes: Iterable<number>, atMs: number): boolean {
    const isOver = this.turn(atMs);
    for (const shape of shapes) this.learnShape(shape, client);
    const values = anomalyFeatures.map((name) => (name === 'novelty' ? this.novelIn(shapes) : measures[name]));
    const before = this.hourClients.get(client);
    if (before === undefined) {
      if (this.hourClients.size < clientsMax) this.hourClients.set(client, values);
    } else for (const [at, value] of values.entries()) before[at] = Math.max(before[at] as number, value);
    return isOver;
  }

  /** Takes an hour into the baselines when it is over. */
  private turn(atMs: number): boolean {
    const hour = Math.floor(atMs / hourMs);
    if (hour === this.hour) return false;
    const clients = [...this.hourClients.values()];
    const beganMs = this.hour * hourMs;
    const hadHour = this.hour >= 0;
    this.hourClients = new Map();
    this.hour = hour;
    if (!hadHour || clients.length < clientsPerHourMin) return false;
    for (const [at, name] of anomalyFeatures.entries())
      this.baselines[name].fold(
        clients.map((values) => values[at] as number),
        beganMs,
      );
    return true;
  }

  private learnShape(shape: number, client: string): void {
    const known = this.shapes.get(shape);
    if (known === undefined) {
      if (this.shapes.size >= shapesMax) this.forgetShape();
      this.shapes.set(shape, { count: 1, by: client });
      return;
    }
    if (known.by === client || known.count >= sightingsMin) return;
    known.count += 1;
    known.by = client;
    if (known.count === sightingsMin) this.knownShapes += 1;
  }

  /** The oldest that is not known yet, else the oldest. */
  private forgetShape(): void {
    for (const [shape, { count }] of this.shapes) if (count < sightingsMin) return void this.shapes.delete(shape);
    const [oldest] = this.shapes.keys();
    if (oldest !== undefined && this.shapes.delete(oldest)) this.knownShapes -= 1;
  }

  /** How much of this site is known, and whether it moves. */
  meter(atMs: number): { readonly anomaly: LayerMeter; readonly drifting: readonly AnomalyFeature[] } {
    const { hours, support } = this.baselines.rate.learned;
    const isLearned = support >= supportMin;
    // half for what holds at any hour, half for the hours of the week
    const percent = Math.floor(50 * Math.min(1, support / supportMin) + (50 * hours) / hoursOfWeek);
    const note = isLearned
      ? `${hours} of ${hoursOfWeek} hours of the week, ${this.knownShapes} shapes of paths`
      : `${support} of ${supportMin} clients; until then fixed expectations hold (an hour counts with ` +
        `${clientsPerHourMin} clients or more)`;
    const drifting = anomalyFeatures.filter((name) => this.baselines[name].isDrifting(atMs));
    return { anomaly: { percent, note }, drifting };
  }

  expect(feature: AnomalyFeature, atMs: number): ReturnType<Baseline['expect']> {
    return this.baselines[feature].expect(atMs);
  }

  toJSON(): unknown {
    const shapes = [...this.shapes].filter(([, { count }]) => count >= sightingsMin).map(([shape]) => shape);
    return { baselines: this.baselines, shapes };
  }

  restore(stored: unknown): void {
    const { baselines = {}, shapes = [] } = (stored ?? {}) as {
      readonly baselines?: Readonly<Record<string, unknown>>;
      readonly shapes?: readonly number[];
    };
    for (const name of anomalyFeatures) this.baselines[name].restore(baselines[name]);
    for (const shape of shapes.slice(0, shapesMax)) this.shapes.set(shape, { count: sightingsMin, by: '' });
    this.knownShapes = this.shapes.size;
  }
}

/** Six digits are enough for a comparison, and keep what is stored short. */
const round = (value: number): number => Math.round(value * 1e6) / 1e6;
const rounded = <T extends { readonly expected: number; readonly spread: number }>(of: T): T => ({
  ...of,
  expected: round(of.expected),
  spread: round(of.spread),
});
