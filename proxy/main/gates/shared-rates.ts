// Rate limits that all nodes share (rl_distributed), through Redis or whatever speaks its protocol. Every 25 ms, when
// there is something to tell: what this node took goes there in one round trip, and what all nodes together took comes
// back and replaces what this node thought. No request waits for it. Keys of which half is used up are told to the
// other nodes, so that a client that changes nodes finds its limit there.
//
// The store keeps for each key what rate-counters.ts keeps: the moment at which all places are free, by its own clock.
// Keys are hashes under seeds that the nodes of one installation share: no address is in the store.
//
// While it does not answer, each node goes on with its fair share (rate-exchange.ts) of the nodes that were known last,
// and adds up what it takes, up to 100,000 keys, the oldest go first. When it answers again all of that is told at
// once, and limits are those of all nodes from there on. It is asked again every half second.
//
// What is inexact, and how much: between two exchanges nodes do not know of each other. What a node took and has not
// told yet is at most its share of what was left when it heard last, so that a limit of N on K nodes lets through at
// most N + N * (K - 1) / K in a flood of all nodes at once: up to 23 % more than N was seen on a busy machine with two.
// Exact would be a lease: places that a node reserves in the store before it gives them away. That is not built.
import { Redis } from 'ioredis';
import { settle } from '../../shared-state/rates/rate-counters.js';
import type { KeyTable } from '../../shared-state/key-table.js';
import type { RateExchange, TakenPlace } from '../../shared-state/rates/rate-exchange.js';

const exchangeEveryMs = 25;
const keysPerExchange = 2000;
const keysMax = 100_000;
const answerMsMax = 500;
const beatEveryMs = 2000;
const beatEveryMsAway = 500;
/** A node that says nothing for so long is not one of those that share. */
const nodeSeconds = 10;

const exchangeScript = `local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local levels, hot = {}, {}
for i = 1, #KEYS do
  local cost, most = tonumber(ARGV[2 * i + 1]), tonumber(ARGV[2 * i + 2])
  local free = tonumber(redis.call('GET', KEYS[i]) or '0')
  if free < now then free = now end
  free = math.min(free + cost, now + most)
  local level = free - now
  redis.call('SET', KEYS[i], string.format('%.0f', free), 'PX', math.ceil(level / 1000) + 1000)
  levels[i] = string.format('%.0f', level)
  if 2 * level >= most then hot[#hot + 1] = string.match(KEYS[i], '[^:]+$') .. ':' .. levels[i] end
end
if #hot > 0 then redis.call('PUBLISH', ARGV[1], ARGV[2] .. ' ' .. table.concat(hot, ' ')) end
return levels`;

const beatScript = `local t = redis.call('TIME')
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', t[1] - ARGV[2])
redis.call('ZADD', KEYS[1], t[1], ARGV[1])
redis.call('EXPIRE', KEYS[1], 60)
return redis.call('ZCARD', KEYS[1])`;

export interface SharedRatesOptions {
  /** null: no store was named (REDIS_URL). */
  readonly url: string | null;
  /** Every key begins with it. */
  readonly prefix: string;
  readonly nodeId: string;
  readonly exchange: RateExchange;
  readonly rates: KeyTable;
  /** The clock of all threads, ms. */
  readonly nowMs: () => number;
  /** rl_distributed of what serves. */
  readonly isWanted: () => boolean;
  readonly log: (level: 'info' | 'warn', fields: Readonly<Record<string, unknown>>, message: string) => void;
}

interface Pending extends TakenPlace {
  /** Of the time until all places are free, microseconds. */
  costUs: number;
  lastMs: number;
}

const idOf = ({ low, high, events, windowSeconds }: TakenPlace): string =>
  `${low.toString(36)}.${high.toString(36)}.${events}.${windowSeconds}`;

function readId(id: string): TakenPlace | null {
  const [low = '', high = '', events, windowSeconds] = id.split('.');
  const taken = {
    low: Number.parseInt(low, 36),
    high: Number.parseInt(high, 36),
    events: Number(events),
    windowSeconds: Number(windowSeconds),
  };
  return Object.values(taken).every((value) => Number.isFinite(value) && value >= 0) && taken.events > 0 ? taken : null;
}

export class SharedRates {
  private client: Redis | null = null;
  private listener: Redis | null = null;
  private pending = new Map<string, Pending>();
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

  private get channel(): string {
    return `${this.keysName}hot`;
  }

  /** Wanted, and not so: each node limits for itself. */
  get isDegraded(): boolean {
    return this.options.isWanted() && this.isAway;
  }

  describe(): Record<string, unknown> {
    const isWanted = this.options.isWanted();
    const state = !isWanted ? 'off' : this.options.url === null ? 'no-store' : this.isAway ? 'degraded' : 'shared';
    return { state, nodes: this.nodes, waiting: this.pending.size, lost: this.options.exchange.lost };
  }

  begin(): void {
    this.timer = setInterval(() => this.turn(), exchangeEveryMs).unref();
  }

