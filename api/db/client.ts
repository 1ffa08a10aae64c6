// One `Sql` for two databases: PostgreSQL through postgres.js, or PGlite in a worker thread reached by the same client
// over a private unix socket. Whoever holds a Database cannot tell which it is, except where `kind` decides about
// parallelism. The embedded one has ONE connection: code inside a transaction must use its handle and nothing else.
import { randomUUID } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import postgres from 'postgres';
import { countTransactions } from './connection/open-transactions.js';
import { createSockets, type Turn } from './connection/guarded-socket.js';
import { serverAddressesOf, serversOf } from './connection/server-addresses.js';
import { ServerPulses, type PulseTimes } from './connection/server-pulse.js';
import { refuseOwnWaits } from './connection/own-transaction.js';
import { createEmbedded } from './create-embedded.js';
import { lockDirectory } from './directory-lock.js';
import { requestCopy } from './embedded-copy.js';
import { lockKeys, type LockKey } from './lock-keys.js';
import { makeSocketDirectory } from './socket-directory.js';
import { keepLogShort } from './write-ahead-log.js';

export type Sql = postgres.Sql<{ bigint: number }>;
export type Tx = postgres.TransactionSql<{ bigint: number }>;
/** What a store function takes: the pool or a running transaction. */
export type Queryable = Sql | Tx;

export interface Database {
  readonly kind: 'postgres' | 'embedded';
  readonly sql: Sql;
  /** Runs `work` while holding a lock that all servers of this database respect; waits for it. */
  withLock<T>(key: LockKey, work: () => Promise<T>): Promise<T>;
  /** A lock held as long as its connection lives (leadership); null when another server has it. */
  tryHold(key: LockKey): Promise<HeldLock | null>;
  /** Whether another process of the control plane used this database within the last half minute. */
  othersAtWork(): Promise<boolean>;
  /**
   * For work that can wait: resolves when nobody holds the `apply` lock, at the latest after `atMostMs`; says whether
   * it had to wait. On PostgreSQL at once: there, statements do not queue behind each other.
   */
  untilQuiet(atMostMs: number): Promise<boolean>;
  /**
   * Copies the files of the embedded database, as they are at one instant, into a new directory beside its own, and
   * returns that. Opening the copy recovers it as after a crash: it holds every committed transaction and no other.
   * null: PostgreSQL, which takes snapshots of its own, or a database in memory.
   */
  readonly copyFiles: (() => Promise<string>) | null;
  close(): Promise<void>;
}

export interface HeldLock {
  /** False as soon as the connection that carries the lock is gone. */
  isHeld(): Promise<boolean>;
  release(): Promise<void>;
}

/** By which the connections of this process are told from those of other control planes. */
const kindOfConnection = 'gatehouse-api';
const ownConnections = `${kindOfConnection} ${randomUUID()}`;

const options = (max: number) => ({
  max,
  // nothing here is an array, and a connection that ends while its types are asked for rejects a promise of nobody's
  fetch_types: false,
  onnotice: () => undefined,
  // ids are far below 2^53; numbers in JSON are what every client expects
  types: {
    bigint: { to: 20, from: [20], parse: (raw: string) => Number(raw), serialize: (value: number) => String(value) },
  },
  connection: { application_name: ownConnections, TimeZone: 'UTC' },
});

/**
 * Of the connection that asks: PostgreSQL notices within six seconds that the machine at its other end is gone, and
 * gives back what that held. Without it a lock of a machine that lost power lasts for two hours (Linux, tcp(7)).
 */
const soonNoticed = (one: Sql) => one`
  set_config('tcp_keepalives_idle', '3', false), set_config('tcp_keepalives_interval', '1', false),
  set_config('tcp_keepalives_count', '3', false)`;

export interface PostgresOptions {
  readonly poolSize?: number;
  /** When a server that says nothing counts as standing still (connection/server-pulse.ts). */
  readonly pulse?: PulseTimes;
}

/** How long a connection may take to come up, in seconds. */
const connectSeconds = 10;
/** Pause before the next try at a database that is away, in seconds: it is noticed within a second of its return. */
const pauseOf = (failures: number): number => (0.5 + Math.random() / 2) * Math.min(2 ** failures / 20, 1);

