// What is usual at one site for one measure of its clients: median and spread (1.4826 times the median absolute
// deviation, which is a standard deviation for normal values), for each hour of the week and for all hours. Robust:
// half of the clients of an hour would have to agree to move a median.
//
// Poisoning guard. An hour counts each client once, whatever it sends; only clients without a score, a block, a limit
// or a verdict count (round.ts). Once a baseline is learned it moves by at most one percent a day, so in 30 days by
// less than 35 percent (1.01^30), whoever asks and however many they are. An hour of the week that is new by then
// begins with what is usual at all hours, and is bounded from there: otherwise a patient crowd would teach it all that
// it wants. What goes as far as it may, in one direction, for five days is told as drift, for a person to look at.
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
const driftDays = 5;
/** An hour of the week comes five times in 30 days at most, and may move so many percent each time: 1.06^5 < 1.35. */
const daysMax = 6;
const hoursOfWeek = 168;
const hourMs = 3_600_000;

export interface Cell {
  support: number;
  folds: number;
  center: number;
  spread: number;
  /** Of the last day on which it moved, and where it stood when that day began. */
  day: number;
  /** How many days it may move for; 0: it has not begun to. */
  days: number;
  centerThen: number;
  spreadThen: number;
  /** Days in a row on which it went as far as it may: up, or as a negative number down. */
  heldDays: number;
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
  days: 0,
  centerThen: 0,
  spreadThen: 0,
  heldDays: 0,
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
    const day = Math.floor(atMs / (24 * hourMs));
    const isBounded = this.all.support >= supportMin;
    move(this.cellOf(hourOfWeek(atMs)), { center, spread, clients: values.length, day, isBounded }, this.scale);
    move(this.all, { center, spread, clients: values.length, day, isBounded }, this.scale);
    // hours that have seen too little by now begin with all, as those that are still to come
    if (!isBounded && this.all.support >= supportMin)
      for (const [known, { support }] of this.hours) if (support < supportMin) this.hours.delete(known);
  }

  private cellOf(hour: number): Cell {
    const known = this.hours.get(hour);
    if (known !== undefined) return known;
    const { center, spread, day } = this.all;
    const begun = { center, spread, day, centerThen: center, spreadThen: spread };
    const made = this.all.support >= supportMin ? { ...newCell(), ...begun } : newCell();
    this.hours.set(hour, made);
    return made;
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

  /** Whether it went as far as it may for days: a change of the site, or somebody who is patient. */
  get isDrifting(): boolean {
    return Math.abs(this.all.heldDays) >= driftDays;
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

interface Hour {
  readonly center: number;
  readonly spread: number;
  readonly clients: number;
  readonly day: number;
  readonly isBounded: boolean;
}

/** Takes an hour into a cell: as it is while nothing is learned, by little and within bounds from then on. */
function move(cell: Cell, { center, spread, clients, day, isBounded }: Hour, scale: FeatureScale): void {
  cell.folds += 1;
  if (!isBounded) {
    const count = Math.min(clientsPerFoldMax, clients);
    const share = count / (cell.support + count);
    cell.center += (center - cell.center) * share;
    cell.spread += (spread - cell.spread) * share;
    cell.support += count;
    return;
  }
  if (cell.day !== day) beginDay(cell, day, scale);
  cell.support = Math.min(1_000_000, cell.support + clients);
  cell.center = within(cell.centerThen, cell.center + (center - cell.center) * pull, cell.days, scale);
  cell.spread = within(cell.spreadThen, cell.spread + (spread - cell.spread) * pull, cell.days, scale);
}

function beginDay(cell: Cell, day: number, scale: FeatureScale): void {
  const moved = cell.center - cell.centerThen;
  const isHeld = cell.days > 0 && Math.abs(moved) > 0.95 * mostOf(cell.centerThen, cell.days, scale);
  const direction = Math.sign(moved);
  if (!isHeld) cell.heldDays = 0;
  else cell.heldDays = direction * cell.heldDays > 0 ? cell.heldDays + direction : direction;
  cell.days = cell.day < 0 ? 1 : Math.min(daysMax, Math.max(1, day - cell.day));
  cell.day = day;
  cell.centerThen = cell.center;
  cell.spreadThen = cell.spread;
}

/** A percent for each day, of the value or of the least spread where that is more. */
const mostOf = (then: number, days: number, { floor }: FeatureScale): number =>
  days * daily * Math.max(Math.abs(then), floor);

function within(then: number, wanted: number, days: number, scale: FeatureScale): number {
  const most = mostOf(then, days, scale);
  return Math.min(then + most, Math.max(then - most, wanted));
}

function median(sorted: readonly number[]): number {
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}
