// The memory that the gates of all workers share, made once by main: it outlives workers and generations.
import { AttackFlag, createAttackMemory } from './attack-flag.js';
import { BanTable, banColumns, banEntries } from './ban-table.js';
import { CrashRequests, crashEntries } from './crash-requests.js';
import { ClientConnections, connectionEntries } from './client-connections.js';
import { createKeyTable, KeyTable } from './key-table.js';
import { rateColumns, rateEntries } from './rate-counters.js';

/** On its way to a thread. */
export interface GateMemory {
  readonly rates: SharedArrayBuffer;
  readonly bans: SharedArrayBuffer;
  /** Challenges that were solved: each counts once. */
  readonly spent: SharedArrayBuffer;
  /** Requests that ended workers, and whether there is any (crash-requests.ts). */
  readonly crashes: SharedArrayBuffer;
  readonly crashesArmed: SharedArrayBuffer;
  /** Whether attack mode is in force, and what workers served. */
  readonly attack: SharedArrayBuffer;
  /** Connections of every client, a column a worker. */
  readonly connections: SharedArrayBuffer;
  readonly workers: number;
}

/** Challenges solved within their life of a few minutes; 1 MiB. Beyond, the oldest could be spent once more. */
const spentEntries = 2 ** 16;

/** `keys`: entries of the table of limits; fewer for tests. */
export function createGateMemory(keys = rateEntries, workers = 1): GateMemory {
  return {
    rates: createKeyTable(keys, rateColumns),
    bans: createKeyTable(Math.min(keys, banEntries), banColumns),
    spent: createKeyTable(Math.min(keys, spentEntries), 0),
    crashes: createKeyTable(Math.min(keys, crashEntries), banColumns),
    crashesArmed: new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT),
    attack: createAttackMemory(),
    connections: createKeyTable(Math.min(keys, connectionEntries), workers),
    workers,
  };
}

/** A thread's views. */
export interface GateTables {
  readonly rates: KeyTable;
  readonly bans: BanTable;
  readonly spent: KeyTable;
  readonly crashRequests: CrashRequests;
  readonly attack: AttackFlag;
  readonly connections: ClientConnections;
}

export function openGateMemory(memory: GateMemory): GateTables {
  const { rates, bans, spent, crashes, crashesArmed, attack, connections, workers } = memory;
  return {
    rates: new KeyTable(rates, rateColumns),
    bans: new BanTable(new KeyTable(bans, banColumns)),
    spent: new KeyTable(spent, 0),
    crashRequests: new CrashRequests(new BanTable(new KeyTable(crashes, banColumns)), crashesArmed),
    attack: new AttackFlag(attack),
    connections: new ClientConnections(connections, workers),
  };
}
