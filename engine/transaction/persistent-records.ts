// Open records of persistent collections in a transaction.
import type { PersistentRecord } from './store.js';
import type { Transaction } from './transaction.js';

export function openRecord(transaction: Transaction, collection: string, key: string): PersistentRecord {
  const { environment, settings } = transaction;
  const record = environment.store.open(collection, key, environment.nowMs, settings.collectionTimeoutSeconds);
  transaction.persistent = new Map(transaction.persistent).set(collection, record);
  return record;
}

/**
 * The open record, or null. GLOBAL needs no initcol: there is one world, and rules written for ModSecurity v3 rely on
 * it.
 */
export function recordOf(transaction: Transaction, collection: string): PersistentRecord | null {
  return (
    transaction.persistent.get(collection) ??
    (collection === 'GLOBAL' ? openRecord(transaction, 'GLOBAL', 'global') : null)
  );
}
