// Counters of one worker, plain numbers bumped on the road; main asks for snapshots and adds them up. Labels are sites,
// stages and outcomes only: never addresses, paths or user agents.
import type { InspectionCounters } from '../inspection/inspection.js';

export type Action = 'served' | 'blocked' | 'flagged' | 'refused' | 'aborted' | 'failed';

const actions: readonly Action[] = ['served', 'blocked', 'flagged', 'refused', 'aborted', 'failed'];

/** Upper bounds in seconds. The inspection ones are far below those of whole requests. */
const durationBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;
const inspectionBounds = [
  0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1,
] as const;

export interface HistogramSnapshot {
  /** One per bound, then one for the rest; not cumulative. */
  readonly counts: number[];
  sumSeconds: number;
}

export interface SiteSnapshot {
  readonly actions: Record<Action, number>;
  readonly upstream: HistogramSnapshot;
}

export interface MetricsSnapshot {
  readonly sites: Record<string, SiteSnapshot>;
  readonly stages: Record<string, HistogramSnapshot>;
  readonly counters: Record<string, number>;
}

function emptyHistogram(bounds: readonly number[]): HistogramSnapshot {
  return { counts: new Array<number>(bounds.length + 1).fill(0), sumSeconds: 0 };
}

function emptySite(): SiteSnapshot {
  return {
    actions: { served: 0, blocked: 0, flagged: 0, refused: 0, aborted: 0, failed: 0 },
    upstream: emptyHistogram(durationBounds),
  };
}

function observe(histogram: HistogramSnapshot, bounds: readonly number[], seconds: number): void {
  let index = 0;
  while (index < bounds.length && seconds > (bounds[index] as number)) index += 1;
  histogram.counts[index] = (histogram.counts[index] as number) + 1;
  histogram.sumSeconds += seconds;
}

export class Metrics {
  private readonly sites = new Map<string, SiteSnapshot>();
  private readonly stages = new Map<string, HistogramSnapshot>();
  private readonly counters = new Map<string, number>();

  private site(name: string): SiteSnapshot {
    let site = this.sites.get(name);
    if (site === undefined) {
      site = emptySite();
      this.sites.set(name, site);
    }
    return site;
  }

  request(site: string, action: Action): void {
    this.site(site).actions[action] += 1;
  }
  upstream(site: string, seconds: number): void {
    observe(this.site(site).upstream, durationBounds, seconds);
  }
  stage(name: 'request' | 'inspection', seconds: number): void {
    const bounds = name === 'inspection' ? inspectionBounds : durationBounds;
    let histogram = this.stages.get(name);
    if (histogram === undefined) this.stages.set(name, (histogram = emptyHistogram(bounds)));
    observe(histogram, bounds, seconds);
  }
  /** `name` may carry a label part, e.g. `waap_engine_errors_total{outcome="closed"}`. */
  count(name: string, by = 1): void {
    this.counters.set(name, (this.counters.get(name) ?? 0) + by);
  }

  /** `more` = counters that are kept elsewhere. */
  snapshot(more: Readonly<Record<string, number>> = {}): MetricsSnapshot {
    return {
      sites: Object.fromEntries(this.sites),
      stages: Object.fromEntries(this.stages),
      counters: { ...Object.fromEntries(this.counters), ...more },
    };
  }
}

type Counted = { readonly counters?: () => InspectionCounters } | null;

function addCounters(into: { -readonly [Name in keyof InspectionCounters]: number }, inspection: Counted): void {
  const from = inspection?.counters?.();
  if (from === undefined) return;
  into.lookups += from.lookups;
  into.found += from.found;
  into.scans += from.scans;
  into.scannedBytes += from.scannedBytes;
}

/**
 * What the automata of one worker did, over all generations: each ruleset counts for itself and takes its figures with
 * it when it goes, so they are added up here first; counters must never go backwards. Bodies that are inspected on
 * threads of the pool are not in them.
 */
export class InspectionTotals {
  private readonly retired = { lookups: 0, found: 0, scans: 0, scannedBytes: 0 };

  constructor(private readonly worker: number) {}

  /** Before its release, once. */
  retire(inspection: Counted): void {
    addCounters(this.retired, inspection);
  }

