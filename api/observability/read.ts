// The figures behind the metrics, read from the database when somebody asks: every server of an installation answers
// the same.
import { alertStates } from '../alerts/machine.js';
import { readCounters } from '../events/batches.js';
import { listEnds } from '../certificates/store.js';
import { detectionSamples } from './detection.js';
import { listExports } from './otlp/store.js';
import type { Parts } from '../parts.js';
import { readState } from '../settings/state.js';
import { connectorsOf } from '../siem/connector.js';
import { readStatus, type LaneStatus } from '../siem/status.js';
import type { Sample, Samples } from './render.js';

export type MetricParts = Pick<Parts, 'database' | 'now' | 'sealing' | 'currentSettings'>;

export async function readSamples(parts: MetricParts): Promise<Samples> {
  const { sql } = parts.database;
  const nowMs = parts.now();
  const lanes = await readStatus(sql, connectorsOf(await parts.currentSettings(), parts.sealing));
  const ofLanes = (value: (lane: LaneStatus) => number): Sample[] =>
    lanes.map((lane) => ({ labels: [lane.connector.name], value: value(lane) }));
  const jobs = await sql<{ name: string; runs: number; failures: number; last_ended_at: Date | null }[]>`
    select name, runs, failures, last_ended_at from job_state order by name`;
  const states = await sql<{ state: string; n: number }[]>`
    select coalesce(s.state, 'ok') as state, count(*) as n from alert_rules r
    left join alert_states s on s.rule_id = r.id where r.enabled group by 1`;
  const { headId, activeId } = await readState(sql);
  const [nodes] = await sql<{ active: number; away: number }[]>`
    select count(*) filter (where reachable and served_version = ${activeId}) as active,
      count(*) filter (where not reachable or served_version is distinct from ${activeId}) as away from data_nodes`;
  const lost = await readCounters(sql);
  const exports = await listExports(sql);
  return {
    siemWaiting: ofLanes(({ waiting }) => waiting),
    siemLag: ofLanes(({ oldestAt }) => (oldestAt === null ? 0 : Math.max(0, nowMs - oldestAt.getTime()) / 1000)),
    siemDeadLetters: ofLanes(({ deadLetters }) => deadLetters),
    siemDelivered: ofLanes(({ lane }) => lane.delivered),
    siemExpired: ofLanes(({ lane }) => lane.expired),
    siemFailing: ofLanes(({ state }) => (state === 'failing' || state === 'misconfigured' ? 1 : 0)),
    alertRules: alertStates.map((state) => ({
      labels: [state],
      value: states.find((one) => one.state === state)?.n ?? 0,
    })),
    jobRuns: jobs.map(({ name, runs }) => ({ labels: [name], value: runs })),
    jobFailures: jobs.map(({ name, failures }) => ({ labels: [name], value: failures })),
    jobEnded: jobs.flatMap(({ name, last_ended_at: at }) =>
      at === null ? [] : [{ labels: [name], value: at.getTime() / 1000 }],
    ),
    nodes: [
      { labels: ['active'], value: nodes?.active ?? 0 },
      { labels: ['away'], value: nodes?.away ?? 0 },
    ],
    recordsLost: Object.entries(lost).map(([reason, value]) => ({ labels: [reason], value })),
    ...(await detectionSamples(sql, nowMs)),
    otelSent: exports.map(({ signal, sent }) => ({ labels: [signal], value: sent })),
    otelRejected: exports.map(({ signal, rejected }) => ({ labels: [signal], value: rejected })),
    otelDropped: exports.map(({ signal, dropped }) => ({ labels: [signal], value: dropped })),
    otelFailing: exports.map(({ signal, failures }) => ({ labels: [signal], value: failures > 0 ? 1 : 0 })),
    certificateEnds: (await listEnds(sql)).map(({ names, not_after: end }) => ({
      labels: [names.split(' ')[0] ?? ''],
      value: end.getTime() / 1000,
    })),
    settingsVersion: [
      { labels: ['saved'], value: headId },
      { labels: ['active'], value: activeId ?? 0 },
    ],
  };
}
