import type { Tx } from '../../database.js';

/** One import of a scope at a time, until the transaction ends: two would each take the other's findings for new. */
export async function lockScope(tx: Tx, scopeKey: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(${0x67620001}, hashtext(${scopeKey}))`;
}

const working = new Map<string, Promise<unknown>>();

/** The same for work of several transactions; within this process, which is the only one of an embedded database. */
export async function oneAtATime<T>(scopeKey: string, work: () => Promise<T>): Promise<T> {
  const before = working.get(scopeKey);
  const mine = (async () => {
    await before?.catch(() => undefined); // its own caller gets the error
    return work();
  })();
  working.set(scopeKey, mine);
  try {
    return await mine;
  } finally {
    if (working.get(scopeKey) === mine) working.delete(scopeKey);
  }
}
