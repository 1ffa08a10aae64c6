// Every advisory lock of the control plane, in one table so that no two meanings share a number. Two servers of
// different releases may run on one database: a number is never given another meaning.
import type { Tx } from './client.js';

export const lockKeys = {
  /** Bringing the schema up to date. */
  migrations: 0x67610001,
  /** An apply, a rollback or a recovery: one change of what serves at a time. */
  apply: 0x67610002,
  /** Held by the server that runs the background jobs. */
  leader: 0x67610003,
  /** Saving settings. */
  settings: 0x67610004,
  /** Making the first administrator. */
  seed: 0x67610005,
  /** Writing records: ids are handed out in the order of commits. */
  ingest: 0x67610006,
  /** Noting which client measures were touched, in the order of commits. */
  measures: 0x67610007,
  /** Giving events their place in the order of delivery. */
  siem: 0x67610008,
  /** Adding up what discovery saw, and making the inventory of it. */
  inventory: 0x67610009,
  /** Storing what nodes tell of clients: ids are handed out in the order of commits. */
  clients: 0x6761000a,
} as const;
export type LockKey = keyof typeof lockKeys;

/** Waits for the lock; it is given back with the transaction. */
export async function lockUntilCommit(tx: Tx, key: LockKey): Promise<void> {
  await tx`select pg_advisory_xact_lock(${lockKeys[key]})`;
}
