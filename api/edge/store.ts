// Automatic bans of nodes among the client measures, with their history.
import type { Queryable, Tx } from '../db/client.js';
import { systemActor } from '../http-kit/index.js';
import type { ClientMeasure } from '../measures/model.js';
import { addBanMeasures, asJson } from '../measures/store.js';
import type { NodeBan } from './node-gates.js';

/** In one sentence: what led to it. */
export const reasonOf = ({ zone, threshold, windowSeconds, offence, requestId }: NodeBan): string =>
  `${threshold} limited requests in ${windowSeconds} s by ${zone}, ban number ${offence}, request ${requestId}`;

/** What tells a ban from the others of its client. */
const instanceOf = (node: string, { atMs }: NodeBan): string => `${node} ${Math.floor(atMs)}`;

export type NewBanRow = Awaited<ReturnType<typeof addBanMeasures>>[number];

/** Adds bans of one node; returns those that are new. */
export async function addBans(tx: Tx, node: string, bans: readonly NodeBan[]): Promise<NewBanRow[]> {
  return addBanMeasures(
    tx,
    bans.map((ban) => ({
      subject: ban.network,
      instance: instanceOf(node, ban),
      reason: reasonOf(ban),
      evidence: {
        ...{ node, zone: ban.zone, request_id: ban.requestId, offence: ban.offence },
        ...{ threshold: ban.threshold, window_seconds: ban.windowSeconds },
      },
      added_at: new Date(ban.atMs),
      expires_at: new Date(ban.untilMs),
    })),
    systemActor.name,
  );
}

/** A ban of the same client on the same node, of which the next one was made longer. */
export interface EarlierBan {
  readonly banned_at: Date;
  readonly expires_at: Date;
  readonly request_id: string;
}

/** Of one ban. */
export const earlierMax = 10;

/**
 * By the id of each of these bans, those before it that its node still held against the client: as many as its number
 * says, the newest first, at most `earlierMax`. A ban that was lifted is forgotten, and so it is not one of them.
 */
export async function earlierBans(
  sql: Queryable,
  bans: readonly (ClientMeasure & { readonly id: number })[],
): Promise<Map<number, EarlierBan[]>> {
  const repeated = bans.flatMap(({ id, subject, evidence, added_at: at }) =>
    evidence !== null && evidence.offence > 1
      ? [{ id, subject, node: evidence.node, at, left: evidence.offence - 1 }]
      : [],
  );
  const earlier = new Map<number, EarlierBan[]>(repeated.map(({ id }) => [id, []]));
  if (repeated.length === 0) return earlier;
  const rows = await sql<(EarlierBan & { readonly of_id: number; readonly left: number })[]>`
    select n.id as of_id, n.left, e.added_at as banned_at, e.expires_at, e.evidence ->> 'request_id' as request_id
    from json_to_recordset(${asJson(repeated)}::text::json)
      as n(id bigint, subject text, node text, at timestamptz, "left" integer)
    join lateral (
      select added_at, expires_at, evidence from client_measures
      where subject = n.subject and source = 'auto-ban' and evidence ->> 'node' = n.node and added_at < n.at
        and lifted_at is null
      order by added_at desc limit ${earlierMax}
    ) e on true
    order by n.id, e.added_at desc`;
  for (const { of_id: id, left, ...ban } of rows) {
    const known = earlier.get(id);
    if (known !== undefined && known.length < left) known.push(ban);
  }
  return earlier;
}

/** Networks of those bans of a node that were lifted here while it did not hear of it; one statement for all. */
export async function findLifted(sql: Queryable, node: string, bans: readonly NodeBan[]): Promise<string[]> {
  if (bans.length === 0) return [];
  const given = bans.map((ban) => ({ subject: ban.network, instance: instanceOf(node, ban) }));
  const rows = await sql<{ subject: string }[]>`
    select distinct m.subject
    from json_to_recordset(${asJson(given)}::text::json) as n(subject text, instance text)
    join client_measures m on m.subject = n.subject and m.source = 'auto-ban' and m.action = 'deny'
      and m.instance = n.instance
    where m.lifted_at is not null order by 1`;
  return rows.map(({ subject }) => subject);
}

/** Addresses of people who are logged in and were there within the last hour. */
export async function addressesOfPeople(sql: Queryable, now: Date): Promise<string[]> {
  const rows = await sql<{ source_ip: string }[]>`
    select distinct source_ip from sessions
    where revoked_at is null and expires_at > ${now} and last_seen_at > ${new Date(now.getTime() - 3600_000)}
      and source_ip <> '' limit 5000`;
  return rows.map(({ source_ip: address }) => address);
}
