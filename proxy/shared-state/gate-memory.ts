// The memory that the gates of all workers share, made once by main: it outlives workers and generations.
import { AttackFlag, createAttackMemory } from './attack-flag.js';
import { BanTable, banColumns, banEntries } from './ban-table.js';
import { ClientConnections, connectionEntries } from './client-connections.js';
import { CrashRequests, crashEntries } from './crash-requests.js';
import { createKeyTable, KeyTable } from './key-table.js';
import { rateColumns, rateEntries } from './rates/rate-counters.js';
import { createSharingMemory, SharingState } from './rates/sharing-state.js';

/** On its way to a thread. */
export interface GateMemory {
  readonly rates: SharedArrayBuffer;
  readonly bans: SharedArrayBuffer;
  /** Challenges that were solved: each counts once. */
  readonly spent: SharedArrayBuffer;
  /** Whether attack mode is in force, and what workers served. */
  readonly attack: SharedArrayBuffer;
  /** Connections of every client, a column a worker. */
  readonly connections: SharedArrayBuffer;
  readonly workers: number;
  /** Requests that ended workers, and whether there is any (crash-requests.ts). */
  readonly crashes: SharedArrayBuffer;
  readonly crashesArmed: SharedArrayBuffer;
  /** Of limits that several nodes share. */
  readonly sharing: SharedArrayBuffer;
}

/** Challenges solved within their life of a few minutes; 1 MiB. Beyond, the oldest could be spent once more. */
const spentEntries = 2 ** 16;

/**
 * `keys`: entries of the table of limits; fewer for tests. `seeds`: of their keys, where several nodes share them;
 * absent: random.
 */
export function createGateMemory(keys = rateEntries, workers = 1, seeds?: readonly [number, number]): GateMemory {
  return {
    rates: createKeyTable(keys, rateColumns, seeds),
    bans: createKeyTable(Math.min(keys, banEntries), banColumns),
    spent: createKeyTable(Math.min(keys, spentEntries), 0),
    attack: createAttackMemory(),
    connections: createKeyTable(Math.min(keys, connectionEntries), workers),
    workers,
    crashes: createKeyTable(Math.min(keys, crashEntries), banColumns),
    crashesArmed: new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT),
    sharing: createSharingMemory(workers),
  };
}

/** A thread's views. */
export interface GateTables {
  readonly rates: KeyTable;
  readonly bans: BanTable;
  readonly spent: KeyTable;
  readonly attack: AttackFlag;
  readonly connections: ClientConnections;
  readonly crashRequests: CrashRequests;
  readonly sharing: SharingState;
}

/** `worker`: whose view it is. */
export function openGateMemory(memory: GateMemory, worker = 0): GateTables {
  const { rates, bans, spent, attack, connections, workers, sharing, crashes, crashesArmed } = memory;
  return {
    rates: new KeyTable(rates, rateColumns),
    bans: new BanTable(new KeyTable(bans, banColumns)),
    spent: new KeyTable(spent, 0),
    attack: new AttackFlag(attack),
    connections: new ClientConnections(connections, workers),
    crashRequests: new CrashRequests(new BanTable(new KeyTable(crashes, banColumns)), crashesArmed),
    sharing: new SharingState(sharing, workers, worker),
  };
}
