// Tokens `apt_<id>_<secret>`: shown once, kept as SHA-256 of a secret of 256 random bits (a slow hash would protect
// nothing). Revocation counts at once, because every request asks this table.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { json, type Queryable } from '../database.js';

export interface VmToken {
  readonly id: string;
  readonly name: string;
  readonly kind: 'personal' | 'service';
  readonly user_id: string;
  readonly scopes: readonly string[];
  readonly application_ids: readonly string[] | null;
  readonly allowed_cidrs: readonly string[] | null;
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly last_used_at: Date | null;
  readonly last_ip: string | null;
  readonly revoked_at: Date | null;
}

const pattern = /^apt_([0-9a-f]{8})_([A-Za-z0-9_-]{43})$/;
const digest = (secret: string): string => createHash('sha256').update(secret).digest('hex');
/** How far back `last_used_at` may lag: a write for each request would cost more than the request. */
const usedLagMs = 60_000;

export const isVmToken = (text: string): boolean => text.startsWith('apt_');

export type NewToken = Pick<VmToken, 'name' | 'kind' | 'user_id' | 'scopes' | 'application_ids' | 'allowed_cidrs'> & {
  readonly expires_at: Date | null;
};

export async function insertToken(
  sql: Queryable,
  input: NewToken,
  now: Date,
): Promise<{ readonly token: VmToken; readonly text: string }> {
  const id = randomBytes(4).toString('hex');
  const secret = randomBytes(32).toString('base64url');
  const [token] = await sql<VmToken[]>`
    insert into vm_tokens (id, name, kind, secret_hash, user_id, scopes, application_ids, allowed_cidrs, created_at,
      expires_at)
    values (${id}, ${input.name}, ${input.kind}, ${digest(secret)}, ${input.user_id}, ${json(sql, input.scopes)},
      ${input.application_ids === null ? null : json(sql, input.application_ids)},
      ${input.allowed_cidrs === null ? null : json(sql, input.allowed_cidrs)}, ${now}, ${input.expires_at})
    returning *`;
  if (token === undefined) throw new Error('the token was not stored');
  return { token, text: `apt_${id}_${secret}` };
}

interface Secrets {
  readonly secret_hash: string;
  readonly previous_hash: string | null;
  readonly previous_until: Date | null;
}

function hasSecret(row: Secrets, given: string, now: Date): boolean {
  const isEqual = (hash: string): boolean => timingSafeEqual(Buffer.from(hash), Buffer.from(given));
  if (isEqual(row.secret_hash)) return true;
  const { previous_hash: before, previous_until: until } = row;
  return before !== null && until !== null && until > now && isEqual(before);
}

/** Gives a token another text; the one before holds for `graceMs` more. Null for one that is revoked or over. */
export async function rotateToken(
  sql: Queryable,
  id: string,
  graceMs: number,
  now: Date,
): Promise<{ readonly token: VmToken; readonly text: string } | null> {
  const secret = randomBytes(32).toString('base64url');
  const [token] = await sql<VmToken[]>`
    update vm_tokens set previous_hash = secret_hash, previous_until = ${new Date(now.getTime() + graceMs)},
      secret_hash = ${digest(secret)}
    where id = ${id} and revoked_at is null and (expires_at is null or expires_at > ${now}) returning *`;
  return token === undefined ? null : { token, text: `apt_${id}_${secret}` };
}

/** The token behind the text; null when it is unknown, revoked or expired. Notes when and from where it was used. */
export async function findToken(sql: Queryable, text: string, now: Date, ip: string): Promise<VmToken | null> {
  const [, id, secret] = pattern.exec(text) ?? [];
  if (id === undefined || secret === undefined) return null;
  const [row] = await sql<(VmToken & Secrets)[]>`
    select * from vm_tokens
    where id = ${id} and revoked_at is null and (expires_at is null or expires_at > ${now})`;
  if (row === undefined || !hasSecret(row, digest(secret), now)) return null;
  if (row.last_used_at === null || now.getTime() - row.last_used_at.getTime() > usedLagMs || row.last_ip !== ip)
    await sql`update vm_tokens set last_used_at = ${now}, last_ip = ${ip} where id = ${id}`;
  return row;
}

/** Newest first. `userId` null: everybody's. */
export async function listTokens(
  sql: Queryable,
  userId: string | null,
  limit: number,
  offset: number,
): Promise<{ readonly rows: readonly VmToken[]; readonly total: number }> {
  const whose = userId === null ? sql`true` : sql`user_id = ${userId}`;
  const rows = await sql<VmToken[]>`
    select * from vm_tokens where ${whose} order by created_at desc, id limit ${limit} offset ${offset}`;
  const [count] = await sql<{ n: number }[]>`select count(*) as n from vm_tokens where ${whose}`;
  return { rows, total: count?.n ?? 0 };
}

export async function requireToken(sql: Queryable, id: string, userId: string | null): Promise<VmToken | null> {
  const [row] = await sql<VmToken[]>`
    select * from vm_tokens where id = ${id} and (${userId}::text is null or user_id = ${userId})`;
  return row ?? null;
}

/** True when it was not revoked before. */
export async function revokeToken(sql: Queryable, id: string, now: Date): Promise<boolean> {
  return (await sql`update vm_tokens set revoked_at = ${now} where id = ${id} and revoked_at is null`).count === 1;
}
