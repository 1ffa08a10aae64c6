// The sources of values, as the compiled engine counts them: a bit each, the scan class that asks about them, and slots
// for the values of the place.
import { scanSources, type PlanIR, type ScanSource } from '../program/plan.js';

export const sourceNames = Object.keys(scanSources) as readonly ScanSource[];

/** 25 sources fit a bit mask. */
export const sourceBit = Object.fromEntries(sourceNames.map((source, index) => [source, 1 << index])) as Readonly<
  Record<ScanSource, number>
>;

/** Scan class of each source, -1 = nobody asks. */
export type SourceClasses = Readonly<Record<ScanSource, number>>;

export function classesOfSources(plan: PlanIR): SourceClasses {
  return Object.fromEntries(
    sourceNames.map((source) => [source, plan.classes.findIndex(({ sources }) => sources.includes(source))]),
  ) as Record<ScanSource, number>;
}

/**
 * Positions of a source (the first headers, cookies, arguments …) that have a slot of their own; later ones share the
 * last.
 */
const slotsPerSource = 24;
export const lastSlot = slotsPerSource - 1;

export function slotBase(source: ScanSource): number {
  return sourceNames.indexOf(source) * slotsPerSource;
}
