// Where places of limits that several nodes share are leased from: the store (Redis, or whatever speaks its protocol),
// one script for a batch of keys, atomic in the store. The store keeps for each key how many places are used (`l`, by
// the clock `t`; they come back evenly, as in rate-counters.ts) and how many each holder may still give away
// (`h:<holder>`) until when (`e:<holder>`). A grant is what is left of all three together.
//
// Why no window has more than the limit allows, over all holders: a place counts as taken from the moment at which it
// is granted to the moment at which its use is told, and only then begins to come back. So at each moment
// used + held ≤ events, and each use is charged at a moment not before it happened, which is stricter than the limit.
// A lease that ends unanswered is charged as used. Slow twin of the script: testing/slow-lease-store.ts.
//
// Figures are doubles: a limit is exact to a millionth of a place. Keys are hashes: no address is in the store. A lease
// is one key with a hash tag; in a cluster sixteen tags spread leases over its slots, elsewhere one call takes all.
import type { RedisAddress } from '#settings/environment';
import { connectRedis, slotTags } from '../../../redis/connection.js';

/** Where leases are, and what every key begins with. */
export interface StoreAddress {
  readonly redis: RedisAddress;
  readonly prefix: string;
}

/** What one holder has to say of a key, and what it wants. */
export interface LeaseRequest {
  readonly id: string;
  readonly events: number;
  readonly windowMs: number;
  /** Places that were given away since it was told last; not whole where some came back meanwhile. */
  readonly used: number;
  /** Places of its lease that it still has. */
  readonly has: number;
  /** Requests that wait for a place. */
  readonly needed: number;
  /** With those that it would like to have ready. */
  readonly wanted: number;
  /** What it knows of the level at least, in places: more than 0 counts where the store has forgotten. */
  readonly floor: number;
}

export interface LeaseAnswer {
  readonly granted: number;
  /** Places that are used and not back yet, as the store has it. */
  readonly level: number;
  /** Places that holders have and did not use yet, with this one. */
  readonly held: number;
}

export interface LeaseTerms {
  readonly holder: string;
  /** How long places may be held, ms. */
  readonly leaseMs: number;
  /** Nodes that share: what is wanted and not needed is at most half of a node's part of what is left. */
  readonly nodes: number;
}

export interface LeaseStore {
  /** One round trip; rejects when there is no answer. */
  exchange(terms: LeaseTerms, requests: readonly LeaseRequest[]): Promise<readonly LeaseAnswer[]>;
  /** Called when it is known that nobody answers. */
  onLost: (() => void) | null;
  close(): void;
}

/** ARGV: holder, lease in µs, nodes, time in µs ('' = the store's own clock); then seven numbers a key. */
export const leaseScript = `local now = tonumber(ARGV[4])
if now == nil then
  local t = redis.call('TIME')
  now = t[1] * 1000000 + t[2]
end
local holder, lease, nodes = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local answers = {}
for i = 1, #KEYS do
  local a = 4 + (i - 1) * 7
  local events, window = tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2])
  local used, has = tonumber(ARGV[a + 3]), tonumber(ARGV[a + 4])
  local needed, wanted, floor = tonumber(ARGV[a + 5]), tonumber(ARGV[a + 6]), tonumber(ARGV[a + 7])
  local key = KEYS[i]
  local level, at, held, others = 0, now, {}, 0
  local fields = redis.call('HGETALL', key)
  local ends = {}
  for f = 1, #fields, 2 do
    local name, value = fields[f], tonumber(fields[f + 1])
    if name == 'l' then level = value
    elseif name == 't' then at = value
    elseif string.sub(name, 1, 2) == 'h:' then held[string.sub(name, 3)] = value
    else ends[string.sub(name, 3)] = value end
  end
  if at > now then at = now end
  level = math.max(0, level - (now - at) * events / window)
  for name, places in pairs(held) do
    if name ~= holder then
      if (ends[name] or 0) <= now then
        level = level + places
        redis.call('HDEL', key, 'h:' .. name, 'e:' .. name)
      else others = others + places end
    end
  end
  level = math.min(events, math.max(level, floor) + used)
  local left = math.max(0, math.floor(events - level - others - has + 0.000001))
  local spare = math.floor(left / (2 * nodes))
  local granted = math.min(left, math.max(needed, math.min(wanted, spare)))
  local mine = has + granted
  redis.call('HSET', key, 'l', string.format('%.17g', level), 't', string.format('%.0f', now))
  if mine > 0 then
    redis.call('HSET', key, 'h:' .. holder, string.format('%.0f', mine), 'e:' .. holder,
      string.format('%.0f', now + lease))
  else redis.call('HDEL', key, 'h:' .. holder, 'e:' .. holder) end
  redis.call('PEXPIRE', key, math.ceil((window + lease) / 1000) + 1000)
  answers[3 * i - 2] = granted
  answers[3 * i - 1] = string.format('%.17g', level)
  answers[3 * i] = others + mine
end
return answers`;

