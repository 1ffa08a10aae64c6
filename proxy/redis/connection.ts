// The one maker of connections to Redis, for nodes and control planes: a server, the primary that sentinels name, or a
// cluster. What all of them hold to:
// - nobody waits for Redis beyond `answerMsMax`, and nothing is queued while it is away;
// - a connection over which nothing comes is given up (a primary that stands still, a partition): only a new one asks
//   the sentinels, or the cluster, who the primary is now;
// - so is one to a server that takes no writes: it was the primary before.
// Connects in the background and again after every loss.
import type { Cluster, Redis } from 'ioredis';
import type { RedisAddress } from '#settings/environment';
import { tlsOptions } from './tls-files.js';
import { tellTrouble, type RedisTrouble } from './trouble.js';

/** What can be told of a connection to everybody who may ask: no addresses, no names. */
export interface RedisState {
  readonly mode: RedisAddress['mode'];
  readonly tls: boolean;
  /** Why it does not answer; null: it does, or was not asked yet. */
  readonly trouble: RedisTrouble | null;
}

export interface RedisConnection {
  readonly mode: RedisAddress['mode'];
  /** Connected; whether commands succeed is another matter. */
  readonly isReady: boolean;
  state(): RedisState;
  /**
   * A script, atomic. All keys must be in one slot of a cluster: one key, or one hash tag. Rejects without a connection
   * at once, and within `answerMsMax` otherwise; the error's message says what to do. Whether a script that was given
   * up on ran is unknown.
   */
  run(script: string, keys: readonly string[], values?: readonly (string | number)[]): Promise<unknown>;
  /** Whether Redis takes writes, everywhere in a cluster. Rejects where it does not. */
  look(prefix: string): Promise<void>;
  /** Called when a connection was lost. */
  onLost: (() => void) | null;
  /** Called when there is a connection (again). */
  onReady: (() => void) | null;
  /** Called when an attempt to connect failed, and when a connection broke. */
  onError: ((error: Error) => void) | null;
  close(): void;
}

export interface ConnectionTimes {
  /** A command waits for its answer so long, ms. */
  readonly answerMsMax: number;
  /** The longest pause between two attempts to connect, ms. */
  readonly retryMsMax: number;
}

const connectMsMax = 2000;
/** A connection over which nothing came for so long though something was asked. */
const silenceMsMax = 2000;
/** A server that takes no writes is left so often at most, however many commands it refuses. */
const leaveEveryMs = 1000;
/** A client that gave up for good is replaced after this. */
const endedMs = 1000;
/** Of a command in a cluster: MOVED, ASK, a node that is away. */
const redirectionsMax = 5;

/** Each of these is in one slot, and all together in most parts of a cluster. */
export const slotTags = 16;

/** Whether it takes writes; leaves nothing behind. */
const writeScript = `redis.call('SET', KEYS[1], '1') return redis.call('DEL', KEYS[1])`;

type Client = Redis | Cluster;

type OnProblem = (error: unknown) => void;

function commonOptions(address: RedisAddress, { answerMsMax, retryMsMax }: ConnectionTimes, tls: object): object {
  let leftMs = Number.NEGATIVE_INFINITY;
  return {
    username: address.username ?? undefined,
    password: address.password ?? undefined,
    connectTimeout: connectMsMax,
    commandTimeout: Math.max(answerMsMax, silenceMsMax), // of the handshake; what is asked later is bounded by run
    socketTimeout: Math.max(answerMsMax, silenceMsMax),
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    disableClientInfo: true, // an ACL user need not be allowed that
    retryStrategy: (attempt: number) => Math.min(attempt * 50, retryMsMax),
    reconnectOnError: (error: Error) => {
      const isNoPrimary = /\bREADONLY\b|\bNOREPLICAS\b/.test(error.message);
      if (!isNoPrimary || performance.now() - leftMs < leaveEveryMs) return false;
      leftMs = performance.now();
      return true;
    },
    ...tls,
  };
}

async function makeClient(address: RedisAddress, times: ConnectionTimes, onProblem: OnProblem): Promise<Client> {
  // Workers of nodes that share nothing do without it. By its default: put together (bin/fuse.mjs), a CommonJS module
  // that is imported so has no other name.
  const { default: loaded } = await import('ioredis');
  const ioredis = loaded as unknown as { readonly Redis: typeof Redis; readonly Cluster: typeof Cluster };
  const { mode, servers, socketPath, database, master, tls } = address;
  const secured = tls === null ? null : tlsOptions(tls, onProblem);
  const common = commonOptions(address, times, secured === null ? {} : { tls: secured });
  if (mode === 'cluster')
    return new ioredis.Cluster([...servers], {
      redisOptions: common,
      enableOfflineQueue: false,
      maxRedirections: redirectionsMax,
      clusterRetryStrategy: (attempt) => Math.min(attempt * 50, times.retryMsMax),
      slotsRefreshTimeout: connectMsMax,
      retryDelayOnTryAgain: 0, // whoever runs a script over several keys knows better (lease-store.ts)
      // names stay names: a certificate is compared with what REDIS_URL and the cluster say
      dnsLookup: (name, done) => done(null, name),
    });
  if (mode === 'sentinel')
    return new ioredis.Redis({
      ...common,
      ...{ sentinels: [...servers], name: master, db: database, role: 'master' },
      ...{
        sentinelUsername: address.sentinelUsername ?? undefined,
        sentinelPassword: address.sentinelPassword ?? undefined,
      },
      sentinelTLS: secured ?? undefined,
      enableTLSForSentinelMode: secured !== null,
      sentinelCommandTimeout: connectMsMax, // one that stands still takes connections all the same
      sentinelRetryStrategy: (attempt: number) => Math.min(attempt * 50, times.retryMsMax),
    });
  return new ioredis.Redis({
    ...common,
    db: database,
    ...(socketPath === null ? { host: servers[0]?.host ?? '', port: servers[0]?.port ?? 0 } : { path: socketPath }),
  });
}

