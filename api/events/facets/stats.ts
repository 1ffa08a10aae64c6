// Facets and the histogram of the workbench. Where few events lie in the range they are counted one by one. Where many
// do, counts by hour answer for what has few values, and a sample that is spread evenly over the range for the rest
// (`is_estimate`, `one_in`); few that match among many are found by an index and counted one by one. While counts by
// hour are far behind (after an upgrade), samples answer for everything.
import type { Database, Queryable } from '../../db/client.js';
import { facetNames, hasIndex, isOfHours, type Counted, type FacetName, type StatsFilters } from './filters.js';
import { manyValued, readEvents, readManyValued, samples, type Reading, type Sample } from './from-events.js';
import { extentOf, readHours, rulesOf, sampledExtentOf, wholeHours, type Extent } from './from-hours.js';
import { countedTo, hasUncategorised, isFarBehind } from './rollup.js';

export interface FacetValue {
  readonly value: string;
  readonly n: number;
}
export interface EventStats {
  readonly from: Date;
  readonly to: Date;
  readonly total: number;
  /** That, and the histogram. */
  readonly is_estimate: boolean;
  readonly one_in: number;
  readonly step_seconds: number;
  readonly histogram: readonly { readonly at: Date; readonly n: number; readonly blocked: number }[];
  readonly facets: Readonly<
    Record<FacetName, { readonly values: readonly FacetValue[]; readonly is_estimate: boolean }>
  >;
  /** Why the answer is less than it could be, and until when. */
  readonly notices: readonly string[];
}

/** How many events may be read for one answer. */
export interface Bounds {
  /** Entries of an index that lies in the order of the range. */
  readonly scanned: number;
  /** Of them, those that match. */
  readonly matching: number;
  /** Rows that an index finds all over the table. */
  readonly found: number;
  /** Events that no count by hour has yet. */
  readonly uncounted: number;
}
const boundsOf: Readonly<Record<Database['kind'], Bounds>> = {
  postgres: { scanned: 60_000, matching: 40_000, found: 10_000, uncounted: 60_000 },
  embedded: { scanned: 20_000, matching: 20_000, found: 5000, uncounted: 20_000 },
};

const barsMax = 120;
const steps = [10, 60, 300, 900, 1800, 3600, 7200, 21_600, 43_200, 86_400, 604_800] as const;

/** Whole steps, so that a bar covers the same time whenever it is asked for. */
export const stepSeconds = (from: Date, to: Date): number =>
  steps.find((step) => (to.getTime() - from.getTime()) / 1000 / step <= barsMax) ?? 604_800;

/** The least that stays within bounds; where none does, the coarsest. */
const sampleFor = ({ inRange, matching }: Extent, bounds: Bounds): Sample =>
  samples.find((one) => inRange / one <= bounds.scanned && matching / one <= bounds.matching) ?? 449;

interface Answer {
  readonly rows: readonly Counted[];
  readonly reading: Reading;
  /** Names of facets. */
  readonly estimated: readonly string[];
  readonly isTotalEstimate: boolean;
}
const exact = (rows: readonly Counted[], reading: Reading): Answer => ({
  rows,
  reading,
  estimated: [],
  isTotalEstimate: false,
});

function assemble({ rows, reading, estimated, isTotalEstimate }: Answer): Omit<EventStats, 'notices'> {
  const { filters, step, sample } = reading;
  const facets = Object.fromEntries(
    facetNames.map((name) => [name, { values: [] as FacetValue[], is_estimate: estimated.includes(name) }]),
  ) as Record<FacetName, { values: FacetValue[]; is_estimate: boolean }>;
  const bars = new Map<number, { n: number; blocked: number }>();
  for (const { facet, value, n } of rows) {
    if (Object.hasOwn(facets, facet)) {
      facets[facet as FacetName].values.push({ value, n });
      continue;
    }
    const bar = bars.get(Number(value)) ?? { n: 0, blocked: 0 };
    bars.set(Number(value), { n: bar.n + n, blocked: bar.blocked + (facet === 'blocked' ? n : 0) });
  }
  const histogram = [...bars]
    .sort(([a], [b]) => a - b)
    .map(([second, { n, blocked }]) => ({ at: new Date(second * 1000), n, blocked }));
  return {
    from: filters.from,
    to: filters.to,
    total: histogram.reduce((sum, { n }) => sum + n, 0),
    is_estimate: isTotalEstimate,
    one_in: sample,
    step_seconds: step,
    histogram,
    facets,
  };
}

