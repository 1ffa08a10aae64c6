// What is usual at one site for one measure of its clients: median and spread (1.4826 times the median absolute
// deviation, which is a standard deviation for normal values), for each hour of the week and for all hours. Robust:
// half of the clients of an hour would have to agree to move a median.
//
// Poisoning guard. An hour counts each client once, whatever it sends; only clients without a score, a block, a limit
// or a verdict count (round.ts). Once a baseline is learned it moves by at most one percent a day, so in 30 days by
// less than 35 percent (1.01^30), whoever asks and however many they are. What goes on wanting to move further for
// three days is told as drift, for a person to look at.
import type { AnomalyFeature } from '../engine/vector.js';

/** Clients that have to be learned from. */
export const supportMin = 200;
/** Weeks in which an hour of the week has to be seen: with two, 14 days. */
const foldsMin = 2;
/** Clients of one hour that are needed; fewer say more of themselves than of the site. */
export const clientsPerHourMin = 5;
/** Clients of one hour that count at most while a baseline is made. */
const clientsPerFoldMax = 50;
const daily = 0.01;
const pull = 0.1;
const driftDays = 3;
const hoursOfWeek = 168;
const hourMs = 3_600_000;

export interface Cell {
  support: number;
  folds: number;
  center: number;
  spread: number;
  /** Of the last day on which it moved, and where it stood when that day began. */
  day: number;
  centerThen: number;
  spreadThen: number;
  /** Days in a row on which it was held back. */
  heldDays: number;
  heldDay: number;
}

export interface FeatureScale {
  /** What holds until something is learned. */
  readonly expected: number;
  readonly spread: number;
  /** The least spread: what differs by less is the same. */
  readonly floor: number;
}

/** Rates and paths by the minute, sizes in bytes, errors as a share, novelty in paths. */
export const scales: Readonly<Record<AnomalyFeature, FeatureScale>> = {
  rate: { expected: 30, spread: 60, floor: 10 },
  errors: { expected: 0.1, spread: 0.2, floor: 0.1 },
  request_size: { expected: 2000, spread: 100_000, floor: 2000 },
  response_size: { expected: 50_000, spread: 1_000_000, floor: 20_000 },
  paths: { expected: 20, spread: 30, floor: 5 },
  novelty: { expected: 2, spread: 5, floor: 2 },
};

export interface Expected {
  readonly expected: number;
  readonly spread: number;
  readonly source: 'hour' | 'all' | 'prior';
  readonly support: number;
}

const newCell = (): Cell => ({
  support: 0,
  folds: 0,
  center: 0,
  spread: 0,
  day: -1,
  centerThen: 0,
  spreadThen: 0,
  heldDays: 0,
  heldDay: -1,
});

/** Of the week that begins with a Thursday (the epoch), in UTC. */
export const hourOfWeek = (atMs: number): number => Math.floor(atMs / hourMs) % hoursOfWeek;

export class Baseline {
  private readonly hours = new Map<number, Cell>();
  private all = newCell();

  constructor(private readonly scale: FeatureScale) {}

  /** One hour of clients, each once. Too few teach nothing. `values` is sorted here. */
  fold(values: number[], atMs: number): void {
    if (values.length < clientsPerHourMin) return;
    values.sort((one, other) => one - other);
    const center = median(values);
    const deviations = values.map((value) => Math.abs(value - center)).sort((one, other) => one - other);
    const spread = 1.4826 * median(deviations);
    const hour = hourOfWeek(atMs);
    let cell = this.hours.get(hour);
    if (cell === undefined) this.hours.set(hour, (cell = newCell()));
    const day = Math.floor(atMs / (24 * hourMs));
    this.move(cell, center, spread, values.length, day);
    this.move(this.all, center, spread, values.length, day);
  }

  private move(cell: Cell, center: number, spread: number, clients: number, day: number): void {
    const isLearned = cell.support >= supportMin;
    cell.folds += 1;
    if (!isLearned) {
      const count = Math.min(clientsPerFoldMax, clients);
      const share = count / (cell.support + count);
      cell.center += (center - cell.center) * share;
      cell.spread += (spread - cell.spread) * share;
      cell.support += count;
      return;
    }
    if (cell.day !== day) {
      cell.day = day;
      cell.centerThen = cell.center;
      cell.spreadThen = cell.spread;
    }
    cell.support = Math.min(1_000_000, cell.support + clients);
    const wanted = cell.center + (center - cell.center) * pull;
    cell.center = this.within(cell.centerThen, wanted);
    cell.spread = this.within(cell.spreadThen, cell.spread + (spread - cell.spread) * pull);
    // the pull, not a single step: what is far away is held back day after day
    if (cell.center === wanted) return;
    if (cell.heldDay === day) return;
    cell.heldDays = cell.heldDay === day - 1 ? cell.heldDays + 1 : 1;
    cell.heldDay = day;
  }

  /** At most a percent from where the day began, of the value or of the least spread where that is more. */
  private within(then: number, wanted: number): number {
    const most = daily * Math.max(Math.abs(then), this.scale.floor);
    return Math.min(then + most, Math.max(then - most, wanted));
  }

  expect(atMs: number): Expected {
    const hour = this.hours.get(hourOfWeek(atMs));
    if (hour !== undefined && hour.support >= supportMin && hour.folds >= foldsMin) return this.of(hour, 'hour');
    if (this.all.support >= supportMin) return this.of(this.all, 'all');
    const { expected, spread } = this.scale;
    return { expected, spread, source: 'prior', support: this.all.support };
  }

  private of({ center, spread, support }: Cell, source: 'hour' | 'all'): Expected {
    return { expected: center, spread: Math.max(spread, 0.3 * center, this.scale.floor), source, support };
  }

  /** Hours of the week that are learned, and clients that all was learned from. */
  get learned(): { readonly hours: number; readonly support: number } {
    const hours = [...this.hours.values()].filter(({ support, folds }) => support >= supportMin && folds >= foldsMin);
    return { hours: hours.length, support: this.all.support };
  }

  /** Whether it was held back for days: a change of the site, or somebody who is patient. */
  isDrifting(atMs: number): boolean {
    const day = Math.floor(atMs / (24 * hourMs));
    return this.all.heldDays >= driftDays && day - this.all.heldDay <= 1;
  }

  toJSON(): unknown {
    return { all: this.all, hours: [...this.hours] };
  }

  /** What `toJSON` gave; anything else leaves it as it is. */
  restore(stored: unknown): void {
    const { all, hours } = (stored ?? {}) as { readonly all?: Cell; readonly hours?: readonly [number, Cell][] };
    if (all !== undefined) this.all = { ...newCell(), ...all };
    for (const [hour, cell] of hours ?? []) this.hours.set(hour, { ...newCell(), ...cell });
  }
}

function median(sorted: readonly number[]): number {
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}
