// What people do to the guards of their own account: password and second factor. The routes under /api/account and the
// vulnerability manager's under /api/v1/auth both take these.
import { brandNameIn } from '#vm-manager';
import { acceptNewPassword, type NewPasswordParts, type Notify } from '../auth/new-password.js';
import { revokeSessions } from '../auth/sessions.js';
import { acceptTotp, createRecoveryCodes, createTotpSecret, hashRecoveryCode, toTotpUri } from '../auth/totp.js';
import { ApiError, type Actor, type Role } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { requireUser, requireUserForUpdate, storeRecoveryCodes, updateUser } from '../users/store.js';
import { requirePassword, requireSecondFactor } from './confirmation.js';

export type AccountParts = NewPasswordParts & Pick<Parts, 'database' | 'now' | 'audit' | 'sealing' | 'brandName'>;

/** Somebody who is logged in themselves. */
export interface Owner {
  readonly userId: string;
  readonly sessionId: string | null;
  readonly role: Role;
  readonly actor: Actor;
}

const countedSessions = (count: number): string => (count === 1 ? '1 other session' : `${count} other sessions`);

/** Ends every other session. Throws `bad_credentials`, `login_locked` or `password_refused`. */
export async function changeOwnPassword(
  parts: AccountParts,
  { userId, sessionId, actor }: Owner,
  current: string,
  wanted: string,
  notify: Notify,
  path = '/password',
): Promise<void> {
  const { sql } = parts.database;
  const user = await requireUser(sql, userId);
  await requirePassword(parts, user, current);
  if (wanted === current)
    throw new ApiError('password_refused', 'The new password is the old one.', {
      errors: [{ path, reason: 'is the current password' }],
    });
  const accepted = await acceptNewPassword(parts, wanted, user, notify, path);
  await sql.begin(async (tx) => {
    const now = new Date(parts.now());
    await updateUser(tx, userId, { password_hash: accepted.hash, must_change_password: false }, now);
    const ended = await revokeSessions(tx, userId, { keep: sessionId ?? '' }, now);
    await parts.audit.record(tx, {
      actor,
      action: 'account.password',
      summary: `${actor.name} changed the password; ${countedSessions(ended)} ended${accepted.note}`,
    });
  });
}

/** A secret that counts once it was confirmed, and its address for an app. Throws `conflict` where one is on. */
export async function beginTotp(parts: AccountParts, { userId }: Owner, password: string) {
  const { sql } = parts.database;
  const user = await requireUser(sql, userId);
  if (user.totp_secret !== null)
    throw new ApiError('conflict', 'Two-factor authentication is on already. Turn it off first.');
  await requirePassword(parts, user, password);
  const secret = createTotpSecret();
  const sealed = parts.sealing.seal(secret, `totp:${userId}`);
  await sql.begin((tx) => updateUser(tx, userId, { totp_pending: sealed }, new Date(parts.now())));
  const brand = await brandNameIn(sql, parts.brandName);
  return { secret, uri: toTotpUri(secret, user.email, brand) };
}

/** Turns it on; ends every other session. Returns recovery codes, shown once. Throws `conflict` or `bad_otp`. */
export async function confirmTotp(
  parts: AccountParts,
  { userId, sessionId, actor }: Owner,
  code: string,
): Promise<string[]> {
  const codes = createRecoveryCodes();
  await parts.database.sql.begin(async (tx) => {
    const user = await requireUserForUpdate(tx, userId);
    if (user.totp_pending === null)
      throw new ApiError('conflict', 'No enrolment was begun: ask for a secret first, then confirm it.');
    const secret = parts.sealing.open(user.totp_pending, `totp:${userId}`);
    const step = acceptTotp(secret, code, parts.now(), 0);
    if (step === null)
      throw new ApiError('bad_otp', 'The code does not fit the secret; check the clock of the device.');
    const now = new Date(parts.now());
    await updateUser(tx, userId, { totp_secret: user.totp_pending, totp_pending: null, totp_last_step: step }, now);
    await storeRecoveryCodes(tx, userId, codes.map(hashRecoveryCode));
    await revokeSessions(tx, userId, { keep: sessionId ?? '' }, now);
    await parts.audit.record(tx, {
      actor,
      action: 'account.totp.on',
      summary: `${actor.name} turned two-factor authentication on`,
    });
  });
  return codes;
}

/** Throws `conflict` where the policy demands it, `bad_credentials`, `bad_otp` or `login_locked`. */
export async function endTotp(
  parts: AccountParts,
  { userId, actor, role }: Owner,
  password: string,
  code: string,
): Promise<void> {
  const { sql } = parts.database;
  const user = await requireUser(sql, userId);
  if (role === 'admin' && (await parts.currentSettings()).policy_2fa_required_admin)
    throw new ApiError('conflict', 'The policy demands two-factor authentication from administrators.');
  await requirePassword(parts, user, password);
  await requireSecondFactor(parts, user, code);
  await sql.begin(async (tx) => {
    await updateUser(tx, userId, { totp_secret: null, totp_pending: null }, new Date(parts.now()));
    await storeRecoveryCodes(tx, userId, []);
    await parts.audit.record(tx, {
      actor,
      action: 'account.totp.off',
      summary: `${actor.name} turned two-factor authentication off`,
    });
  });
}
