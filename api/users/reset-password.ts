// For whoever has lost the only administrator's password: done beside the database, not over the network, by someone
// who may read the process settings anyway.
import { revokeSessions } from '../auth/sessions.js';
import { systemActor } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { findUserByEmail, updateUser } from './store.js';

/** SQLSTATE undefined_table. */
const undefinedTable = '42P01';

export type ResetOutcome = { readonly kind: 'done' } | { readonly kind: 'refused'; readonly reason: string };

/**
 * Sets a password that has to be changed at the next login, ends every session, and leaves an audit entry. The second
 * factor stays.
 */
export async function resetPassword(
  parts: Pick<Parts, 'database' | 'hasher' | 'audit' | 'now'>,
  email: string,
  password: string,
): Promise<ResetOutcome> {
  const user = await findUserByEmail(parts.database.sql, email).catch((error: unknown) => {
    if ((error as { code?: unknown }).code === undefinedTable) return undefined;
    throw error;
  });
  if (user === undefined)
    return { kind: 'refused', reason: 'the database is empty; `gatehouse up` fills it and makes the first login' };
  if (user === null) return { kind: 'refused', reason: `there is no user ${email}` };
  if (user.origin === 'sso')
    return { kind: 'refused', reason: `${email} logs in through single sign-on and has no password here` };
  const hash = await parts.hasher.hash(password);
  await parts.database.sql.begin(async (tx) => {
    const now = new Date(parts.now());
    await updateUser(tx, user.id, { password_hash: hash, must_change_password: true }, now, true);
    await revokeSessions(tx, user.id, {}, now);
    await parts.audit.record(tx, {
      actor: systemActor,
      action: 'user.password',
      summary: `set a new password for ${user.email} on the server's command line`,
      details: { user: user.id },
    });
  });
  return { kind: 'done' };
}