/** Rejects when there is no answer in time. */
async function within<T>(ms: number, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

const withCause = (error: Error, cause: unknown): Error => new Error(error.message, { cause });

const tlsFix = '; or certificates do not fit: look at REDIS_TLS_CA_FILE and REDIS_TLS_CERT_FILE';

class Connection implements RedisConnection {
  onLost: (() => void) | null = null;
  onReady: (() => void) | null = null;
  onError: ((error: Error) => void) | null = null;
  private client: Client | null = null;
  private isClosed = false;
  private again: NodeJS.Timeout | null = null;
  private trouble: RedisTrouble | null = null;
  private why = 'not connected yet';
  /** What is wrong with a file of ours, since the last connection that succeeded. */
  private unread = '';
  /** Of the attempt, or the connection, of the moment. */
  private isTold = false;
  private wasReady = false;

  constructor(
    private readonly address: RedisAddress,
    private readonly times: ConnectionTimes,
  ) {
    this.open();
  }

  get mode(): RedisAddress['mode'] {
    return this.address.mode;
  }

  get isReady(): boolean {
    return this.client?.status === 'ready';
  }

  state(): RedisState {
    return { mode: this.mode, tls: this.address.tls !== null, trouble: this.trouble };
  }

  async run(script: string, keys: readonly string[], values: readonly (string | number)[] = []): Promise<unknown> {
    const { client } = this;
    // why there is no connection was told by whoever tried to make one
    if (client?.status !== 'ready') throw new Error(this.why);
    try {
      const answer = await within(this.times.answerMsMax, client.eval(script, keys.length, ...keys, ...values));
      if (this.mode !== 'cluster') this.trouble = null; // there another part may be away
      return answer;
    } catch (error) {
      throw this.told(error);
    }
  }

  async look(prefix: string): Promise<void> {
    const keys =
      this.mode === 'cluster'
        ? Array.from({ length: slotTags }, (_, tag) => `{${prefix}:${tag}}:look`)
        : [`${prefix}:look`];
    await Promise.all(keys.map((key) => this.run(writeScript, [key])));
    this.trouble = null;
  }

  close(): void {
    this.isClosed = true;
    if (this.again !== null) clearTimeout(this.again);
    this.onLost = null;
    this.onReady = null;
    this.onError = null;
    this.client?.disconnect();
  }

  private told(error: unknown): Error {
    const { trouble, text } = tellTrouble(error);
    this.trouble = trouble;
    // the client keeps to itself why TLS failed with one of several
    const isUnclear = trouble === 'unreachable' && this.address.tls !== null && this.mode !== 'single';
    this.why = (trouble === 'certificate' || isUnclear ? this.unread : '') + text + (isUnclear ? tlsFix : '');
    return new Error(this.why, { cause: error });
  }

  private failed(error: unknown): void {
    this.isTold = true;
    const problem = this.told(error);
    this.onError?.(problem);
  }

  private open(): void {
    const notRead = (error: unknown): void => {
      this.unread = `${error instanceof Error ? error.message : String(error)}; `;
    };
    makeClient(this.address, this.times, notRead).then(
      (made) => this.use(made),
      (error: unknown) => this.failed(error),
    );
  }

  private use(made: Client): void {
    this.client = made;
    if (this.isClosed) return made.disconnect();
    // of one sentinel, or one node: only if all fail that is why
    let one: unknown = null;
    for (const name of ['sentinelError', 'node error']) made.on(name, (error: unknown) => void (one = error));
    made.on('error', (error: Error) =>
      this.failed(error.message.startsWith('All sentinels') ? withCause(error, one) : error),
    );
    made.on('ready', () => {
      this.wasReady = true;
      this.trouble = null;
      this.unread = '';
      this.onReady?.();
    });
    made.on('close', () => this.closed());
    // the client gives up where it cannot even try, as with a certificate that is none
    made.on('end', () => {
      if (!this.isClosed) this.again = setTimeout(() => this.open(), endedMs).unref();
    });
  }

  private closed(): void {
    // some ends come without an error: of a server that ends, or that does not speak TLS
    const words = this.wasReady
      ? 'Connection is closed.'
      : `${this.address.tls === null ? '' : 'TLS: '}the connection was closed at once`;
    if (this.wasReady || !this.isTold) this.failed(new Error(words));
    this.isTold = false;
    this.wasReady = false;
    this.onLost?.();
  }
}

export const connectRedis = (address: RedisAddress, times: ConnectionTimes): RedisConnection =>
  new Connection(address, times);
