// Delivery for one connector: in order, a batch at a time, and forward only when the receiver has taken it. What was
// sent and not noted because this process ended is sent again, under the same id. A pause after a failure grows to a
// minute; nothing is skipped but what the receiver refuses for what it is, and that is kept as a dead letter.
import type { Database } from '../db/client.js';
import type { Connector } from './connector.js';
import { kindsByName, toEvent } from './event.js';
import { redact } from './redact.js';
import type { Outcome, Sink, SinkParts } from './sinks/sink.js';
import {
  bury,
  eventsBehind,
  holdLane,
  moveLane,
  moveReplay,
  openReplays,
  type DeadLetter,
  type LaneRow,
  type PlacedRow,
} from './store.js';

export interface LaneParts extends SinkParts {
  readonly database: Database;
  readonly signal: AbortSignal;
  /** When this round has to end, by `now`'s clock of the process (`performance.now`). */
  readonly untilMs: number;
}

/** Dead letters of one connector; with so many it waits for somebody to look at them. */
export const deadLettersMax = 100_000;

const pauseMsMax = 60_000;
const namedPauseMsMax = 3600_000;

/** Grows with every failure in a row, spread so that several connectors do not knock together. */
export const pauseAfter = (failures: number, random: number): number =>
  Math.min(pauseMsMax, 1000 * 2 ** Math.min(failures, 10)) * (0.5 + random / 2);

const isOver = ({ signal, untilMs }: LaneParts): boolean => signal.aborted || performance.now() >= untilMs;

interface Stretch {
  /** How many of the rows are dealt with: taken, refused, or not wanted. */
  readonly done: number;
  readonly delivered: number;
  readonly dead: readonly DeadLetter[];
  readonly failure: { readonly reason: string; readonly afterMs: number | null } | null;
}

/** Everything that waits for it. Returns how many were delivered; a failure is noted and never thrown. */
export async function deliverLane(connector: Connector, lane: LaneRow, sink: Sink, parts: LaneParts): Promise<number> {
  const { database, now } = parts;
  const { sql } = database;
  if (connector.problems.length > 0) {
    await holdLane(
      sql,
      lane.name,
      { failures: 0, retryAt: null, reason: connector.problems.join(' ') },
      new Date(now()),
    );
    return 0;
  }
  if (lane.retry_at !== null && lane.retry_at.getTime() > now()) return 0;
  let { position, failures } = lane;
  let delivered = 0;
  const fail = async ({ reason, afterMs }: NonNullable<Stretch['failure']>): Promise<number> => {
    failures += 1;
    const pauseMs = Math.max(Math.min(afterMs ?? 0, namedPauseMsMax), pauseAfter(failures, Math.random()));
    await holdLane(sql, lane.name, { failures, retryAt: new Date(now() + pauseMs), reason }, new Date(now()));
    return delivered;
  };
  if (await isFull(database, lane.name))
    return fail({ reason: `there are ${deadLettersMax} dead letters; retry or remove them`, afterMs: null });
  while (!isOver(parts)) {
    const rows = await eventsBehind(sql, position, Number.MAX_SAFE_INTEGER, sink.eventsMax);
    if (rows.length === 0) break;
    const stretch = await deliverRows(connector, rows, sink, parts);
    if (stretch.done > 0) {
      const to = rows[stretch.done - 1]?.position ?? position;
      const before = position;
      const isMoved = await sql.begin(async (tx) => {
        const at = new Date(now());
        if (
          !(await moveLane(
            tx,
            { name: lane.name, position: before },
            { position: to, delivered: stretch.delivered },
            at,
          ))
        )
          return false;
        await bury(tx, lane.name, stretch.dead, at);
        return true;
      });
      if (!isMoved) return delivered;
      position = to;
      delivered += stretch.delivered;
      failures = 0;
    }
    if (stretch.failure !== null) return fail(stretch.failure);
  }
  const again = await deliverAgain(connector, sink, parts);
  delivered += again.delivered;
  return again.failure === null ? delivered : fail(again.failure);
}

async function isFull({ sql }: Database, name: string): Promise<boolean> {
  const [row] = await sql<{ n: number }[]>`
    select count(*) as n from (select 1 from siem_dead_letters where connector = ${name} limit ${deadLettersMax}) l`;
  return (row?.n ?? 0) >= deadLettersMax;
}

