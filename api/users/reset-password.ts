// For whoever has lost the only administrator's password: done beside the database, not over the network, by someone
// who may read the process settings anyway.
import { systemActor } from '../audit/chain.js';
import type { House } from '../parts.js';
import { findUserByEmail, updateUser } from './store.js';
import { revokeSessions } from '../auth/sessions.js';

export type ResetOutcome = { readonly kind: 'done' } | { readonly kind: 'refused'; readonly reason: string };

/**
 * Sets a password that has to be changed at the next login, ends every session, and leaves an audit entry. The second
 * factor stays.
 */
export async function resetPassword(
  house: Pick<House, 'database' | 'hasher' | 'audit' | 'now'>,
  email: string,
  password: string,
): Promise<ResetOutcome> {
  const user = await findUserByEmail(house.database.sql, email);
  if (user === null) return { kind: 'refused', reason: `there is no user ${email}` };
  if (user.origin === 'sso')
    return { kind: 'refused', reason: `${email} logs in through single sign-on and has no password here` };
  const hash = await house.hasher.hash(password);
  await house.database.sql.begin(async (tx) => {
    const now = new Date(house.now());
    await updateUser(tx, user.id, { password_hash: hash, must_change_password: true }, now, true);
    await revokeSessions(tx, user.id, {}, now);
    await house.audit.record(tx, {
      actor: systemActor,
      action: 'user.password',
      summary: `set a new password for ${user.email} on the server's command line`,
      details: { user: user.id },
    });
  });
  return { kind: 'done' };
}
