// Share links as rows. The token has 256 random bits, is shown once and stored as SHA-256: it cannot be guessed, so a
// slow hash would protect nothing, and the unique index finds it in the same time whether or not it exists.
import { createHash, randomBytes } from 'node:crypto';
import type { Queryable } from '../db/client.js';
import type { RecordedEvent } from '../events/view.js';

export interface EventShare {
  readonly id: string;
  readonly event_id: number;
  readonly event_at: Date;
  readonly title: string;
  /** E-mail address. */
  readonly created_by: string;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly revoked_at: Date | null;
  readonly revoked_by: string | null;
  readonly opened: number;
  readonly last_opened_at: Date | null;
}

/** Links that work at the same time. */
export const activeMax = 1000;
/** One person leaves some to others. */
export const activePerPersonMax = 200;
const keptDays = 30;
const dayMs = 86_400_000;

const digest = (token: string): string => createHash('sha256').update(token).digest('hex');

export interface NewShare {
  readonly event: { readonly id: number; readonly at: string };
  readonly title: string;
  readonly userId: string;
  readonly expiresAt: Date;
}

/** Also removes links that ended long ago. */
export async function insertShare(
  sql: Queryable,
  { event, title, userId, expiresAt }: NewShare,
  now: Date,
): Promise<{ readonly share: EventShare; readonly token: string }> {
  await sql`delete from event_shares where expires_at < ${new Date(now.getTime() - keptDays * dayMs)}`;
  const id = randomBytes(8).toString('hex');
  const token = `ges_${randomBytes(32).toString('base64url')}`;
  await sql`
    insert into event_shares (id, token_hash, event_id, event_at, title, created_by, created_at, expires_at)
    values (${id}, ${digest(token)}, ${event.id}, ${new Date(event.at)}, ${title}, ${userId}, ${now}, ${expiresAt})`;
  const [share] = await readShares(sql, { id }, 1);
  if (share === undefined) throw new Error('the share link was not stored');
  return { share, token };
}

/** Links that work: of one person, or of all. */
export async function countActive(sql: Queryable, now: Date, userId: string | null = null): Promise<number> {
  const [row] = await sql<{ n: number }[]>`
    select count(*)::int as n from event_shares
    where revoked_at is null and expires_at > ${now} and (${userId}::text is null or created_by = ${userId})`;
  return row?.n ?? 0;
}

interface Wanted {
  readonly id?: string;
  readonly eventId?: number | undefined;
  readonly before?: readonly [number, string] | null;
}

/** Newest first. */
export async function readShares(
  sql: Queryable,
  { id, eventId, before = null }: Wanted,
  limit: number,
): Promise<EventShare[]> {
  return sql<EventShare[]>`
    select s.id, s.event_id, s.event_at, s.title, u.email as created_by, s.created_at, s.expires_at, s.revoked_at,
      s.revoked_by, s.opened, s.last_opened_at
    from event_shares s join users u on u.id = s.created_by
    where true ${id === undefined ? sql`` : sql`and s.id = ${id}`}
      ${eventId === undefined ? sql`` : sql`and s.event_id = ${eventId}`}
      ${before === null ? sql`` : sql`and (s.created_at, s.id) < (${new Date(before[0])}, ${before[1]})`}
    order by s.created_at desc, s.id desc limit ${limit}`;
}

/** False: there is no link with this id that works. */
export async function revokeShare(sql: Queryable, id: string, by: string, now: Date): Promise<boolean> {
  const done = await sql`
    update event_shares set revoked_at = ${now}, revoked_by = ${by}
    where id = ${id} and revoked_at is null and expires_at > ${now}`;
  return done.count === 1;
}

/** The event behind a token, counted as opened; null: the link is unknown, over or revoked, or its event is gone. */
export async function openShare(
  sql: Queryable,
  token: string,
  now: Date,
): Promise<{ readonly event: RecordedEvent; readonly expiresAt: Date } | null> {
  const [share] = await sql<{ id: string; event_id: number; event_at: Date; expires_at: Date }[]>`
    select s.id, s.event_id, s.event_at, s.expires_at from event_shares s join users u on u.id = s.created_by
    where s.token_hash = ${digest(token)} and s.revoked_at is null and s.expires_at > ${now} and not u.suspended`;
  if (share === undefined) return null;
  const event = await findEvent(sql, share.event_id, share.event_at);
  if (event === null) return null;
  await sql`update event_shares set opened = opened + 1, last_opened_at = ${now} where id = ${share.id}`;
  return { event, expiresAt: share.expires_at };
}

/** `at` names the partition; without it each day is asked. */
export async function findEvent(sql: Queryable, id: number, at?: Date): Promise<RecordedEvent | null> {
  const [row] = await sql<(Omit<RecordedEvent, 'at'> & { at: Date })[]>`
    select id, at, request_id, node, site, client_ip, kind, verdict, method, uri, status, rule_id, inbound_score,
      details, path_template, country, asn
    from security_events where id = ${id} ${at === undefined ? sql`` : sql`and at = ${at}`} limit 1`;
  return row === undefined ? null : { ...row, at: row.at.toISOString() };
}
