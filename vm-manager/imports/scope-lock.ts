import type { Tx } from '../database.js';

/** One import of a scope at a time, until the transaction ends: two would each take the other's findings for new. */
export async function lockScope(tx: Tx, scopeKey: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(${0x67620001}, hashtext(${scopeKey}))`;
}
