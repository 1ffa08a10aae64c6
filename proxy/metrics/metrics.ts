// The figures of one worker, plain numbers bumped on the road; main asks for snapshots and adds them up. What each is
// called stands in families.ts.
import { actions, counters, type Action, type CounterName, type LabelArguments, type Stage } from './families.js';
import {
  addHistogram,
  durationBounds,
  emptyHistogram,
  inspectionBounds,
  observe,
  type HistogramSnapshot,
} from './histogram.js';

export interface SiteSnapshot {
  readonly actions: Record<Action, number>;
  readonly upstream: HistogramSnapshot;
}

export interface MetricsSnapshot {
  readonly sites: Record<string, SiteSnapshot>;
  readonly stages: Record<string, HistogramSnapshot>;
  /** By `counterKey`. */
  readonly counters: Record<string, number>;
}

function emptySite(): SiteSnapshot {
  return {
    actions: { served: 0, blocked: 0, flagged: 0, refused: 0, aborted: 0, failed: 0 },
    upstream: emptyHistogram(durationBounds),
  };
}

/** Between a counter's name and its labels' values; stands in none of them. */
const separator = '\n';

/** The name of the row and the values of its labels, in the row's order. */
export function counterKey<Name extends CounterName>(name: Name, ...labels: LabelArguments<Name>): string {
  let key: string = name;
  const values = (labels[0] ?? {}) as Readonly<Record<string, string>>;
  for (const label of Object.keys(counters[name].labels)) key += separator + values[label];
  return key;
}

export function readCounterKey(key: string): { readonly name: CounterName; readonly values: readonly string[] } {
  const [name = '', ...values] = key.split(separator);
  return { name: name as CounterName, values };
}

export class Metrics {
  private readonly sites = new Map<string, SiteSnapshot>();
  private readonly stages = new Map<Stage, HistogramSnapshot>();
  private readonly counters = new Map<string, number>();
  /** All requests, whatever became of them. */
  requests = 0;

  private site(name: string): SiteSnapshot {
    let site = this.sites.get(name);
    if (site === undefined) {
      site = emptySite();
      this.sites.set(name, site);
    }
    return site;
  }

  request(site: string, action: Action): void {
    this.requests += 1;
    this.site(site).actions[action] += 1;
  }
  upstream(site: string, seconds: number): void {
    observe(this.site(site).upstream, durationBounds, seconds);
  }
  stage(name: Stage, seconds: number): void {
    const bounds = name === 'inspection' ? inspectionBounds : durationBounds;
    let histogram = this.stages.get(name);
    if (histogram === undefined) this.stages.set(name, (histogram = emptyHistogram(bounds)));
    observe(histogram, bounds, seconds);
  }
  /** Labels are those of the row; a row without any is named alone. */
  count<Name extends Exclude<CounterName, 'requests'>>(name: Name, ...labels: LabelArguments<Name>): void {
    const key = counterKey(name, ...labels);
    this.counters.set(key, (this.counters.get(key) ?? 0) + 1);
  }

  /** `more` = counters that are kept elsewhere, by `counterKey`. */
  snapshot(more: Readonly<Record<string, number>> = {}): MetricsSnapshot {
    return {
      sites: Object.fromEntries(this.sites),
      stages: Object.fromEntries(this.stages),
      counters: { ...Object.fromEntries(this.counters), ...more },
    };
  }
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
  for (const [key, value] of Object.entries(from.counters)) into.counters[key] = (into.counters[key] ?? 0) + value;
}

export function emptyMetrics(): MetricsSnapshot {
  return { sites: {}, stages: {}, counters: {} };
}
