// Request counters of the login and 404 limits: in this process, and shared by all API processes through Redis where
// REDIS_URL is set. Redis is never waited for long and never decides alone: every count is mirrored in the process, so
// that losing Redis neither locks people out nor hands an exhausted source a fresh allowance.
import { createHmac } from 'node:crypto';
import type { FastifyRateLimitOptions, FastifyRateLimitStore, FastifyRateLimitStoreCtor } from '@fastify/rate-limit';
import { connectRedis, type RedisConnection, type RedisState, type RedisTrouble } from '#proxy/redis';
import type { RedisAddress } from '#settings/environment';

/** `current` includes this request; `ttl` is what is left of the window in milliseconds. */
export interface Counted {
  readonly current: number;
  readonly ttl: number;
}

/** Fixed windows that begin with a key's first request. */
export interface RequestCounts {
  count(key: string, windowMs: number): Promise<Counted>;
}

export interface LocalCounts extends RequestCounts {
  /** Takes over what others have counted; never lowers. */
  raise(key: string, seen: Counted): Counted;
}

export interface SharedLimitsState {
  readonly kind: 'in_process' | 'redis';
  readonly status: 'ok' | 'degraded';
  /** Requests counted by this process alone because Redis did not answer, since the start. */
  readonly fallbacks: number;
  /** How Redis is connected; null: in_process. */
  readonly mode: RedisState['mode'] | null;
  readonly tls: boolean;
  /** Why it does not answer; null: it does, or there is none. */
  readonly trouble: RedisTrouble | null;
}

export interface SharedLimits {
  scope(name: string): RequestCounts;
  state(): SharedLimitsState;
  close(): Promise<void>;
}

export interface SharedLimitsOptions {
  readonly redis: RedisAddress | null;
  /** Every key begins with it: several installations may use one Redis. */
  readonly prefix: string;
  /** Monotonic, milliseconds. */
  readonly clock: () => number;
  readonly log: { warn(fields: object, message: string): void; info(message: string): void };
  /** How long a request waits for Redis at most. */
  readonly answerMsMax?: number;
  /** How often it is looked whether Redis still counts, ms. */
  readonly lookEveryMs?: number;
}

const keysMax = 10_000;
/** A login may wait this long for Redis, and after a failure nobody asks it again for the pause. */
const answerMsMaxDefault = 250;
const pauseMs = 1000;
/** So often Redis is asked to count though nobody logs in: one that takes no writes is connected as well as ever. */
const lookEveryMs = 2000;

/** At most `keysMax` keys, the least recently used go first. */
export function createLocalCounts(clock: () => number): LocalCounts {
  const windows = new Map<string, { current: number; untilMs: number }>();
  const keep = (key: string, current: number, untilMs: number): Counted => {
    windows.delete(key); // most recently used last
    windows.set(key, { current, untilMs });
    const [oldest] = windows.keys();
    if (windows.size > keysMax && oldest !== undefined) windows.delete(oldest);
    return { current, ttl: Math.max(0, Math.ceil(untilMs - clock())) };
  };
  const alive = (key: string) => {
    const found = windows.get(key);
    return found === undefined || found.untilMs <= clock() ? null : found;
  };
  return {
    async count(key, windowMs) {
      const found = alive(key);
      return keep(key, (found?.current ?? 0) + 1, found?.untilMs ?? clock() + windowMs);
    },
    raise: (key, seen) => keep(key, Math.max(alive(key)?.current ?? 0, seen.current), clock() + seen.ttl),
  };
}

/** One round trip and atomic: a key without an expiry would count for ever. */
const script = `local current = redis.call('INCR', KEYS[1])
local ttl = redis.call('PTTL', KEYS[1])
if ttl < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) ttl = tonumber(ARGV[1]) end
return {current, ttl}`;

/** Rejects when Redis does not answer in time. */
export function createRedisCounts(redis: RedisConnection, prefix: string): RequestCounts {
  return {
    async count(key, windowMs) {
      const [current, ttl] = (await redis.run(script, [`${prefix}:${key}`], [windowMs])) as [number, number];
      return { current, ttl };
    },
  };
}

