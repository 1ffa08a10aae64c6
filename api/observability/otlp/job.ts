// The export, on the leader: spans of the requests that nodes chose, every fifteen seconds in batches, and metrics as
// often as the settings say. What waits for a collector that is away waits in the request log; what is older than ten
// minutes is passed over and counted, so that a collector that comes back is not flooded.
import { JsonMetricsSerializer, JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { Job } from '../../http-kit/index.js';
import type { Parts } from '../../parts.js';
import { pauseAfter } from '../../siem/deliver.js';
import { readSamples } from '../read.js';
import { call, type Called } from './call.js';
import { ofControlPlane, ofNode } from './metrics.js';
import { toSpans, type TracedRow } from './spans.js';
import { exportOf, noteFailed, noteSent, passOver, tracedBehind, type ExportRow } from './store.js';
import { targetOf, type Signal, type Target } from './target.js';

export type OtlpParts = Pick<Parts, 'database' | 'outbound' | 'now' | 'sealing' | 'currentSettings' | 'nodeMetrics'>;

const everyMs = 15_000;
/** Of one call: collectors take 4 MiB and more; a span in JSON has about 900 bytes. */
const requestsOfCall = 400;
/** Of one run. */
const callsMax = 50;
const oldestMs = 600_000;
const pauseMsMax = 3_600_000;

export function createTraceJob(parts: OtlpParts): Job {
  return {
    name: 'otel-traces',
    everyMs,
    timeoutMs: 60_000,
    async run({ nowMs, signal }) {
      const settings = await parts.currentSettings();
      const target = settings.otel_traces_percent > 0 ? targetOf(settings, parts.sealing) : null;
      if (target === null) return 'switched off';
      const { sql } = parts.database;
      const before = await exportOf(sql, 'traces');
      const passed = await passOver(sql, before.cursor, new Date(nowMs - oldestMs));
      const lane = passed === 0 ? before : await exportOf(sql, 'traces');
      const line = await sendTraces(parts, target, lane, nowMs, signal);
      return passed === 0 ? line : `${line}; ${passed} were too old and passed over`;
    },
  };
}

async function sendTraces(
  parts: OtlpParts,
  target: Target,
  lane: ExportRow,
  nowMs: number,
  signal: AbortSignal,
): Promise<string> {
  if (lane.retry_at !== null && lane.retry_at.getTime() > nowMs) return `waits: ${lane.last_error}`;
  const { sql } = parts.database;
  let { cursor } = lane;
  let requests = 0;
  for (let calls = 0; calls < callsMax && !signal.aborted; calls += 1) {
    const rows = await tracedBehind(sql, cursor, requestsOfCall);
    const last = rows.at(-1);
    if (last === undefined) break;
    const sent = await sendRows(parts, target, rows);
    if (sent.kind === 'later') return failed(parts, 'traces', lane.failures + 1, sent);
    const { rejected, told, spans } = sent;
    cursor = last.id;
    requests += rows.length;
    const noted = { cursor, sent: Math.max(0, spans - rejected), rejected, dropped: 0, told };
    await noteSent(sql, 'traces', noted, new Date(parts.now()));
    if (rows.length < requestsOfCall) break;
  }
  return `${requests} requests sent`;
}

type Sent =
  | { readonly kind: 'taken'; readonly spans: number; readonly rejected: number; readonly told: string | null }
  | Extract<Called, { kind: 'later' }>;

/** By halves where the collector refuses the whole, down to the request that is the reason. */
async function sendRows(parts: OtlpParts, target: Target, rows: readonly TracedRow[]): Promise<Sent> {
  const spans = toSpans(rows);
  const bytes = JsonTraceSerializer.serializeRequest(spans);
  if (bytes === undefined) return { kind: 'taken', spans: spans.length, rejected: spans.length, told: null };
  const called = await call(parts, target, 'traces', bytes);
  if (called.kind === 'later') return called;
  if (called.kind === 'taken') return { ...called, spans: spans.length };
  if (rows.length === 1) return { kind: 'taken', spans: spans.length, rejected: spans.length, told: called.reason };
  const middle = rows.length >>> 1;
  const first = await sendRows(parts, target, rows.slice(0, middle));
  if (first.kind === 'later') return first;
  const second = await sendRows(parts, target, rows.slice(middle));
  if (second.kind === 'later') return second;
  return {
    kind: 'taken',
    spans: spans.length,
    rejected: first.rejected + second.rejected,
    told: second.told ?? first.told,
  };
}

/** Notes it, and says it to whoever looks at the jobs. */
async function failed(
  { database, now }: OtlpParts,
  signal: Signal,
  failures: number,
  { reason, afterMs }: Extract<Called, { kind: 'later' }>,
): Promise<string> {
  const pauseMs = Math.max(Math.min(afterMs ?? 0, pauseMsMax), pauseAfter(failures, Math.random()));
  await noteFailed(database.sql, signal, { failures, retryAt: new Date(now() + pauseMs), reason });
  return `not sent: ${reason}`;
}

export function createMetricsJob(parts: OtlpParts): Job {
  return {
    name: 'otel-metrics',
    everyMs,
    timeoutMs: 60_000,
    async run({ nowMs }) {
      const settings = await parts.currentSettings();
      const target = settings.otel_metrics ? targetOf(settings, parts.sealing) : null;
      if (target === null) return 'switched off';
      const { sql } = parts.database;
      const lane = await exportOf(sql, 'metrics');
      // half a look of the loop early rather than one late
      const dueMs = (lane.last_sent_at?.getTime() ?? 0) + settings.otel_metrics_interval_sec * 1000 - everyMs / 2;
      if (nowMs < dueMs || (lane.retry_at !== null && lane.retry_at.getTime() > nowMs)) return 'not due';
      return sendMetrics(parts, target, lane, nowMs);
    },
  };
}

/** One call for the control plane and one for each node: what a collector refuses of one harms no other. */
async function sendMetrics(parts: OtlpParts, target: Target, lane: ExportRow, nowMs: number): Promise<string> {
  const nodes = (await parts.nodeMetrics?.()) ?? [];
  const answering = nodes.flatMap(({ node, answer }) => (answer === null ? [] : [{ node, text: answer }]));
  const all = [
    ofControlPlane(await readSamples(parts), nowMs),
    ...answering.map((one) => ofNode(one.node, one.text, nowMs)),
  ];
  let rejected = 0;
  let told: string | null = null;
  let points = 0;
  for (const metrics of all) {
    const bytes = JsonMetricsSerializer.serializeRequest(metrics);
    if (bytes === undefined) continue;
    const count = metrics.scopeMetrics
      .flatMap((one) => one.metrics)
      .reduce((sum, one) => sum + one.dataPoints.length, 0);
    const called = await call(parts, target, 'metrics', bytes);
    if (called.kind === 'later') return failed(parts, 'metrics', lane.failures + 1, called);
    points += count;
    rejected += called.kind === 'taken' ? called.rejected : count;
    told = (called.kind === 'taken' ? called.told : called.reason) ?? told;
  }
  const noted = { cursor: null, sent: Math.max(0, points - rejected), rejected, dropped: 0, told };
  await noteSent(parts.database.sql, 'metrics', noted, new Date(parts.now()));
  const silent = nodes.length - answering.length;
  return `${points} values of ${all.length} sources sent${silent === 0 ? '' : `; ${silent} nodes did not answer`}`;
}