/** As far as one call goes. */
async function deliverRows(
  connector: Connector,
  rows: readonly PlacedRow[],
  sink: Sink,
  parts: SinkParts,
): Promise<Stretch> {
  const batch: { readonly place: number; readonly event: ReturnType<typeof toEvent> }[] = [];
  let bytes = 0;
  let looked = 0;
  for (const [place, row] of rows.entries()) {
    const event = toEvent(row);
    const isWanted = connector.events === null ? !kindsByName.has(event.kind) : connector.events.has(event.kind);
    if (isWanted) {
      const told = redact(event, connector.redact);
      // every format says about as much as this, and some say it twice
      const size = Buffer.byteLength(JSON.stringify(told)) * 1.5 + 500;
      if (batch.length > 0 && bytes + size > sink.bytesMax) break;
      bytes += size;
      batch.push({ place, event: told });
    }
    looked = place + 1;
  }
  if (batch.length === 0) return { done: looked, delivered: 0, dead: [], failure: null };
  const sent = await sendOrHalve(
    connector,
    batch.map(({ event }) => event),
    sink,
    parts,
  );
  const done = sent.taken === batch.length ? looked : (batch[sent.taken]?.place ?? looked);
  const dead = sent.refused.flatMap(({ index, reason }): DeadLetter[] => {
    const row = rows[batch[index]?.place ?? -1];
    return row === undefined || index >= sent.taken ? [] : [{ ...row, reason }];
  });
  return {
    done,
    delivered: sent.taken - dead.length,
    dead,
    failure: sent.kind === 'later' ? { reason: sent.reason, afterMs: sent.afterMs } : null,
  };
}

/** A batch that was refused as a whole is tried by halves, down to the one event that is the reason. */
async function sendOrHalve(
  connector: Connector,
  events: readonly ReturnType<typeof toEvent>[],
  sink: Sink,
  parts: SinkParts,
): Promise<Exclude<Outcome, { kind: 'unfit' }>> {
  for (let count = events.length; ; count = Math.ceil(count / 2)) {
    const outcome = await sink.deliver(connector, events.slice(0, count), parts);
    if (outcome.kind !== 'unfit') return outcome;
    if (count === 1) return { kind: 'taken', taken: 1, refused: [{ index: 0, reason: outcome.reason }] };
  }
}

/** What was asked for again: dead letters, then ranges. The order of what is new comes first and is not touched. */
async function deliverAgain(
  connector: Connector,
  sink: Sink,
  parts: LaneParts,
): Promise<{ readonly delivered: number; readonly failure: Stretch['failure'] }> {
  const { sql } = parts.database;
  let delivered = 0;
  while (!isOver(parts)) {
    const letters = await sql<PlacedRow[]>`
      select position, event_id, kind, at, body from siem_dead_letters
      where connector = ${connector.name} and retry order by position limit ${sink.eventsMax}`;
    if (letters.length === 0) break;
    const { done, dead, failure, ...stretch } = await deliverRows(connector, letters, sink, parts);
    const refused = new Set(dead.map(({ event_id }) => event_id));
    const gone = letters.slice(0, done).filter(({ event_id }) => !refused.has(event_id));
    await sql.begin(async (tx) => {
      await bury(tx, connector.name, dead, new Date(parts.now()));
      if (gone.length > 0)
        await tx`
          delete from siem_dead_letters where connector = ${connector.name}
            and event_id in ${tx(gone.map(({ event_id }) => event_id))}`;
    });
    delivered += stretch.delivered;
    if (failure !== null) return { delivered, failure };
  }
  for (const replay of await openReplays(sql, connector.name)) {
    let next = replay.next_position;
    while (!isOver(parts)) {
      const rows = await eventsBehind(sql, next - 1, replay.last_position, sink.eventsMax);
      if (rows.length === 0) {
        await moveReplay(sql, replay.id, next, new Date(parts.now()));
        break;
      }
      const { done, dead, failure, ...stretch } = await deliverRows(connector, rows, sink, parts);
      if (done > 0) {
        next = (rows[done - 1]?.position ?? next) + 1;
        const at = new Date(parts.now());
        const moved = next;
        await sql.begin(async (tx) => {
          await moveReplay(tx, replay.id, moved, null);
          await bury(tx, connector.name, dead, at);
        });
        delivered += stretch.delivered;
      }
      if (failure !== null) return { delivered, failure };
    }
  }
  return { delivered, failure: null };
}
