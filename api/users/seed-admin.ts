import { isCommonPassword } from '../auth/frequent-passwords.js';
import { commonPasswordReason } from '../auth/new-password.js';
import { lockUntilCommit } from '../db/lock-keys.js';
import { systemActor } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { hasUsers, insertUser } from './store.js';

/**
 * Creates the first administrator when there is no user at all; true when it did. Safe when several servers start at
 * once. Throws for a common password.
 */
export async function seedAdmin(
  { database, hasher, audit, now }: Pick<Parts, 'database' | 'hasher' | 'audit' | 'now'>,
  email: string,
  password: string,
): Promise<boolean> {
  const hash = await hasher.hash(password);
  return database.sql.begin(async (tx) => {
    await lockUntilCommit(tx, 'seed');
    if (await hasUsers(tx)) return false;
    if (isCommonPassword(password))
      throw new Error(
        `ADMIN_INITIAL_PASSWORD is refused: ${commonPasswordReason}. Change it in the environment and start again.`,
      );
    await insertUser(
      tx,
      {
        email,
        name: 'Administrator',
        role: 'admin',
        passwordHash: hash,
        mustChangePassword: true,
        origin: 'local',
        ssoSubject: null,
      },
      new Date(now()),
    );
    await audit.record(tx, {
      actor: systemActor,
      action: 'user.create',
      summary: `created the first administrator ${email}`,
    });
    return true;
  });
}
