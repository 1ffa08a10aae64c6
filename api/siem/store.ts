// The tables of delivery: the outbox in its order, how far each connector has come, what it refused, and what is sent
// again. The triggers that fill the outbox stand in the migration.
import type { Queryable, Sql, Tx } from '../db/client.js';
import { lockUntilCommit } from '../db/lock-keys.js';

export interface OutboxRow {
  readonly event_id: string;
  readonly kind: string;
  readonly at: Date;
  readonly body: unknown;
}
export interface PlacedRow extends OutboxRow {
  readonly position: number;
}

export interface LaneRow {
  readonly name: string;
  readonly enabled: boolean;
  readonly position: number;
  readonly failures: number;
  readonly retry_at: Date | null;
  readonly last_error: string | null;
  readonly last_error_at: Date | null;
  readonly last_delivered_at: Date | null;
  readonly delivered: number;
  readonly expired: number;
}

/** Rows that get their place with one statement: on the embedded database others wait meanwhile. */
const placedAtOnce = 2000;

/**
 * Puts an event into the outbox, with the transaction that it tells of; nothing where no connector wants any. `kind` is
 * a row of `eventKinds`, `body` what `toEvent` reads.
 */
export async function noteEvent(tx: Tx, kind: string, at: Date, body: object): Promise<void> {
  await tx`select siem_note(${kind}, ${at}, ${JSON.stringify(body)}::text::jsonb)`;
}

/** As `noteEvent` for several of one time, in the order given. */
export async function noteEvents(tx: Tx, kind: string, at: Date, bodies: readonly object[]): Promise<void> {
  if (bodies.length === 0) return;
  await tx`
    insert into siem_outbox (kind, at, body)
    select ${kind}::text, ${at}::timestamptz, e.one
    from jsonb_array_elements(${JSON.stringify(bodies)}::text::jsonb) with ordinality as e(one, place)
    where exists (select 1 from siem_connectors where enabled) order by e.place`;
}

/** As `noteEvent`, in the order given, for a kind that connectors get only where their option `events` names it. */
export async function noteNamedEvents(
  tx: Tx,
  kind: string,
  events: readonly { readonly at: Date; readonly body: object }[],
): Promise<void> {
  await tx`
    insert into siem_outbox (kind, at, body)
    select ${kind}, (e.one ->> 'at')::timestamptz, e.one -> 'body'
    from jsonb_array_elements(${JSON.stringify(events)}::text::jsonb) with ordinality as e(one, place)
    where exists (
      select 1 from settings_state s join settings_versions v on v.id = s.head_id,
        jsonb_array_elements(coalesce(v.body::jsonb -> 'siem_connectors', '[]')) c
      where coalesce((c ->> 'enabled')::boolean, true)
        and ${kind}::text = any (regexp_split_to_array(c -> 'options' ->> 'events', '[\\s,]+')))
    order by e.place`;
}

/**
 * Gives events their place in the order of delivery; returns how many. Only what is committed can be seen here, so that
 * nothing ever gets a place before what was delivered already.
 */
export async function placeEvents(sql: Sql): Promise<number> {
  for (let placed = 0; ; ) {
    const count = await sql.begin(async (tx) => {
      await lockUntilCommit(tx, 'siem');
      return (
        await tx`
          update siem_outbox set position = placed.position from (
            select id, nextval('siem_positions') as position from (
              select id from siem_outbox where position is null order by id limit ${placedAtOnce}) as unplaced
          ) as placed where siem_outbox.id = placed.id`
      ).count;
    });
    placed += count;
    if (count < placedAtOnce) return placed;
  }
}

export async function listLanes(sql: Queryable): Promise<LaneRow[]> {
  return sql<LaneRow[]>`select * from siem_connectors order by name`;
}

/** What comes behind a position, in order. */
export async function eventsBehind(sql: Queryable, position: number, to: number, limit: number): Promise<PlacedRow[]> {
  return sql<PlacedRow[]>`
    select position, event_id, kind, at, body from siem_outbox
    where position > ${position} and position <= ${to} order by position limit ${limit}`;
}

