// How delivery goes: what waits for each connector and since when, what it refused, and why it does not go on.
import type { Queryable } from '../db/client.js';
import type { Connector } from './connector.js';
import { listLanes, type LaneRow } from './store.js';

export const laneStates = ['delivering', 'waiting', 'failing', 'misconfigured'] as const;
export type LaneState = (typeof laneStates)[number];

export interface LaneStatus {
  readonly connector: Connector;
  readonly lane: LaneRow;
  readonly state: LaneState;
  readonly waiting: number;
  /** Of the oldest event that waits; null: none does. */
  readonly oldestAt: Date | null;
  readonly deadLetters: number;
  readonly replaying: number;
}

interface Figures {
  readonly name: string;
  readonly waiting: number;
  readonly oldest_at: Date | null;
  readonly dead: number;
  readonly replaying: number;
}

/** Of the connectors that are switched on. What other servers save counts from their commit on. */
export async function readStatus(sql: Queryable, connectors: readonly Connector[]): Promise<LaneStatus[]> {
  const lanes = await listLanes(sql);
  const figures = await sql<Figures[]>`
    select c.name, w.waiting, w.oldest_at,
      (select count(*) from siem_dead_letters d where d.connector = c.name) as dead,
      (select coalesce(sum(greatest(0, r.last_position - r.next_position + 1)), 0)::bigint from siem_replays r
        where r.connector = c.name and r.ended_at is null) as replaying
    from siem_connectors c cross join lateral (
      select count(*) as waiting, min(at) as oldest_at from siem_outbox o
      where o.position is null or o.position > c.position) as w`;
  return connectors.flatMap((connector): LaneStatus[] => {
    const lane = lanes.find(({ name }) => name === connector.name);
    const found = figures.find(({ name }) => name === connector.name);
    if (lane === undefined || found === undefined) return [];
    return [
      {
        connector,
        lane,
        state: stateOf(connector, lane, found.waiting),
        waiting: found.waiting,
        oldestAt: found.oldest_at,
        deadLetters: found.dead,
        replaying: found.replaying,
      },
    ];
  });
}

function stateOf({ problems }: Connector, { failures }: LaneRow, waiting: number): LaneState {
  if (problems.length > 0) return 'misconfigured';
  if (failures > 0) return 'failing';
  return waiting > 0 ? 'delivering' : 'waiting';
}
