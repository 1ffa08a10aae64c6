// The queues of this room: rows that wait to be worked on. How deep each is, how long the oldest has waited, and what
// failed; from the rows themselves, so that there is no second count that could be wrong.
import type { Fragment, Sql } from '../database.js';
import type { ScanKind } from '../scanners/contract.js';
import {
  secondsSince,
  spanText,
  worstOf,
  type HealthComponent,
  type HealthPart,
  type HealthQueue,
  type HealthState,
} from './component.js';

interface QueueRow {
  readonly id: string;
  readonly about: string;
  readonly lagSecondsMax: number;
  readonly action: string;
  /** Columns `depth` and `oldest_at` of what may be worked on at `now`. */
  readonly waiting: (sql: Sql, now: Date) => Fragment;
  /** Column `failures` of what failed since `since`; absent: nothing of it fails. */
  readonly failed?: (sql: Sql, since: Date) => Fragment;
}

const dayMs = 86_400_000;
/** So many of the newest runs of a kind are looked at for failures. */
const runsLookedAt = 200;
const jobs = 'Read System, Health for the job that works on it, and the log of the control plane.';

/** A scanner without a line here does not compile. */
const scans: Readonly<Record<ScanKind, string>> = {
  secrets: 'Scans for secrets',
  sast: 'Scans of source code',
  sca: 'Scans of packages',
  iac: 'Scans of infrastructure',
  k8s: 'Scans of Kubernetes objects',
  container: 'Scans of images',
};

/** Kinds of `vm_runs` that wait for a worker, with what they are. */
const runKinds: readonly (readonly [kind: string, about: string, lagSecondsMax: number])[] = [
  ['import', 'Reports that are imported', 1800],
  ...Object.entries(scans).map(([kind, about]): [string, string, number] => [kind, about, 900]),
  ['dast', 'Scans of running applications', 6 * 3600],
  ['scm', 'Pushed commits that are to be judged', 2 * 86_400],
];

const runQueue = ([kind, about, lagSecondsMax]: (typeof runKinds)[number]): QueueRow => ({
  id: `runs.${kind}`,
  about,
  lagSecondsMax,
  action: `Read GET /api/v1/runs?kind=${kind}; cancel what does not end.`,
  waiting: (sql) => sql`
    select count(*) as depth, min(created_at) as oldest_at from vm_runs
    where kind = ${kind} and status in ('queued', 'running')`,
  failed: (sql, since) => sql`
    select count(*) as failures from (
      select status, finished_at from vm_runs where kind = ${kind} order by id desc limit ${runsLookedAt}) newest
    where status in ('failed', 'timed_out') and finished_at >= ${since}`,
});

const queueRows: readonly QueueRow[] = [
  {
    id: 'events',
    about: 'Events on their way to notifications and connectors',
    lagSecondsMax: 300,
    action: jobs,
    waiting: (sql) => sql`select count(*) as depth, min(at) as oldest_at from vm_outbox`,
  },
  {
    id: 'notices',
    about: 'Notices that may be sent now',
    lagSecondsMax: 3600,
    action: 'Test the channels (Alerts, Notifications): one that is away or refuses keeps its notices waiting.',
    waiting: (sql, now) => sql`
      select count(*) as depth, min(not_before) as oldest_at from vm_notices
      where state = 'queued' and not_before <= ${now}`,
    failed: (sql, since) => sql`
      select count(*) as failures from vm_notices where state = 'failed' and created_at >= ${since}`,
  },
  {
    id: 'tickets',
    about: 'Tickets that are to be made',
    lagSecondsMax: 3600,
    action: 'Test the integration (Governance, Integrations): a tracker that is away keeps its tickets waiting.',
    waiting: (sql) => sql`
      select count(*) as depth, min(created_at) as oldest_at from vm_tickets where state = 'queued'`,
    failed: (sql, since) => sql`
      select count(*) as failures from vm_tickets where state = 'failed' and updated_at >= ${since}`,
  },
  {
    id: 'rule-runs',
    about: 'Runs of triage rules',
    lagSecondsMax: 900,
    action: jobs,
    waiting: (sql) => sql`
      select count(*) as depth, min(created_at) as oldest_at from vm_rule_runs
      where status in ('queued', 'running', 'undoing')`,
  },
  {
    id: 'advisories',
    about: 'Applications whose components are to be matched with advisories',
    lagSecondsMax: 1800,
    action: jobs,
    waiting: (sql) => sql`select count(*) as depth, min(noted_at) as oldest_at from vm_osv_pending`,
  },
  ...runKinds.map(runQueue),
];

/** Every queue of the room, also those in which nothing waits. */
export async function readQueues(sql: Sql, now: Date): Promise<HealthQueue[]> {
  const since = new Date(now.getTime() - dayMs);
  const all: HealthQueue[] = [];
  // one after the other: the embedded database has one connection, and these are short
  for (const { id, about, lagSecondsMax, action, waiting, failed } of queueRows) {
    const [row] = await sql<{ depth: number; oldest_at: Date | null }[]>`${waiting(sql, now)}`;
    const [bad] = failed === undefined ? [] : await sql<{ failures: number }[]>`${failed(sql, since)}`;
    const counts = { depth: row?.depth ?? 0, oldestAt: row?.oldest_at ?? null, failures: bad?.failures ?? 0 };
    all.push({ id, about, lagSecondsMax, action, ...counts });
  }
  return all;
}

export const lagOf = ({ oldestAt }: HealthQueue, now: Date): number =>
  oldestAt === null ? 0 : secondsSince(oldestAt, now);

/** `failing`: the oldest has waited four times as long as it should. */
export function queueState(queue: HealthQueue, now: Date): HealthState {
  const lag = lagOf(queue, now);
  if (lag > 4 * queue.lagSecondsMax) return 'failing';
  return lag > queue.lagSecondsMax ? 'warning' : 'ok';
}

/** All queues as one component. */
export function judgeQueues(queues: readonly HealthQueue[], now: Date): HealthComponent {
  const parts = queues.map((queue): HealthPart => {
    const { id, about, depth } = queue;
    const waits = depth === 0 ? 'nothing waits' : `${depth} wait, the oldest for ${spanText(lagOf(queue, now))}`;
    const text = `${about}: ${waits}`;
    return { name: id, state: queueState(queue, now), text };
  });
  const state = worstOf(parts.map((part) => part.state));
  const [slowest] = [...queues].sort(
    (left, right) => lagOf(right, now) / right.lagSecondsMax - lagOf(left, now) / left.lagSecondsMax,
  );
  const lag = slowest === undefined ? 0 : lagOf(slowest, now);
  const waiting = queues.reduce((sum, { depth }) => sum + depth, 0);
  const late = parts.filter((part) => part.state !== 'ok').length;
  return {
    id: 'queues',
    state,
    summary: late > 0 ? `${late} of ${queues.length} queues lag` : waiting === 0 ? 'Nothing waits' : `${waiting} wait`,
    measure: { name: 'longest wait', value: Math.round(lag), unit: 'seconds' },
    action: state === 'ok' ? null : (slowest?.action ?? null),
    parts,
  };
}