type PoolOptions = ReturnType<typeof options> & { idle_timeout?: number; max_lifetime?: number };

/** What postgres.js is told of several servers: the sockets choose among them. */
const firstOf = (servers: ReturnType<typeof serversOf>): object =>
  servers === null ? {} : { host: [servers[0]?.host], port: [servers[0]?.port] };

/** A pool that a database which goes away cannot end the process of. `more`: of postgres.js, for this pool. */
function openPool(url: string, pulses: ServerPulses, more: PoolOptions, turn: Turn = { number: 0 }): Sql {
  const { ssl, host, port } = postgres(url, { max: 1 }).options;
  let untilTransactionsEnd = async (): Promise<void> => undefined;
  const servers = serversOf(url, { host, port });
  const socket = createSockets({
    tls: ssl,
    connectMsMax: connectSeconds * 1000,
    pulses,
    ...{ servers, turn },
    untilTransactionsEnd: () => untilTransactionsEnd(),
  });
  const guarded = {
    ...more,
    ...(serverAddressesOf(url) as object), // lists of them are documented, and missing in their types
    ...firstOf(servers),
    connect_timeout: connectSeconds,
    backoff: pauseOf,
    ssl: false, // the sockets see to it
    socket, // documented, and missing in their types
  };
  const sql: Sql = postgres(url, guarded);
  untilTransactionsEnd = countTransactions(sql);
  return sql;
}

/** A pool of a server that is only read from: a few connections, looked after in the same way. */
export const openReader = (url: string): Sql => openPool(url, new ServerPulses(), { ...options(5), idle_timeout: 60 });

/** Each asks for the settings in force every second or two; connections of a machine that lost power stay longer. */
async function othersAtWork(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ others: boolean }[]>`
    select count(*) > 0 as others from pg_stat_activity
    where datname = current_database() and application_name like ${`${kindOfConnection}%`}
      and application_name <> ${ownConnections} and state_change > clock_timestamp() - interval '30 seconds'`;
  return row?.others === true;
}

/** Connects lazily; a wrong URL shows at the first query. Throws nothing itself. */
export function openPostgres(url: string, given: PostgresOptions = {}): Database {
  const [pulses, turn] = [new ServerPulses(given.pulse), { number: 0 }];
  const sql: Sql = openPool(url, pulses, { ...options(given.poolSize ?? 10), idle_timeout: 60 }, turn);
  const dedicated = new Set<Sql>();
  const openOne = (): Sql => {
    const one: Sql = openPool(url, pulses, { ...options(1), max_lifetime: null as unknown as number }, turn);
    dedicated.add(one);
    return one;
  };
  const closeOne = async (one: Sql): Promise<void> => {
    dedicated.delete(one);
    await one.end({ timeout: 2 });
  };
  /** Asked for, not left to the end of the connection: a busy server notices that when it gets to it. */
  const giveBack = async (one: Sql, key: LockKey): Promise<void> => {
    // without its connection the lock is gone already
    await one`select pg_advisory_unlock(${lockKeys[key]})`.catch(() => undefined);
    await closeOne(one);
  };
  return {
    kind: 'postgres',
    sql,
    async withLock(key, work) {
      // own connection: the work inside may use the whole pool without starving itself
      const one = openOne();
      try {
        await one`select ${soonNoticed(one)}, pg_advisory_lock(${lockKeys[key]})`;
        return await work();
      } finally {
        await giveBack(one, key);
      }
    },
    async tryHold(key) {
      const one = openOne();
      const [row] = await one<
        { held: boolean; pid: number }[]
      >`select ${soonNoticed(one)}, pg_try_advisory_lock(${lockKeys[key]}) as held, pg_backend_pid() as pid`.catch(
        async (error: unknown) => {
          await closeOne(one);
          throw error;
        },
      );
      if (row?.held !== true) {
        await closeOne(one);
        return null;
      }
      return {
        async isHeld() {
          try {
            // a reconnect would get another backend, without the lock
            const [now] = await one<{ pid: number }[]>`select pg_backend_pid() as pid`;
            return now?.pid === row.pid;
          } catch (error) {
            if (error instanceof Error) return false;
            throw error;
          }
        },
        release: () => giveBack(one, key),
      };
    },
    othersAtWork: () => othersAtWork(sql),
    untilQuiet: async () => false,
    copyFiles: null,
    async close() {
      await Promise.all([...dedicated].map(closeOne));
      await sql.end({ timeout: 5 });
    },
  };
}

