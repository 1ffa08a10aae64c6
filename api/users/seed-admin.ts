import type { House } from '../parts.js';
import { systemActor } from '../audit/chain.js';
import { lockKeys } from '../db/client.js';
import { insertUser } from './store.js';

/**
 * Creates the first administrator when there is no user at all; true when it did. Safe when several servers start at
 * once.
 */
export async function seedAdmin(house: House, email: string, password: string): Promise<boolean> {
  const hash = await house.hasher.hash(password);
  return house.database.sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${lockKeys.seed})`;
    const [any] = await tx`select 1 from users limit 1`;
    if (any !== undefined) return false;
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
      new Date(house.now()),
    );
    await house.audit.record(tx, {
      actor: systemActor,
      action: 'user.create',
      summary: `created the first administrator ${email}`,
    });
    return true;
  });
}