export interface DeadLetter extends PlacedRow {
  readonly reason: string;
}

/** What a delivery came to; false: another server has moved the connector meanwhile, and nothing was written. */
export async function moveLane(
  tx: Tx,
  lane: Pick<LaneRow, 'name' | 'position'>,
  to: { readonly position: number; readonly delivered: number },
  now: Date,
): Promise<boolean> {
  const moved = await tx`
    update siem_connectors set position = ${to.position}, delivered = delivered + ${to.delivered}, failures = 0,
      retry_at = null, last_error = case when ${to.delivered} > 0 then null else last_error end,
      last_delivered_at = case when ${to.delivered} > 0 then ${now} else last_delivered_at end
    where name = ${lane.name} and position = ${lane.position}`;
  return moved.count > 0;
}

/** How long it has to wait, and why. */
export async function holdLane(
  sql: Queryable,
  name: string,
  held: { readonly failures: number; readonly retryAt: Date | null; readonly reason: string },
  now: Date,
): Promise<void> {
  await sql`
    update siem_connectors set failures = ${held.failures}, retry_at = ${held.retryAt},
      last_error = ${held.reason.slice(0, 1000)}, last_error_at = ${now} where name = ${name}`;
}

export async function bury(tx: Tx, connector: string, letters: readonly DeadLetter[], now: Date): Promise<void> {
  for (const { position, event_id, kind, at, body, reason } of letters)
    await tx`
      insert into siem_dead_letters (connector, position, event_id, kind, at, body, reason, died_at)
      values (${connector}, ${position}, ${event_id}, ${kind}, ${at}, ${JSON.stringify(body)}::text::jsonb,
        ${reason.slice(0, 1000)}, ${now})
      on conflict (connector, event_id) do update set reason = excluded.reason, died_at = excluded.died_at,
        retry = false`;
}

export interface ReplayRow {
  readonly id: number;
  readonly next_position: number;
  readonly last_position: number;
}

export async function openReplays(sql: Queryable, connector: string): Promise<ReplayRow[]> {
  return sql<ReplayRow[]>`
    select id, next_position, last_position from siem_replays
    where connector = ${connector} and ended_at is null order by id`;
}

export async function moveReplay(sql: Queryable, id: number, next: number, endedAt: Date | null): Promise<void> {
  await sql`update siem_replays set next_position = ${next}, ended_at = ${endedAt} where id = ${id}`;
}

/** Asks for a range of the outbox again; returns how many events that are. Both ends are moments of events. */
export async function askReplay(
  tx: Tx,
  connector: string,
  range: { readonly from: Date; readonly to: Date },
  by: string,
  now: Date,
): Promise<number> {
  const [found] = await tx<{ first: number | null; last: number | null; events: number }[]>`
    select min(position) as first, max(position) as last, count(*) as events from siem_outbox
    where position is not null and at >= ${range.from} and at < ${range.to}`;
  if (found === undefined || found.first === null || found.last === null) return 0;
  await tx`
    insert into siem_replays (connector, next_position, last_position, from_at, to_at, asked_by, asked_at)
    values (${connector}, ${found.first}, ${found.last}, ${range.from}, ${range.to}, ${by}, ${now})`;
  return found.events;
}

/**
 * Removes events from before a moment and the oldest beyond a number; counts for each connector those that it never
 * got.
 */
export async function pruneOutbox(sql: Sql, before: Date, rowsMax: number): Promise<number> {
  return sql.begin(async (tx) => {
    await lockUntilCommit(tx, 'siem');
    const [newest] = await tx<{ position: number | null }[]>`select max(position) as position from siem_outbox`;
    const upTo = (newest?.position ?? 0) - rowsMax;
    await tx`
      update siem_connectors c set expired = expired + (
        select count(*) from siem_outbox o where (o.at < ${before} or o.position <= ${upTo})
          and o.position > c.position) where enabled`;
    return (await tx`delete from siem_outbox where position is not null and (at < ${before} or position <= ${upTo})`)
      .count;
  });
}
