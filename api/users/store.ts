// The users table. Stores never check permissions; the routes and the matrix do.
import { randomUUID } from 'node:crypto';
import type { Queryable, Tx } from '../db/client.js';
import { ApiError, type Role } from '../http-kit/index.js';

export interface User {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly suspended: boolean;
  readonly password_hash: string | null;
  readonly must_change_password: boolean;
  /** Sealed. */
  readonly totp_secret: string | null;
  readonly totp_pending: string | null;
  readonly totp_last_step: number;
  readonly token_version: number;
  readonly origin: 'local' | 'sso';
  readonly sso_subject: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly last_login_at: Date | null;
  readonly revision: number;
  /** null: the usual one. */
  readonly time_zone: TimeZone | null;
}

/** Zones in which moments are shown; `local` is the browser's. */
export const timeZones = ['GMT+4', 'UTC', 'local'] as const;
export type TimeZone = (typeof timeZones)[number];

/** E-mail addresses compare without case and after Unicode normalisation. */
export function toEmailKey(email: string): string {
  return email.normalize('NFKC').trim().toLowerCase();
}

export async function findUser(sql: Queryable, id: string): Promise<User | null> {
  const [row] = await sql<User[]>`select * from users where id = ${id}`;
  return row ?? null;
}

export async function findUserByEmail(sql: Queryable, email: string): Promise<User | null> {
  const [row] = await sql<User[]>`select * from users where email_key = ${toEmailKey(email)}`;
  return row ?? null;
}

export async function requireUser(sql: Queryable, id: string): Promise<User> {
  const user = await findUser(sql, id);
  if (user === null) throw new ApiError('not_found', `There is no user ${id}.`);
  return user;
}

export async function hasUsers(sql: Queryable): Promise<boolean> {
  return (await sql`select 1 from users limit 1`).length > 0;
}

/** In the order of their addresses, behind `after`. */
export async function listUsers(
  sql: Queryable,
  after: string,
  limit: number,
): Promise<(User & { readonly email_key: string })[]> {
  return sql<
    (User & { email_key: string })[]
  >`select * from users where email_key > ${after} order by email_key limit ${limit}`;
}

/** With sessions and tokens. */
export async function deleteUser(tx: Tx, id: string): Promise<void> {
  await tx`delete from users where id = ${id}`;
}

/** Locks the row for the running transaction. */
export async function requireUserForUpdate(tx: Tx, id: string): Promise<User> {
  const [row] = await tx<User[]>`select * from users where id = ${id} for update`;
  if (row === undefined) throw new ApiError('not_found', `There is no user ${id}.`);
  return row;
}

export interface NewUser {
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly passwordHash: string | null;
  readonly mustChangePassword: boolean;
  readonly origin: 'local' | 'sso';
  readonly ssoSubject: string | null;
}

/** Throws `conflict` when the e-mail address is taken. */
export async function insertUser(tx: Tx, input: NewUser, now: Date): Promise<User> {
  const [row] = await tx<User[]>`
    insert into users ${tx({
      id: randomUUID(),
      email: input.email.trim(),
      email_key: toEmailKey(input.email),
      name: input.name,
      role: input.role,
      password_hash: input.passwordHash,
      must_change_password: input.mustChangePassword,
      origin: input.origin,
      sso_subject: input.ssoSubject,
      created_at: now,
      updated_at: now,
    })} on conflict (email_key) do nothing returning *`;
  if (row === undefined) throw new ApiError('conflict', `There is already a user ${input.email}.`);
  return row;
}

export type UserChange = Partial<
  Pick<
    User,
    | 'name'
    | 'role'
    | 'suspended'
    | 'password_hash'
    | 'must_change_password'
    | 'totp_secret'
    | 'totp_pending'
    | 'totp_last_step'
    | 'last_login_at'
    | 'sso_subject'
  >
>;

/** Writes the given columns; `endSessions` raises the token version, which ends every session of the user. */
export async function updateUser(
  tx: Tx,
  id: string,
  change: UserChange,
  now: Date,
  endSessions = false,
): Promise<User> {
  const [row] = await tx<User[]>`
    update users set ${tx({ ...change, updated_at: now })},
      revision = revision + 1, token_version = token_version + ${endSessions ? 1 : 0}
    where id = ${id} returning *`;
  if (row === undefined) throw new ApiError('not_found', `There is no user ${id}.`);
  return row;
}

/** Throws `last_admin` when no active administrator would remain without `id`. Locks the administrators' rows. */
export async function requireAnotherAdmin(tx: Tx, id: string): Promise<void> {
  const admins = await tx<
    { id: string }[]
  >`select id from users where role = 'admin' and not suspended order by id for update`;
  if (admins.every((admin) => admin.id === id))
    throw new ApiError('last_admin', 'This is the last active administrator. Make somebody else administrator first.');
}

/** Takes a time step once: of two requests with the same code one gets true. */
export async function takeTotpStep(sql: Queryable, id: string, step: number): Promise<boolean> {
  const taken = await sql`
    update users set totp_last_step = ${step} where id = ${id} and totp_last_step < ${step}`;
  return taken.count === 1;
}

export async function storeRecoveryCodes(tx: Tx, id: string, hashes: readonly string[]): Promise<void> {
  await tx`delete from recovery_codes where user_id = ${id}`;
  if (hashes.length > 0)
    await tx`insert into recovery_codes ${tx(hashes.map((hash) => ({ user_id: id, code_hash: hash })))}`;
}

export async function takeRecoveryCode(sql: Queryable, id: string, hash: string, now: Date): Promise<boolean> {
  const taken = await sql`
    update recovery_codes set used_at = ${now} where user_id = ${id} and code_hash = ${hash} and used_at is null`;
  return taken.count === 1;
}
