// A stolen session must not be enough to change what guards the account: what only its owner knows is asked again, and
// wrong answers are counted.
import { beginConfirmation, forgetConfirmations } from '../auth/lockout.js';
import { checkSecondFactor, type SecondFactorParts } from '../auth/login.js';
import { ApiError } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import type { User } from '../users/store.js';

/** Of codes typed within a session: five wrong ones, then pauses of up to a quarter of an hour. */
const otpPolicy = { threshold: 5, lockMsMax: 15 * 60_000 };

/** Throws `bad_credentials`, or `login_locked` after too many wrong ones. */
export async function requirePassword(
  { database, hasher, currentSettings, now }: Pick<Parts, 'database' | 'hasher' | 'currentSettings' | 'now'>,
  user: User,
  password: string,
): Promise<void> {
  const { policy_lockout_threshold, policy_lockout_minutes } = await currentSettings();
  await beginConfirmation(
    database.sql,
    `password ${user.id}`,
    { threshold: policy_lockout_threshold, lockMsMax: policy_lockout_minutes * 60_000 },
    now(),
  );
  if (!(await hasher.verify(password, user.password_hash)))
    throw new ApiError('bad_credentials', 'The current password is wrong.');
  await forgetConfirmations(database.sql, `password ${user.id}`);
}

/** Throws `bad_otp`, or `login_locked` after too many wrong ones. */
export async function requireSecondFactor(parts: SecondFactorParts, user: User, code: string): Promise<void> {
  await beginConfirmation(parts.database.sql, `otp ${user.id}`, otpPolicy, parts.now());
  await checkSecondFactor(parts, user, code);
}
