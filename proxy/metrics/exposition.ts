// Prometheus text format, version 0.0.4: each family once, with its HELP and TYPE, its samples together. Behind them
// the same values once more under the names of older releases.
import { actions, counters, gauges, histograms, type Family, type GaugeName } from './families.js';
import { durationBounds, inspectionBounds, type HistogramSnapshot } from './histogram.js';
import { readCounterKey, type MetricsSnapshot } from './metrics.js';

/** Label values in the order of the family's labels. */
interface Sample {
  readonly values: readonly string[];
  readonly value: number;
}

interface Measured {
  readonly family: Family;
  readonly lines: (name: string, labels: readonly string[]) => string[];
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function labelText(names: readonly string[], values: readonly string[]): string {
  return names.map((name, index) => `${name}="${escapeLabel(values[index] ?? '')}"`).join(',');
}

/** One line a sample; samples that differ only in labels that are left out are one. */
function sampleLines(family: Family, samples: readonly Sample[], name: string, labels: readonly string[]): string[] {
  const all = Object.keys(family.labels);
  const sums = new Map<string, number>();
  for (const { values, value } of samples) {
    const text = labelText(
      labels,
      labels.map((label) => values[all.indexOf(label)] ?? ''),
    );
    const line = text === '' ? name : `${name}{${text}}`;
    sums.set(line, (sums.get(line) ?? 0) + value);
  }
  return [...sums].map(([line, value]) => `${line} ${value}`);
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

function measuredCounters(metrics: MetricsSnapshot): Measured[] {
  const samples = new Map<string, Sample[]>();
  const add = (name: string, sample: Sample): void => {
    const found = samples.get(name);
    if (found === undefined) samples.set(name, [sample]);
    else found.push(sample);
  };
  for (const [site, snapshot] of Object.entries(metrics.sites))
    for (const action of actions) add('requests', { values: [site, action], value: snapshot.actions[action] });
  for (const [key, value] of Object.entries(metrics.counters).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const { name, values } = readCounterKey(key);
    add(name, { values, value });
  }
  return Object.entries<Family>(counters).map(([key, family]) => ({
    family,
    lines: (name, labels) => sampleLines(family, samples.get(key) ?? [], name, labels),
  }));
}

function measuredHistograms(metrics: MetricsSnapshot): Measured[] {
  const lines = (
    family: Family,
    rows: readonly {
      readonly value: string;
      readonly bounds: readonly number[];
      readonly histogram: HistogramSnapshot;
    }[],
  ): Measured => ({
    family,
    lines: (name, labels) =>
      rows.flatMap(({ value, bounds, histogram }) =>
        histogramLines(name, labelText(labels, [value]), bounds, histogram),
      ),
  });
  return [
    lines(
      histograms.upstreamDuration,
      Object.entries(metrics.sites).map(([value, { upstream }]) => ({
        value,
        bounds: durationBounds,
        histogram: upstream,
      })),
    ),
    lines(
      histograms.stageDuration,
      Object.entries(metrics.stages).map(([value, histogram]) => ({
        value,
        bounds: value === 'inspection' ? inspectionBounds : durationBounds,
        histogram,
      })),
    ),
  ];
}

function measuredGauges(values: Readonly<Partial<Record<GaugeName, number>>>): Measured[] {
  return Object.entries<Family>(gauges).map(([key, family]) => {
    const value = values[key as GaugeName];
    return { family, lines: (name) => (value === undefined ? [] : [`${name} ${value}`]) };
  });
}

function block(name: string, type: Family['type'], help: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines];
}

/** Families that nobody counted yet are left out. */
export function renderPrometheus(
  metrics: MetricsSnapshot,
  gaugeValues: Readonly<Partial<Record<GaugeName, number>>>,
): string {
  const measured = [...measuredCounters(metrics), ...measuredHistograms(metrics), ...measuredGauges(gaugeValues)];
  const current = measured.flatMap(({ family, lines }) =>
    block(family.name, family.type, family.help, lines(family.name, Object.keys(family.labels))),
  );
  const aliases = measured.flatMap(({ family, lines }) => {
    if (family.alias === undefined) return [];
    const { name, labels = Object.keys(family.labels) } = family.alias;
    return block(name, family.type, `Deprecated: ${family.name}.`, lines(name, labels));
  });
  return `${[...current, ...aliases].join('\n')}\n`;
}
