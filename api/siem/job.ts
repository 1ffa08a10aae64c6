// Every fifteen seconds, on the leader: new events get their place, and each connector gets what waits for it. All of
// them at once: one that hangs or is away holds up no other.
import type { Job } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { connectorsOf, type Connector } from './connector.js';
import { deliverLane } from './deliver.js';
import { createSinks } from './sinks/index.js';
import { reasonOf } from './sinks/sink.js';
import { listLanes, placeEvents, pruneOutbox } from './store.js';

export type SiemParts = Pick<Parts, 'database' | 'outbound' | 'sealing' | 'currentSettings' | 'now' | 'audit'>;

/** A round ends after this long, so that the next look of the loop is not late; a call that is out is waited for. */
const roundMs = 10_000;
const dayMs = 86_400_000;
/** Events that are kept for replays and for connectors that are away. */
const outboxRowsMax = { embedded: 300_000, postgres: 5_000_000 } as const;

export function createDeliveryJob(parts: SiemParts): Job {
  const sinks = createSinks();
  return {
    name: 'siem',
    everyMs: 15_000,
    timeoutMs: 60_000,
    async run({ signal }) {
      const { database, outbound, now } = parts;
      const connectors = connectorsOf(await parts.currentSettings(), parts.sealing);
      if (connectors.length === 0) return 'no connector';
      await placeEvents(database.sql);
      const lanes = await listLanes(database.sql);
      const untilMs = performance.now() + roundMs;
      const deliverOne = async (connector: Connector): Promise<string[]> => {
        const lane = lanes.find(({ name, enabled }) => name === connector.name && enabled);
        if (lane === undefined) return []; // the settings that name it were read before they were saved
        try {
          const laneParts = { database, outbound, now, signal, untilMs };
          const count = await deliverLane(connector, lane, sinks[connector.kind], laneParts);
          return count === 0 ? [] : [`${count} to ${connector.name}`];
        } catch (error) {
          return [`${connector.name} failed: ${reasonOf(error)}`];
        }
      };
      const lines = await Promise.all(connectors.map(deliverOne));
      return lines.flat().join('; ') || 'nothing new';
    },
  };
}

/** Hourly: the outbox is as old as the request log at most, and has so many rows at most. */
export function createOutboxJob({ database, currentSettings }: SiemParts): Job {
  return {
    name: 'siem-outbox',
    everyMs: 3600_000,
    timeoutMs: 5 * 60_000,
    async run({ nowMs }) {
      const { retention_requests_days: days } = await currentSettings();
      const before = new Date(nowMs - days * dayMs);
      const removed = await pruneOutbox(database.sql, before, outboxRowsMax[database.kind]);
      await database.sql`delete from siem_dead_letters where died_at < ${before}`;
      await database.sql`delete from siem_replays where ended_at < ${before}`;
      return `${removed} events removed`;
    },
  };
}