/** Of what the script wants of each key, in its order. */
const argumentsOf = (request: LeaseRequest): number[] => [
  request.events,
  request.windowMs * 1000,
  request.used,
  request.has,
  request.needed,
  request.wanted,
  request.floor,
];

/** Where the script runs: one call, all keys in one slot of a cluster. */
export type RunScript = (
  script: string,
  keys: readonly string[],
  values: readonly (string | number)[],
) => Promise<unknown>;

/** One call of the script. `nowUs` is for tests: the moment, in place of the store's clock. */
export async function runLeaseScript(
  run: RunScript,
  keyOf: (id: string) => string,
  { holder, leaseMs, nodes }: LeaseTerms,
  requests: readonly LeaseRequest[],
  nowUs: number | '' = '',
): Promise<LeaseAnswer[]> {
  const keys = requests.map(({ id }) => keyOf(id));
  const values = requests.flatMap(argumentsOf);
  const answer = (await run(leaseScript, keys, [holder, leaseMs * 1000, nodes, nowUs, ...values])) as (
    | string
    | number
  )[];
  return requests.map((_, index) => ({
    granted: Number(answer[3 * index]),
    level: Number(answer[3 * index + 1]),
    held: Number(answer[3 * index + 2]),
  }));
}

/** Spreads leases over a cluster: the tag of a key by its id. All keys with one tag are in one slot. */
export function tagOf(id: string): number {
  let sum = 0;
  for (let at = 0; at < id.length; at += 1) sum = (Math.imul(sum, 31) + id.charCodeAt(at)) >>> 0;
  return sum % slotTags;
}

/** A script takes keys of one slot only: one call for each tag, all at once. Rejects when one of them does. */
async function exchangeInCluster(
  run: RunScript,
  prefix: string,
  terms: LeaseTerms,
  requests: readonly LeaseRequest[],
): Promise<LeaseAnswer[]> {
  const byTag = new Map<number, number[]>();
  for (const [index, { id }] of requests.entries()) {
    const tag = tagOf(id);
    const indices = byTag.get(tag);
    if (indices === undefined) byTag.set(tag, [index]);
    else indices.push(index);
  }
  const answers = new Array<LeaseAnswer>(requests.length);
  const call = async ([tag, indices]: [number, number[]]): Promise<void> => {
    const keyOf = (id: string): string => `{${prefix}:${tag}}:lease:${id}`;
    const part = indices.map((index) => requests[index] as LeaseRequest);
    const found = await runLeaseScript(run, keyOf, terms, part).catch(async (error: Error) => {
      // A slot on its way to another node: several keys are refused unless all are there, one is found where it is.
      if (part.length === 1 || !error.message.includes('TRYAGAIN')) throw error;
      return (await Promise.all(part.map((one) => runLeaseScript(run, keyOf, terms, [one])))).flat();
    });
    for (const [at, index] of indices.entries()) answers[index] = found[at] as LeaseAnswer;
  };
  await Promise.all(Array.from(byTag, call));
  return answers;
}

/** Longer than a request waits for its place (leases.ts), so that a late answer is still told from none. */
const answerMsMax = 1000;

/**
 * Connects at once, and again and again; a command without a connection fails at once. Nothing to exchange: it is asked
 * whether the store takes writes, in a cluster on all its parts, so that one that could not grant is not taken for one
 * that answers.
 */
export function connectLeaseStore({ redis, prefix }: StoreAddress): LeaseStore {
  const connection = connectRedis(redis, { answerMsMax, retryMsMax: 500 });
  const { mode } = connection;
  const run: RunScript = (script, keys, values) => connection.run(script, keys, values);
  const exchange = async (terms: LeaseTerms, requests: readonly LeaseRequest[]): Promise<LeaseAnswer[]> => {
    if (requests.length === 0) {
      await connection.look(prefix);
      return [];
    }
    if (mode === 'cluster') return exchangeInCluster(run, prefix, terms, requests);
    return runLeaseScript(run, (id) => `{${prefix}}:lease:${id}`, terms, requests);
  };
  const store: LeaseStore = {
    onLost: null,
    exchange,
    close: () => {
      store.onLost = null;
      connection.close();
    },
  };
  connection.onLost = () => store.onLost?.();
  return store;
}
