// What runs: nodes of the data plane, background jobs, delivery to other systems.
import type { HealthPart, HealthQueue } from '#vm-manager';
import { listNodes, type NodeRow } from '../../nodes/node-store.js';
import { readState } from '../../settings/state.js';
import { connectorsOf } from '../../siem/connector.js';
import { readStatus, type LaneStatus } from '../../siem/status.js';
import { ago, dayS, hourS, ofParts, since, type HealthParts, type Look } from './kit.js';

/** A node that was not seen for so long may be gone. */
const nodeSeenS = 300;

function judgeNode(node: NodeRow, activeId: number | null, now: Date): HealthPart {
  const { url: name, reachable, last_seen_at: seen, served_version: served, detail } = node;
  if (!reachable || seen === null || since(seen, now) > nodeSeenS) {
    const when = seen === null ? 'was never seen' : `was last seen ${ago(seen, now)}`;
    return { name, state: 'failing', text: detail === '' ? when : `${when}: ${detail}` };
  }
  if (served !== activeId)
    return { name, state: 'warning', text: `serves version ${served ?? 'none'}, ${activeId ?? 'none'} is active` };
  return { name, state: 'ok', text: `serves version ${served ?? 'none'} with ${node.workers} workers` };
}

export const judgeNodes: Look = async ({ database: { sql } }, now) => {
  const [nodes, { activeId }] = [await listNodes(sql), await readState(sql)];
  const parts = nodes.map((node) => judgeNode(node, activeId, now));
  const away = parts.filter(({ state }) => state === 'failing').length;
  return ofParts('nodes', parts, {
    noun: 'node',
    none: 'No node is known',
    measure: { name: 'away', value: away, unit: 'count' },
    actions: {
      failing:
        'Start the node, or look at its way to this control plane; one that is gone is removed in System, Nodes.',
      warning: 'It is brought up to date within 15 seconds; if not, its log says why.',
    },
  });
};

interface JobRow {
  readonly name: string;
  readonly last_started_at: Date | null;
  readonly last_ended_at: Date | null;
  readonly last_error: string | null;
  readonly running_since: Date | null;
  readonly timed_out_at: Date | null;
}

/** Jobs run every few seconds; none at all means that no process leads. */
const leaderS = 300;
/** What a release has no more stays in the table; it does not run any more. */
const forgottenS = 7 * dayS;

function judgeJob(job: JobRow, now: Date): HealthPart {
  const { name, running_since: running, timed_out_at: timedOut, last_error: error, last_ended_at: ended } = job;
  if (running !== null && timedOut !== null)
    return { name, state: 'failing', text: `hangs since ${running.toISOString()}` };
  if (error !== null) return { name, state: 'warning', text: error };
  return { name, state: 'ok', text: ended === null ? 'runs for the first time' : `ended ${ago(ended, now)}` };
}

export const judgeJobs: Look = async ({ database: { sql } }, now) => {
  const rows = await sql<JobRow[]>`select * from job_state order by name`;
  const lastOf = ({ last_started_at: started, last_ended_at: ended }: JobRow): number =>
    Math.max(started?.getTime() ?? 0, ended?.getTime() ?? 0);
  const live = rows.filter((job) => (now.getTime() - lastOf(job)) / 1000 < forgottenS || job.running_since !== null);
  const newest = Math.max(0, ...rows.map(lastOf));
  const idleS = Math.max(0, (now.getTime() - newest) / 1000);
  const parts = live.map((job) => judgeJob(job, now));
  const isLed = newest > 0 && idleS <= leaderS;
  if (rows.length > 0 && !isLed)
    parts.push({ name: 'leader', state: 'failing', text: `no job was begun for ${Math.round(idleS)} s` });
  return ofParts('jobs', parts, {
    noun: 'job',
    none: 'No job has run yet',
    measure: { name: 'since the last one', value: Math.round(newest === 0 ? 0 : idleS), unit: 'seconds' },
    actions: {
      failing: isLed
        ? 'A job hangs: read the log of the control plane that leads, and restart it.'
        : 'No control plane leads: restart one, and look at its way to the database.',
      warning: 'A job failed the last time; the log of the control plane has the error, and it runs again by itself.',
    },
  });
};

function judgeLane({ connector, lane, state, waiting, oldestAt, deadLetters }: LaneStatus, now: Date): HealthPart {
  const { name } = connector;
  const lag = oldestAt === null ? 0 : since(oldestAt, now);
  const waits = waiting === 0 ? '' : `, ${waiting} events wait`;
  if (state === 'misconfigured') return { name, state: 'failing', text: connector.problems.join('; ') };
  if (state === 'failing' || lag > hourS)
    return { name, state: lag > hourS ? 'failing' : 'warning', text: `${lane.last_error ?? 'lags'}${waits}` };
  if (deadLetters > 0) return { name, state: 'warning', text: `${deadLetters} events were refused for good` };
  return { name, state: 'ok', text: `delivers${waits}` };
}

const lanesOf = async ({ database: { sql }, currentSettings, sealing }: HealthParts): Promise<LaneStatus[]> =>
  readStatus(sql, connectorsOf(await currentSettings(), sealing));

export const judgeConnectors: Look = async (parts, now) => {
  const lanes = await lanesOf(parts);
  const lags = lanes.map(({ oldestAt }) => (oldestAt === null ? 0 : since(oldestAt, now)));
  return ofParts(
    'connectors',
    lanes.map((lane) => judgeLane(lane, now)),
    {
      noun: 'connector',
      none: 'No connector is in use',
      measure:
        lanes.length === 0 ? null : { name: 'longest wait', value: Math.round(Math.max(...lags)), unit: 'seconds' },
      actions: {
        failing: 'Test the connector (Alerts, Connectors): the error says what its receiver wants.',
        warning: 'Test the connector (Alerts, Connectors); what was refused can be sent again there.',
      },
    },
  );
};

export async function connectorQueues(parts: HealthParts): Promise<HealthQueue[]> {
  return (await lanesOf(parts)).map(({ connector, waiting, oldestAt, deadLetters }) => ({
    id: `connector.${connector.name}`,
    about: `Events for the connector ${connector.name}`,
    depth: waiting,
    oldestAt,
    lagSecondsMax: hourS,
    failures: deadLetters,
    action: 'Test the connector (Alerts, Connectors): the error says what its receiver wants.',
  }));
}
