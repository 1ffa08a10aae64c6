import { randomBytes } from 'node:crypto';
import type { Queryable } from '../db/client.js';
import type { User } from '../users/store.js';

export interface Session {
  readonly id: string;
  readonly user_id: string;
  readonly created_at: Date;
  readonly last_seen_at: Date;
  readonly expires_at: Date;
  readonly revoked_at: Date | null;
  readonly source_ip: string;
  readonly user_agent: string;
  readonly method: string;
}

export interface NewSession {
  readonly userId: string;
  readonly expiresAt: Date;
  readonly sourceIp: string;
  readonly userAgent: string;
  /** password, password+totp, password+recovery, sso */
  readonly method: string;
}

/** How far back `last_seen_at` may lag: a write per request would cost more than the request. */
export const seenLagMs = 60_000;

export async function insertSession(sql: Queryable, input: NewSession, now: Date): Promise<string> {
  const id = randomBytes(18).toString('base64url');
  const row = {
    id,
    user_id: input.userId,
    created_at: now,
    last_seen_at: now,
    expires_at: input.expiresAt,
    source_ip: input.sourceIp,
    user_agent: input.userAgent.slice(0, 300),
    method: input.method,
  };
  await sql`insert into sessions ${sql(row)}`;
  return id;
}

/** The session with its user, in one query: this runs on every request. */
export async function findSessionWithUser(sql: Queryable, id: string): Promise<(Session & { user: User }) | null> {
  const [row] = await sql<
    (Session & { user: User })[]
  >`select s.*, to_jsonb(u) as user from sessions s join users u on u.id = s.user_id where s.id = ${id}`;
  return row ?? null;
}

/** A new session in the place of one that still counts; it ends when that one would have. Null where none counts. */
export async function rotateSession(tx: Queryable, userId: string, id: string, now: Date): Promise<Session | null> {
  const [old] = await tx<Session[]>`
    update sessions set revoked_at = ${now}
    where id = ${id} and user_id = ${userId} and revoked_at is null returning *`;
  if (old === undefined) return null;
  const { expires_at: expiresAt, source_ip: sourceIp, user_agent: userAgent, method } = old;
  const made = await insertSession(tx, { userId, expiresAt, sourceIp, userAgent, method }, now);
  const [row] = await tx<Session[]>`select * from sessions where id = ${made}`;
  return row ?? null;
}

export async function markSeen(sql: Queryable, id: string, now: Date): Promise<void> {
  await sql`update sessions set last_seen_at = ${now} where id = ${id}`;
}

/** Sessions that still count, newest first, older than `before`. */
export async function listSessions(
  sql: Queryable,
  userId: string,
  now: Date,
  before: readonly [number, string] | null,
  limit: number,
): Promise<Session[]> {
  return sql<Session[]>`
    select * from sessions where user_id = ${userId} and revoked_at is null and expires_at > ${now}
    ${before === null ? sql`` : sql`and (created_at, id) < (${new Date(before[0])}, ${before[1]})`}
    order by created_at desc, id desc limit ${limit}`;
}

/** Ends the user's sessions, all or one, except `keep`. Returns how many. */
export async function revokeSessions(
  sql: Queryable,
  userId: string,
  which: { readonly id?: string; readonly keep?: string },
  now: Date,
): Promise<number> {
  const one = which.id === undefined ? sql`` : sql`and id = ${which.id}`;
  const ended = await sql`
    update sessions set revoked_at = ${now}
    where user_id = ${userId} and revoked_at is null and id <> ${which.keep ?? ''} ${one}`;
  return ended.count;
}

export async function pruneSessions(sql: Queryable, before: Date): Promise<number> {
  return (
    (await sql`delete from sessions where expires_at < ${before}`).count +
    (await sql`delete from sso_flows where expires_at < ${before}`).count
  );
}
