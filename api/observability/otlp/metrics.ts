// Metrics in the data model of OpenTelemetry: those of the control plane from its table, those of a node from what it
// tells scrapers, under the names that dashboards and alert rules know. Sums are cumulative; since when is not known
// where a counter lives in the database (`start_time_unix_nano` 0 says so).
import { ValueType, type HrTime } from '@opentelemetry/api';
import {
  AggregationTemporality,
  DataPointType,
  type DataPoint,
  type Histogram,
  type MetricData,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import { families, type Family, type FamilyKey } from '../families.js';
import type { Samples } from '../render.js';
import { readPrometheus, type TextFamily, type TextSample } from './prometheus-text.js';
import { resourceOf, scope } from './resource.js';

const unknownStart: HrTime = [0, 0];
const units: Readonly<Record<string, string>> = { seconds: 's', bytes: 'By', ratio: '1' };

/** Of the Unified Code for Units of Measure, as the name says it. */
function unitOf(name: string): string {
  const [last = ''] = name
    .replace(/_total$/, '')
    .split('_')
    .slice(-1);
  return units[last] ?? '';
}

const timeOf = (ms: number): HrTime => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];

const describe = (name: string, description: string): MetricData['descriptor'] => ({
  name,
  description,
  unit: unitOf(name),
  valueType: ValueType.DOUBLE,
});

const pointOf = <T>(attributes: Readonly<Record<string, string>>, value: T, endTime: HrTime): DataPoint<T> => ({
  startTime: unknownStart,
  endTime,
  attributes,
  value,
});

function metricOf(name: string, help: string, isCounter: boolean, dataPoints: DataPoint<number>[]): MetricData {
  const common = {
    descriptor: describe(name, help),
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
    dataPoints,
  };
  return isCounter
    ? { ...common, dataPointType: DataPointType.SUM, isMonotonic: true }
    : { ...common, dataPointType: DataPointType.GAUGE };
}

const wrap = (instance: string | null, metrics: MetricData[]): ResourceMetrics => ({
  resource: resourceOf(instance),
  scopeMetrics: [{ scope, metrics: metrics.filter(({ dataPoints }) => dataPoints.length > 0) }],
});

export function ofControlPlane(samples: Samples, nowMs: number): ResourceMetrics {
  const at = timeOf(nowMs);
  const metrics = Object.entries<Family>(families).map(([key, { name, help, type, labels: names }]) =>
    metricOf(
      name,
      help,
      type === 'counter',
      samples[key as FamilyKey].map(({ labels, value }) =>
        pointOf(Object.fromEntries(names.map((label, index) => [label, labels[index] ?? ''])), value, at),
      ),
    ),
  );
  return wrap(null, metrics);
}

/** `text`: what `GET :2019/metrics` answers. Names of older releases are left out. */
export function ofNode(node: string, text: string, nowMs: number): ResourceMetrics {
  const at = timeOf(nowMs);
  const current = readPrometheus(text).filter(({ help }) => !help.startsWith('Deprecated: '));
  return wrap(
    node,
    current.map((family) =>
      family.type === 'histogram'
        ? histogramOf(family, at)
        : metricOf(
            family.name,
            family.help,
            family.type === 'counter',
            family.samples.map(({ labels, value }) => pointOf(labels, value, at)),
          ),
    ),
  );
}

/** Buckets of Prometheus count everything up to their bound, those of OpenTelemetry what lies between two of them. */
function histogramOf({ name, help, samples }: TextFamily, at: HrTime): MetricData {
  const series = new Map<string, { labels: Record<string, string>; samples: TextSample[] }>();
  for (const sample of samples) {
    const { le: _bound, ...labels } = sample.labels;
    const key = JSON.stringify(Object.entries(labels));
    const found = series.get(key);
    if (found === undefined) series.set(key, { labels, samples: [sample] });
    else found.samples.push(sample);
  }
  return {
    descriptor: describe(name, help),
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
    dataPointType: DataPointType.HISTOGRAM,
    dataPoints: [...series.values()].map((one) => pointOf(one.labels, histogramValue(name, one.samples), at)),
  };
}

function histogramValue(name: string, samples: readonly TextSample[]): Histogram {
  const buckets = samples
    .filter((sample) => sample.name === `${name}_bucket`)
    .map(({ labels, value }) => ({ bound: labels['le'] === '+Inf' ? Infinity : Number(labels['le']), upTo: value }))
    .sort((one, other) => one.bound - other.bound);
  const valueOf = (suffix: string): number => samples.find((sample) => sample.name === name + suffix)?.value ?? 0;
  return {
    buckets: {
      boundaries: buckets.map(({ bound }) => bound).filter((bound) => Number.isFinite(bound)),
      counts: buckets.map(({ upTo }, index) => Math.max(0, upTo - (buckets[index - 1]?.upTo ?? 0))),
    },
    sum: valueOf('_sum'),
    count: valueOf('_count'),
  };
}