export interface EmbeddedOptions {
  /** How often the length of the write-ahead log is looked at (write-ahead-log.ts). */
  readonly lookEveryMs?: number;
  /** How long a statement may wait for the transaction whose code sent it (connection/own-transaction.ts). */
  readonly ownWaitMs?: number;
}

/**
 * Opens (and creates on first use) the embedded database in `directory`; `null` keeps it in memory for tests.
 * Throws when another live process has it open: two engines on one directory would destroy it.
 */
export async function openEmbedded(directory: string | null, given: EmbeddedOptions = {}): Promise<Database> {
  const unlock = directory === null ? async () => undefined : await lockDirectory(directory);
  try {
    if (directory !== null) await createEmbedded(directory);
    return await openWorker(directory, unlock, given);
  } catch (error) {
    await unlock();
    throw error;
  }
}

async function openWorker(
  directory: string | null,
  unlock: () => Promise<void>,
  { lookEveryMs, ownWaitMs }: EmbeddedOptions,
): Promise<Database> {
  const { path, remove } = await makeSocketDirectory();
  const worker = new Worker(new URL('./embedded-worker.js', import.meta.url), { workerData: { directory, path } });
  try {
    await nextMessage(worker, 'ready');
  } catch (error) {
    await worker.terminate();
    await remove();
    throw error;
  }
  worker.unref();
  const pool: Sql = postgres({
    ...options(1),
    path,
    database: 'postgres',
    username: 'postgres',
    idle_timeout: 0,
    max_lifetime: null as unknown as number,
  });
  const sql = refuseOwnWaits(pool, ownWaitMs);
  const log = keepLogShort(sql, lookEveryMs);
  const tails = new Map<LockKey, Promise<unknown>>();
  const held = new Set<LockKey>();
  const applies = new Crowd();
  return {
    kind: 'embedded',
    sql,
    // only this process can have the directory open, so a queue in memory is the lock
    withLock(key, work) {
      const turn = (tails.get(key) ?? Promise.resolve()).then(work, work);
      tails.set(
        key,
        turn.catch(() => undefined),
      );
      return key === 'apply' ? applies.during(turn) : turn;
    },
    othersAtWork: async () => false,
    untilQuiet: (atMostMs) => applies.untilGone(atMostMs),
    copyFiles: directory === null ? null : () => requestCopy(worker, directory),
    async tryHold(key) {
      if (held.has(key)) return null;
      held.add(key);
      return { isHeld: async () => held.has(key), release: async () => void held.delete(key) };
    },
    async close() {
      await log.stop();
      await sql.end({ timeout: 5 });
      worker.ref();
      worker.postMessage('close');
      await nextMessage(worker, 'closed');
      await worker.terminate();
      await remove();
      await unlock();
    },
  };
}

/** How many are at work, and a way to wait until nobody is. */
class Crowd {
  private present = 0;
  private readonly waiting = new Set<() => void>();

  during<T>(work: Promise<T>): Promise<T> {
    this.present++;
    return work.finally(() => {
      if (--this.present === 0) for (const wake of [...this.waiting]) wake();
    });
  }

  /** Whether it had to wait. */
  async untilGone(atMostMs: number): Promise<boolean> {
    if (this.present === 0) return false;
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        clearTimeout(alarm);
        this.waiting.delete(wake);
        resolve();
      };
      const alarm = setTimeout(wake, atMostMs);
      this.waiting.add(wake);
    });
    return true;
  }
}

function nextMessage(worker: Worker, expected: 'ready' | 'closed'): Promise<void> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: { kind: string; reason?: string }): void => {
      if (message.kind === 'copied') return; // embedded-copy.ts waits for it
      worker.off('message', onMessage);
      if (message.kind === expected) resolve();
      else reject(new Error(`The embedded database did not get ${expected}: ${message.reason ?? message.kind}`));
    };
    worker.on('message', onMessage);
    worker.once('error', reject);
  });
}
