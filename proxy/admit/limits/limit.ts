// One limit as gates ask it: take a place, or say that there is none. The gates of this folder differ in who is counted
// and where; what becomes of too many is here, once: 429, dry runs, bans of those that do not stop, and how much of it
// is written down.
import type { Site } from '../../road/route.js';
import { compileRate, levelOf, take, type Rate } from '../../shared-state/rates/rate-counters.js';
import { manyClients, punish, type AutoBan } from '../bans/auto-ban.js';
import type { Decision, DecisionRule } from '../decision.js';
import type { GateRequest, GateWorker } from '../gate.js';
import { policyItem, stateItem } from './fields.js';

export interface Limit {
  /** As records, metrics and the fields of a 429 name it. */
  readonly name: string;
  readonly rate: Rate;
  /** Counted and recorded, never enforced. */
  readonly isDryRun: boolean;
  readonly ruleId: number;
  readonly message: string;
  /** It is one of all nodes (rl_distributed). */
  readonly isShared: boolean;
  /** Its member of `RateLimit-Policy` on answers to requests that it let through; null: they are not told. */
  readonly told: string | null;
}

/** Rules by which people find limited requests; no rule set has them. */
export const limitRuleIds = {
  flood: 1_006_100,
  zone: 1_006_101,
  endpoint: 1_006_102,
  attack: 1_006_103,
  verdict: 1_006_104,
} as const;

export interface LimitSettings {
  readonly kind: keyof typeof limitRuleIds;
  readonly name: string;
  /** What it counts, besides its kind and name: limits that differ in it count apart. */
  readonly counts?: string;
  readonly events: number;
  readonly windowSeconds: number;
  readonly isDryRun: boolean;
  readonly isShared?: boolean;
  /** Answers to requests that it lets through tell what is left. */
  readonly isTold?: boolean;
}

const messages: Readonly<Record<LimitSettings['kind'], string>> = {
  flood: 'More requests than the flood limit allows',
  zone: 'More requests than the rate limit allows',
  endpoint: 'More requests than this endpoint is to get',
  attack: 'More requests than a client may send while under attack',
  verdict: 'More requests than this client may send until its verdict ends',
};

export function compileLimit(settings: LimitSettings): Limit {
  const { kind, name, counts = '', events, windowSeconds, isDryRun, isShared = false } = settings;
  const told = settings.isTold === true ? policyItem(name, events, windowSeconds) : null;
  return {
    name,
    rate: compileRate(`${kind} ${name} ${counts}`, events, windowSeconds),
    isDryRun,
    ruleId: limitRuleIds[kind],
    message: messages[kind],
    isShared,
    told,
  };
}

/** What the tables of this folder's gates say of their memory. */
export const limitBound = {
  of: 'clients and limits together, one table for all workers (42 MB when full)',
  max: 2 ** 21,
  unit: 'entries',
  beyond: 'the key whose limit would be forgotten soonest gives way; counted in gatehouse_rate_keys_evicted',
} as const;

/** Who is counted. */
export interface Counted {
  readonly low: number;
  readonly high: number;
}

/** One key for everybody. */
export const everybody: Counted = { low: 1, high: 1 };

/**
 * Takes a place of `counted`. null: there was one. `autoBan` null: whoever is limited here is no offender (a limit of
 * all clients together).
 */
export function ask(
  limit: Limit,
  counted: Counted,
  request: GateRequest,
  site: Site,
  worker: GateWorker,
  autoBan: AutoBan | null,
): Decision | null {
  const { tables, clock } = worker;
  const nowMs = clock.sharedMs(request.startedMs);
  const waitMs = limit.isShared
    ? worker.leases.take(limit.rate, counted.low, counted.high, nowMs)
    : take(tables.rates, limit.rate, counted.low, counted.high, nowMs);
  if (waitMs === 0) {
    if (limit.told !== null)
      request.tellLimit?.(limit.told, limit.isShared ? null : stateOf(limit, counted, worker, nowMs));
    return null;
  }
  worker.heavy.note(limit.name, request.head.clientIp);
  // A ban for what nobody enforces would be a surprise, and one for what a dry run finds would end the dry run.
  const isPunished = autoBan !== null && !limit.isDryRun && site.mode === 'On';
  const ban = isPunished ? punish(autoBan, limit.name, request, worker) : null;
  if (ban !== null && ban !== 'many') return ban;
  return {
    kind: 'throttle',
    zone: limit.name,
    limit: limit.rate.events,
    windowSeconds: limit.rate.windowSeconds,
    remaining: 0,
    retryAfterSeconds: Math.ceil(waitMs) / 1000,
    isDryRun: limit.isDryRun,
    rule: worker.budget.spend(nowMs) ? ruleOf(limit, request.head.clientIp, ban === 'many') : null,
  };
}

/**
 * What is left of a limit of this node. Of one that several nodes share only the store knows, and nobody is asked for
 * the sake of a field.
 */
function stateOf({ name, rate }: Limit, { low, high }: Counted, { tables }: GateWorker, nowMs: number): string {
  const levelMs = levelOf(tables.rates, rate, low, high, nowMs);
  // in whole ticks, as `take` counts: a place that is free to the tick is free
  const free = rate.events * rate.ticksPerEvent - Math.round(levelMs * rate.ticksPerMs);
  return stateItem(name, Math.max(0, Math.floor(free / rate.ticksPerEvent)), Math.ceil(levelMs / 1000));
}

/** Adds what has to be waited for before `ask` can decide, of a limit that several nodes share. */
export function addWait(
  limit: Limit,
  { low, high }: Counted,
  request: GateRequest,
  { leases, clock }: GateWorker,
  places: Promise<void>[],
): void {
  const place = leases.wait(limit.rate, low, high, clock.sharedMs(request.startedMs));
  if (place !== null) places.push(place);
}

/** null: there is nothing to wait for. */
export const allOf = (places: readonly Promise<void>[]): Promise<void> | null =>
  places.length === 0 ? null : Promise.all(places).then(() => {});

function ruleOf(limit: Limit, clientIp: string, isMany: boolean): DecisionRule {
  const { name, isDryRun } = limit;
  return {
    id: isMany ? manyClients.id : limit.ruleId,
    message: isMany ? manyClients.message : limit.message,
    match: `Matched the limit ${name} against variable \`REMOTE_ADDR' (Value: \`${clientIp}')`,
    data: isDryRun ? `${clientIp} would_block=true` : clientIp,
    severity: '4',
    tags: ['gatehouse/rate-limit', ...(isDryRun ? ['gatehouse/dry-run'] : []), ...(isMany ? manyClients.tags : [])],
  };
}