/** Filters that hours have: only clients, paths and places are estimated. */
async function answerByHours(sql: Queryable, reading: Reading, counted: number): Promise<Answer> {
  const filters = wholeHours(reading.filters);
  const wide = { ...reading, filters, step: Math.max(3600, reading.step) };
  const [hours, many] = await Promise.all([readHours(sql, filters, wide.step, counted), readManyValued(sql, wide)]);
  return { rows: [...hours, ...many], reading: wide, estimated: manyValued, isTotalEstimate: false };
}

/** Other filters: few are looked up, many are estimated. */
async function answerBySample(sql: Queryable, reading: Reading, bounds: Bounds): Promise<Answer> {
  const rows = await readEvents(sql, reading);
  const sampled = assemble({ rows, reading, estimated: facetNames, isTotalEstimate: true });
  if (sampled.total > bounds.found || !hasIndex(reading.filters))
    return { rows, reading, estimated: facetNames, isTotalEstimate: true };
  const all = { ...reading, sample: 1 } as const;
  return exact(await readEvents(sql, all), all);
}

type Counts = Omit<EventStats, 'notices'>;

async function readCounts(sql: Queryable, filters: StatsFilters, bounds: Bounds, counted: number): Promise<Counts> {
  const extent = await extentOf(sql, filters, counted);
  const reading = { filters, sample: sampleFor(extent, bounds), step: stepSeconds(filters.from, filters.to) };
  if (reading.sample === 1) return assemble(exact(await readEvents(sql, reading), reading));
  if (!isOfHours(filters)) return assemble(await answerBySample(sql, reading, bounds));
  if (extent.matching <= bounds.found) {
    const narrowed = await rulesOf(sql, filters, counted);
    const all = { ...reading, sample: 1, narrowed } as const;
    if (narrowed.n <= bounds.found * 2) return assemble(exact(await readEvents(sql, all), all));
  }
  return assemble(await answerByHours(sql, reading, counted));
}

async function readWithoutHours(sql: Queryable, filters: StatsFilters, bounds: Bounds): Promise<Counts> {
  const sample = sampleFor(await sampledExtentOf(sql, filters), bounds);
  const reading = { filters, sample, step: stepSeconds(filters.from, filters.to) };
  if (sample === 1) return assemble(exact(await readEvents(sql, reading), reading));
  return assemble(await answerBySample(sql, reading, bounds));
}

const uncategorisedNotice =
  'Events of this range that were stored before events had a category count as Other and have no path, country or ' +
  'network.';
const behindNotice = (most: number): string =>
  `More than ${most.toLocaleString('en')} stored events are not counted by hour yet: until they are, samples answer ` +
  'for long ranges.';

export async function readStats(
  { sql, kind }: Pick<Database, 'sql' | 'kind'>,
  filters: StatsFilters,
  bounds: Bounds = boundsOf[kind],
): Promise<EventStats> {
  const counted = await countedTo(sql);
  const isBehind = await isFarBehind(sql, counted, bounds.uncounted);
  const counts = isBehind
    ? await readWithoutHours(sql, filters, bounds)
    : await readCounts(sql, filters, bounds, counted);
  return {
    ...counts,
    notices: [
      ...(isBehind ? [behindNotice(bounds.uncounted)] : []),
      ...((await hasUncategorised(sql, filters)) ? [uncategorisedNotice] : []),
    ],
  };
}