  /** Prometheus names → values. `live` = those that are not retired: what serves and what drains. */
  counters(live: Iterable<Counted>): Record<string, number> {
    const sum = { ...this.retired };
    for (const inspection of live) addCounters(sum, inspection);
    const name = (what: string): string => `gatehouse_${what}_total{worker="${this.worker}"}`;
    return {
      [name('memo_lookups')]: sum.lookups,
      [name('memo_found')]: sum.found,
      [name('scans')]: sum.scans,
      [name('scanned_bytes')]: sum.scannedBytes,
    };
  }
}

function addHistogram(into: HistogramSnapshot, from: HistogramSnapshot): void {
  for (let index = 0; index < from.counts.length; index += 1)
    into.counts[index] = (into.counts[index] ?? 0) + (from.counts[index] ?? 0);
  into.sumSeconds += from.sumSeconds;
}

/** Adds `from` to `into`: main's view of all workers, the dead ones included. */
export function mergeMetrics(into: MetricsSnapshot, from: MetricsSnapshot): void {
  for (const [name, site] of Object.entries(from.sites)) {
    const target = (into.sites[name] ??= emptySite());
    for (const action of actions) target.actions[action] += site.actions[action];
    addHistogram(target.upstream, site.upstream);
  }
  for (const [name, stage] of Object.entries(from.stages))
    addHistogram((into.stages[name] ??= { counts: [], sumSeconds: 0 }), stage);
  for (const [name, value] of Object.entries(from.counters)) into.counters[name] = (into.counters[name] ?? 0) + value;
}

export function emptyMetrics(): MetricsSnapshot {
  return { sites: {}, stages: {}, counters: {} };
}

function label(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function histogramLines(
  name: string,
  labels: string,
  bounds: readonly number[],
  histogram: HistogramSnapshot,
): string[] {
  const lines: string[] = [];
  let total = 0;
  for (let index = 0; index <= bounds.length; index += 1) {
    total += histogram.counts[index] ?? 0;
    const bound = index < bounds.length ? String(bounds[index]) : '+Inf';
    lines.push(`${name}_bucket{${labels},le="${bound}"} ${total}`);
  }
  lines.push(`${name}_sum{${labels}} ${histogram.sumSeconds}`, `${name}_count{${labels}} ${total}`);
  return lines;
}

/** Prometheus text format, version 0.0.4. `gauges` are main's own: workers, generation, restarts. */
export function renderPrometheus(metrics: MetricsSnapshot, gauges: Readonly<Record<string, number>>): string {
  const lines: string[] = [
    '# HELP waap_requests_total Requests by site and what became of them.',
    '# TYPE waap_requests_total counter',
  ];
  for (const [site, snapshot] of Object.entries(metrics.sites)) {
    for (const action of actions)
      lines.push(`waap_requests_total{site="${label(site)}",action="${action}"} ${snapshot.actions[action]}`);
  }
  lines.push(
    '# HELP waap_upstream_duration_seconds From sending a request to the head of its response.',
    '# TYPE waap_upstream_duration_seconds histogram',
  );
  for (const [site, snapshot] of Object.entries(metrics.sites))
    lines.push(
      ...histogramLines('waap_upstream_duration_seconds', `site="${label(site)}"`, durationBounds, snapshot.upstream),
    );
  lines.push(
    '# HELP waap_stage_duration_seconds Time spent in a stage of the road.',
    '# TYPE waap_stage_duration_seconds histogram',
  );
  for (const [stage, histogram] of Object.entries(metrics.stages))
    lines.push(
      ...histogramLines(
        'waap_stage_duration_seconds',
        `stage="${label(stage)}"`,
        stage === 'inspection' ? inspectionBounds : durationBounds,
        histogram,
      ),
    );
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(metrics.counters).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const family = name.split('{')[0] as string;
    if (!seen.has(family)) lines.push(`# TYPE ${family} counter`);
    seen.add(family);
    lines.push(`${name} ${value}`);
  }
  for (const [name, value] of Object.entries(gauges)) lines.push(`# TYPE ${name} gauge`, `${name} ${value}`);
  return `${lines.join('\n')}\n`;
}
