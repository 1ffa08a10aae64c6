// What an administrator does to the account of somebody: the one road on which a user is made, changed, suspended,
// given a new password, or deleted. The routes under /api and the vulnerability manager's under /api/v1 both take it.
import { acceptNewPassword, type NewPasswordParts, type Notify } from '../auth/new-password.js';
import { revokeSessions } from '../auth/sessions.js';
import { ApiError, type Actor, type Role } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import {
  deleteUser,
  insertUser,
  requireAnotherAdmin,
  requireUser,
  requireUserForUpdate,
  updateUser,
  type User,
} from './store.js';

export type UserParts = NewPasswordParts & Pick<Parts, 'database' | 'now' | 'audit'>;

/** Throws ApiError where the user, as stored and locked, may not be touched: another version, too high a role. */
export type Accept = (before: User) => void;

export interface NewPerson {
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly password: string;
  readonly mustChangePassword: boolean;
}

export interface PersonChange {
  readonly name?: string;
  readonly role?: Role;
  readonly suspended?: boolean;
}

/** Throws `password_refused`, or `conflict` when the e-mail address is taken. */
export async function createPerson(parts: UserParts, actor: Actor, person: NewPerson, notify: Notify): Promise<User> {
  const { email, name, role, mustChangePassword } = person;
  const accepted = await acceptNewPassword(parts, person.password, { email, name }, notify);
  return parts.database.sql.begin(async (tx) => {
    const made = await insertUser(
      tx,
      { email, name, role, passwordHash: accepted.hash, mustChangePassword, origin: 'local', ssoSubject: null },
      new Date(parts.now()),
    );
    await parts.audit.record(tx, {
      actor,
      action: 'user.create',
      summary: `created ${role} ${email}${accepted.note}`,
      details: { user: made.id },
    });
    return made;
  });
}

/** Throws `not_found` or `last_admin`. Ends the user's sessions where they may do something else afterwards. */
export async function changePerson(
  parts: UserParts,
  actor: Actor,
  id: string,
  change: PersonChange,
  accept: Accept,
): Promise<User> {
  return parts.database.sql.begin(async (tx) => {
    const before = await requireUserForUpdate(tx, id);
    accept(before);
    const isOtherRole = change.role !== undefined && change.role !== before.role;
    const isSuspended = change.suspended === true && !before.suspended;
    const wasAdmin = before.role === 'admin' && !before.suspended;
    if (wasAdmin && (isOtherRole || change.suspended === true)) await requireAnotherAdmin(tx, before.id);
    const endSessions = isOtherRole || isSuspended;
    const now = new Date(parts.now());
    const after = await updateUser(tx, before.id, change, now, endSessions);
    if (endSessions) await revokeSessions(tx, before.id, {}, now);
    const what = (['name', 'role', 'suspended'] as const)
      .filter((key) => before[key] !== after[key])
      .map((key) => `${key}: ${String(before[key])} → ${String(after[key])}`);
    await parts.audit.record(tx, {
      actor,
      action: 'user.update',
      summary: `changed user ${before.email}: ${what.join(', ') || 'nothing'}`,
      details: { user: before.id },
    });
    return after;
  });
}

/** With sessions and tokens. Throws `not_found` or `last_admin`. */
export async function deletePerson(parts: UserParts, actor: Actor, id: string, accept: Accept): Promise<void> {
  await parts.database.sql.begin(async (tx) => {
    const user = await requireUserForUpdate(tx, id);
    accept(user);
    if (user.role === 'admin' && !user.suspended) await requireAnotherAdmin(tx, user.id);
    await deleteUser(tx, user.id);
    await parts.audit.record(tx, {
      actor,
      action: 'user.delete',
      summary: `deleted ${user.role} ${user.email}`,
      details: { user: user.id },
    });
  });
}

/**
 * A password that its owner has to change at the next login; ends their sessions. Throws `not_found`,
 * `password_refused`, or `conflict` for somebody who logs in at a provider.
 */
export async function setPassword(
  parts: UserParts,
  actor: Actor,
  id: string,
  password: string,
  accept: Accept,
  notify: Notify,
): Promise<void> {
  const user = await requireUser(parts.database.sql, id);
  accept(user);
  if (user.origin === 'sso')
    throw new ApiError('conflict', 'This user logs in through single sign-on and has no password here.');
  const accepted = await acceptNewPassword(parts, password, user, notify);
  await parts.database.sql.begin(async (tx) => {
    const now = new Date(parts.now());
    accept(await requireUserForUpdate(tx, id));
    await updateUser(tx, user.id, { password_hash: accepted.hash, must_change_password: true }, now, true);
    await revokeSessions(tx, user.id, {}, now);
    await parts.audit.record(tx, {
      actor,
      action: 'user.password',
      summary: `set a new password for ${user.email}${accepted.note}`,
      details: { user: user.id },
    });
  });
}
