// Tokens for automation: `gh_<id>_<secret>`, shown once, stored as SHA-256 (the secret has 256 random bits, a slow hash
// would protect nothing). A token never outranks who made it: it works only while its maker is active, with the lower
// role.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Queryable } from '../db/client.js';
import { roles, type Permission, type Role } from '../http-kit/index.js';

export interface ApiToken {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly scopes: readonly Permission[];
  readonly created_by: string;
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly last_used_at: Date | null;
  readonly revoked_at: Date | null;
}

const pattern = /^gh_([0-9a-f]{16})_([A-Za-z0-9_-]{43})$/;
const digest = (secret: string): string => createHash('sha256').update(secret).digest('hex');

export function isApiToken(text: string): boolean {
  return text.startsWith('gh_');
}

export async function insertApiToken(
  sql: Queryable,
  input: { name: string; role: Role; scopes: readonly Permission[]; createdBy: string; expiresAt: Date | null },
  now: Date,
): Promise<{ token: ApiToken; text: string }> {
  const id = randomBytes(8).toString('hex');
  const secret = randomBytes(32).toString('base64url');
  const [token] = await sql<ApiToken[]>`
    insert into api_tokens (id, name, secret_hash, role, scopes, created_by, created_at, expires_at)
    values (${id}, ${input.name}, ${digest(secret)}, ${input.role}, ${sql.json([...input.scopes])},
      ${input.createdBy}, ${now}, ${input.expiresAt})
    returning id, name, role, scopes, created_by, created_at, expires_at, last_used_at, revoked_at`;
  if (token === undefined) throw new Error('the token was not stored');
  return { token, text: `gh_${id}_${secret}` };
}

/** The token behind `text`, its role lowered to its maker's; null when it is unknown, revoked, expired or orphaned. */
export async function findApiToken(sql: Queryable, text: string, now: Date): Promise<ApiToken | null> {
  const [, id, secret] = pattern.exec(text) ?? [];
  if (id === undefined || secret === undefined) return null;
  const [row] = await sql<(ApiToken & { secret_hash: string; maker_role: Role })[]>`
    select t.*, u.role as maker_role from api_tokens t join users u on u.id = t.created_by
    where t.id = ${id} and t.revoked_at is null and not u.suspended
      and (t.expires_at is null or t.expires_at > ${now})`;
  if (row === undefined || !timingSafeEqual(Buffer.from(row.secret_hash), Buffer.from(digest(secret)))) return null;
  if (row.last_used_at === null || now.getTime() - row.last_used_at.getTime() > 60_000)
    await sql`update api_tokens set last_used_at = ${now} where id = ${id}`;
  return { ...row, role: roles[Math.min(roles.indexOf(row.role), roles.indexOf(row.maker_role))] ?? 'viewer' };
}

/** Newest first, older than `before`. */
export async function listApiTokens(
  sql: Queryable,
  before: readonly [number, string] | null,
  limit: number,
): Promise<ApiToken[]> {
  return sql<ApiToken[]>`
    select id, name, role, scopes, created_by, created_at, expires_at, last_used_at, revoked_at from api_tokens
    ${before === null ? sql`` : sql`where (created_at, id) < (${new Date(before[0])}, ${before[1]})`}
    order by created_at desc, id desc limit ${limit}`;
}

/** True when there was such a token and it was not revoked before. */
export async function revokeApiToken(sql: Queryable, id: string, now: Date): Promise<boolean> {
  return (await sql`update api_tokens set revoked_at = ${now} where id = ${id} and revoked_at is null`).count === 1;
}