/**
 * The keys of an installation where REDIS_PREFIX is not set: all its processes share the session secret, no other
 * installation has it, and the digest does not tell it.
 */
export function installationPrefix(sessionSecret: string): string {
  return `gatehouse:${createHmac('sha256', sessionSecret).update('redis prefix').digest('hex').slice(0, 16)}`;
}

export function createSharedLimits(options: SharedLimitsOptions): SharedLimits {
  const { clock, log, prefix } = options;
  if (options.redis === null)
    return {
      scope: () => createLocalCounts(clock),
      state: () => ({ kind: 'in_process', status: 'ok', fallbacks: 0, mode: null, tls: false, trouble: null }),
      close: async () => undefined,
    };
  const { answerMsMax = answerMsMaxDefault } = options;
  const redis = connectRedis(options.redis, { answerMsMax, retryMsMax: 2000 });
  let fallbacks = 0;
  let isDown = false;
  let askAgainAtMs = 0;
  // once per outage, however many requests and attempts to connect notice it
  const failed = (error: Error): void => {
    askAgainAtMs = clock() + pauseMs;
    if (!isDown)
      log.warn(
        { reason: error.message },
        'Redis does not answer; every process counts logins and probes by itself until it does (REDIS_URL)',
      );
    isDown = true;
  };
  const answered = (): void => {
    if (isDown) log.info('Redis answers again; limits are shared');
    isDown = false;
    askAgainAtMs = 0;
  };
  const look = (): void => {
    if (redis.isReady) redis.look(prefix).then(answered, failed);
  };
  const looking = setInterval(look, options.lookEveryMs ?? lookEveryMs).unref();
  redis.onError = failed;
  redis.onReady = look; // connected as well as ever is also one that takes no writes
  return {
    scope(name) {
      const [local, shared] = [createLocalCounts(clock), createRedisCounts(redis, `${prefix}:limit:${name}`)];
      return {
        async count(key, windowMs) {
          const mine = await local.count(key, windowMs);
          if (redis.isReady && clock() >= askAgainAtMs) {
            try {
              const seen = await shared.count(key, windowMs);
              if (redis.mode !== 'cluster') answered(); // there another part may be away
              return local.raise(key, seen);
            } catch (error) {
              failed(error instanceof Error ? error : new Error(String(error)));
            }
          }
          fallbacks++;
          return mine;
        },
      };
    },
    state: () => {
      const status = redis.isReady && !isDown ? 'ok' : 'degraded';
      return { kind: 'redis', status, fallbacks, ...redis.state() };
    },
    async close() {
      clearInterval(looking);
      redis.close();
    },
  };
}

/** The shape @fastify/rate-limit asks for: one scope per route, `not-found` for the handler without a route. */
export function toRateLimitStore(limits: SharedLimits): FastifyRateLimitStoreCtor {
  class ScopedStore implements FastifyRateLimitStore {
    private readonly counts: RequestCounts;

    constructor(_options: FastifyRateLimitOptions, scope = 'global') {
      this.counts = limits.scope(scope);
    }

    incr(
      key: string,
      done: (error: Error | null, result?: { current: number; ttl: number }) => void,
      windowMs: number,
    ): void {
      this.counts.count(key, windowMs).then(
        (counted) => done(null, counted),
        (error: Error) => done(error),
      );
    }

    child(route: object): FastifyRateLimitStore {
      // the plugin hands over its own parameters with the route inside
      const { routeInfo, groupId } = route as {
        routeInfo?: { method?: string | string[]; url?: string };
        /** Routes that are counted together. */
        groupId?: string;
      };
      if (groupId !== undefined) return new ScopedStore({}, groupId);
      return new ScopedStore(
        {},
        routeInfo?.url === undefined ? 'not-found' : `${String(routeInfo.method)} ${routeInfo.url}`,
      );
    }
  }
  return ScopedStore;
}