  private turn(): void {
    const { exchange, isWanted, url, log } = this.options;
    if (!isWanted() || url === null) {
      if (isWanted() && !this.wasTold)
        log('warn', {}, 'rl_distributed is on, and no REDIS_URL: this node limits alone');
      this.wasTold = isWanted();
      exchange.set(false, 1);
      if (this.client !== null) this.disconnect();
      return;
    }
    this.client ??= this.connect(url);
    exchange.set(true, this.nodes);
    this.collect();
    if (this.isBusy) return;
    const nowMs = performance.now();
    const isBeatDue = nowMs - this.beatAtMs >= (this.isAway ? beatEveryMsAway : beatEveryMs);
    if (isBeatDue) void this.during(() => this.beat(nowMs));
    else if (!this.isAway && this.pending.size > 0) void this.during(() => this.tell());
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

  private connect(url: string): Redis {
    const common = {
      maxRetriesPerRequest: 0,
      autoResendUnfulfilledCommands: false,
      connectTimeout: 2000,
      retryStrategy: (attempt: number) => Math.min(attempt * 100, 1000),
    };
    const client = new Redis(url, { ...common, enableOfflineQueue: false, commandTimeout: answerMsMax });
    client.on('error', () => {}); // a command that fails says so
    this.listener = new Redis(url, common);
    this.listener.on('error', () => {});
    this.listener.on('message', (_channel: string, text: string) => this.heard(text));
    this.listener.subscribe(this.channel).catch(() => {}); // it subscribes again with each connection
    return client;
  }

  private disconnect(): void {
    this.client?.disconnect();
    this.listener?.disconnect();
    this.client = null;
    this.listener = null;
    this.isAway = true;
    this.pending.clear();
  }

  private async beat(nowMs: number): Promise<void> {
    this.beatAtMs = nowMs;
    const { nodeId, log } = this.options;
    const client = this.client as Redis;
    const nodes = await client.eval(beatScript, 1, `${this.keysName}nodes`, nodeId, nodeSeconds);
    this.nodes = Math.max(1, Number(nodes));
    if (this.isAway) log('info', { nodes: this.nodes }, 'limits are shared with the other nodes');
    this.isAway = false;
    this.wasTold = false;
  }

  private collect(): void {
    const nowMs = performance.now();
    this.options.exchange.drain((taken) => {
      const id = idOf(taken);
      const costUs = (taken.windowSeconds * 1e6) / taken.events;
      const known = this.pending.get(id);
      if (known === undefined) {
        this.pending.set(id, { ...taken, costUs, lastMs: nowMs });
        if (this.pending.size > keysMax) this.pending.delete(this.pending.keys().next().value as string);
        return;
      }
      // What waits for long frees itself meanwhile, as it would in the store.
      const passedUs = this.isAway ? (nowMs - known.lastMs) * 1000 : 0;
      known.costUs = Math.max(0, known.costUs - passedUs) + costUs;
      known.lastMs = nowMs;
    });
  }

  private async tell(): Promise<void> {
    const batch: [string, Pending][] = [];
    for (const entry of this.pending) {
      if (batch.length >= keysPerExchange) break;
      batch.push(entry);
      this.pending.delete(entry[0]);
    }
    const { nodeId, nowMs } = this.options;
    const sentMs = nowMs();
    const values = batch.flatMap(([, { costUs, windowSeconds }]) => [Math.round(costUs), windowSeconds * 1e6]);
    const keys = batch.map(([id]) => this.keysName + id);
    try {
      const client = this.client as Redis;
      const levels = (await client.eval(
        exchangeScript,
        keys.length,
        ...keys,
        this.channel,
        nodeId,
        ...values,
      )) as string[];
      for (const [index, [id, taken]] of batch.entries()) this.learn(id, taken, Number(levels[index]), true, sentMs);
    } catch (error) {
      for (const [id, taken] of batch) {
        const since = this.pending.get(id);
        if (since === undefined) this.pending.set(id, taken);
        else since.costUs += taken.costUs;
      }
      throw error;
    }
  }

  /**
   * What all nodes took together; what this one took since is not in it yet, and counts as before. A node that shares
   * with nobody has counted exactly by itself: the store can only add to that what others took before they left.
   */
  private learn(id: string, taken: TakenPlace, levelUs: number, isAnswer: boolean, nowMs: number): void {
    const sinceMs = (): number => {
      this.collect();
      return ((this.pending.get(id)?.costUs ?? 0) * Math.min(this.nodes, taken.events)) / 1000;
    };
    const isWhole = isAnswer && this.nodes > 1;
    settle(this.options.rates, taken, { levelMs: levelUs / 1000, nowMs, isWhole, sinceMs });
  }

  /** Another node told: `<node> <key>:<level> …`. */
  private heard(text: string): void {
    const [node, ...hot] = text.split(' ');
    if (node === this.options.nodeId) return;
    for (const one of hot) {
      const [id = '', level] = one.split(':');
      const taken = readId(id);
      if (taken !== null && Number(level) > 0) this.learn(id, taken, Number(level), false, this.options.nowMs());
    }
  }

  async close(): Promise<void> {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
    const leaving = this.client?.zrem(`${this.keysName}nodes`, this.options.nodeId);
    await leaving?.catch(() => 0); // the others find out by themselves
    this.disconnect();
  }
}
