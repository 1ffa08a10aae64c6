// How many nodes share their limits (rl_distributed), and whether the store of it answers: main says so in the store
// every two seconds, and tells its workers. Places of limits are leased by the workers themselves
// (admit/limits/leases/): no request of a client goes by way of main.
//
// While the store does not answer the number of nodes that was known last holds: each gives away its share of a limit.
// The store is asked again every half second.
import type { RedisAddress } from '#settings/environment';
import { connectRedis, type RedisConnection } from '../../redis/connection.js';
import type { SharingState } from '../../shared-state/rates/sharing-state.js';

const turnEveryMs = 100;
const answerMsMax = 500;
const beatEveryMs = 2000;
const beatEveryMsAway = 500;
/** A node that says nothing for so long is not one of those that share. */
const nodeSeconds = 10;

const beatScript = `local t = redis.call('TIME')
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', t[1] - ARGV[2])
redis.call('ZADD', KEYS[1], t[1], ARGV[1])
redis.call('EXPIRE', KEYS[1], 60)
return redis.call('ZCARD', KEYS[1])`;

const leaveScript = `return redis.call('ZREM', KEYS[1], ARGV[1])`;

export interface SharedRatesOptions {
  /** null: no store was named (REDIS_URL). */
  readonly redis: RedisAddress | null;
  /** Every key begins with it. */
  readonly prefix: string;
  readonly nodeId: string;
  readonly sharing: SharingState;
  /** rl_distributed of what serves. */
  readonly isWanted: () => boolean;
  readonly log: (level: 'info' | 'warn', fields: Readonly<Record<string, unknown>>, message: string) => void;
}

export class SharedRates {
  private connection: RedisConnection | null = null;
  private timer: NodeJS.Timeout | null = null;
  private isBusy = false;
  private isAway = true;
  private wasTold = false;
  private nodes = 1;
  private beatAtMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: SharedRatesOptions) {}

  private get keysName(): string {
    return `{${this.options.prefix}}:rate:`;
  }

  /** Wanted, and not so: each node limits for itself. */
  get isDegraded(): boolean {
    const { isWanted, sharing } = this.options;
    return isWanted() && (this.isAway || !sharing.areAllUp);
  }

  describe(): Record<string, unknown> {
    const isWanted = this.options.isWanted();
    const state = !isWanted
      ? 'off'
      : this.options.redis === null
        ? 'no-store'
        : this.isDegraded
          ? 'degraded'
          : 'shared';
    const store = this.connection?.state() ?? null;
    return { state, nodes: this.nodes, lost: this.options.sharing.lost, store };
  }

  begin(): void {
    this.timer = setInterval(() => this.turn(), turnEveryMs).unref();
  }

  private turn(): void {
    const { sharing, isWanted, redis, log } = this.options;
    if (!isWanted() || redis === null) {
      if (isWanted() && !this.wasTold)
        log('warn', {}, 'rl_distributed is on, and no REDIS_URL: this node limits alone');
      this.wasTold = isWanted();
      sharing.set(false, 1);
      if (this.connection !== null) this.disconnect();
      return;
    }
    this.connection ??= connectRedis(redis, { answerMsMax, retryMsMax: 1000 });
    sharing.set(true, this.nodes);
    // the first attempt to connect is still on its way: nothing to tell of yet
    const isBeginning = !this.connection.isReady && this.connection.state().trouble === null;
    if (this.isBusy || isBeginning) return;
    const nowMs = performance.now();
    const isBeatDue = nowMs - this.beatAtMs >= (this.isAway ? beatEveryMsAway : beatEveryMs);
    if (isBeatDue) void this.during(() => this.beat(nowMs));
  }

  private async during(work: () => Promise<void>): Promise<void> {
    this.isBusy = true;
    try {
      await work();
    } catch (error) {
      if (!this.isAway || !this.wasTold)
        this.options.log(
          'warn',
          { reason: error instanceof Error ? error.message : String(error), nodes: this.nodes },
          'the store of shared limits does not answer; this node limits to its share until it does (REDIS_URL)',
        );
      this.isAway = true;
      this.wasTold = true;
    } finally {
      this.isBusy = false;
    }
  }

  private disconnect(): void {
    this.connection?.close();
    this.connection = null;
    this.isAway = true;
  }

  private async beat(nowMs: number): Promise<void> {
    this.beatAtMs = nowMs;
    const { nodeId, log } = this.options;
    const nodes = await (this.connection as RedisConnection).run(
      beatScript,
      [`${this.keysName}nodes`],
      [nodeId, nodeSeconds],
    );
    this.nodes = Math.max(1, Number(nodes));
    if (this.isAway) log('info', { nodes: this.nodes }, 'limits are shared with the other nodes');
    this.isAway = false;
    this.wasTold = false;
  }

  async close(): Promise<void> {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
    const leaving = this.connection?.run(leaveScript, [`${this.keysName}nodes`], [this.options.nodeId]);
    await leaving?.catch(() => 0); // the others find out by themselves
    this.disconnect();
  }
}
