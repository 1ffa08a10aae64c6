// The contract of a gate: one synchronous function in a file of its own, one row of the table in index.ts. It is asked
// once for each request, between routing and inspection, on the hot road: it allocates nothing where it decides
// nothing. What needs the network runs beside the road and writes into tables that a gate reads.
import type { GivenValues, GivenVariable, RequestHead } from '#engine';
import type { ProxyConfig } from '../contract/index.js';
import type { Principals } from '../features/principals.js';
import type { Exchange } from '../listeners/listener.js';
import type { Site } from '../road/route.js';
import type { ClientKey } from '../shared-state/client-key.js';
import type { GateTables } from '../shared-state/gate-memory.js';
import type { PrincipalMeasures } from '../shared-state/measure-tables.js';
import type { BanRecord } from './bans/auto-ban.js';
import type { CrawlerCheck } from './bots/crawler-check.js';
import type { Decision } from './decision.js';
import type { HeavyKeys } from './heavy-keys.js';
import type { Leases } from './limits/leases/leases.js';
import type { PathReader } from './reading.js';
import type { EventBudget, GivenTables } from './worker.js';

/** What a gate may know of a request. */
export interface GateRequest {
  /** As inspected and forwarded; `clientIp` is the client's own, also behind trusted proxies. */
  readonly head: RequestHead;
  readonly exchange: Pick<Exchange, 'framing' | 'isTls' | 'tls' | 'isUpgrade'>;
  /** Where it goes. */
  readonly site?: Site | null;
  readonly requestId: string;
  /** When it came, by the wall clock. */
  readonly atMs: number;
  /** The same by `performance.now()`: a clock is not asked again for each limit. */
  readonly startedMs: number;
  /** What was given before; absent: nothing. */
  readonly given?: GivenValues;
  /** A TX variable that rules are to see. */
  give(name: GivenVariable, value: string): void;
  /** It passes as a preflight alone: only what a preflight needs goes on, and comes back (preflight.ts). */
  passAsPreflight?(): void;
  /** Members of `RateLimit-Policy` and `RateLimit` for the answer; `state` null: what is left is not known here. */
  tellLimit?(policy: string, state: string | null): void;
}

export interface Clock {
  wallMs(): number;
  /** For state of this worker alone. */
  monotonicMs(): number;
  /** A moment of `performance.now()` of this thread, by the one clock of all threads of the process. */
  sharedMs(momentMs: number): number;
}

/** What a worker lends to its gates; made by worker.ts. */
export interface GateWorker {
  readonly clock: Clock;
  /** Those that others write (main by messages, jobs beside the road), and those that all workers write. */
  readonly tables: GivenTables & GateTables;
  /** The key of the client that was read last. */
  readonly client: ClientKey;
  /** The same for texts, such as values of header fields. */
  readonly text: ClientKey;
  readonly paths: PathReader;
  readonly heavy: HeavyKeys;
  /** Who is the crawler that it claims to be. */
  readonly crawlers: CrawlerCheck;
  /** Places of limits that several nodes share. */
  readonly leases: Leases;
  /** Who is behind a request's credentials, and what was decided of them. */
  readonly principals: Principals;
  readonly principalMeasures: PrincipalMeasures;
  /** Asked before an event is made of what a flood could repeat. */
  readonly budget: EventBudget;
  /** Signs challenges and passes; the same on all nodes of an installation. */
  readonly challengeSecret: Buffer;
  onBan(ban: BanRecord): void;
  /** The key set is not there, or does not have a key that a token names. */
  onKeysWanted(): void;
}

export interface GateContext<Compiled = undefined, State = undefined> extends GateWorker {
  /** What `compile` made of the configuration of the request's generation. */
  readonly compiled: Compiled;
  /** What `createState` made when the worker began. */
  readonly state: State;
}

/** How much memory a gate may take, and what happens beyond. */
export interface Bound {
  readonly of: string;
  readonly max: number;
  readonly unit: 'bytes' | 'entries';
  readonly beyond: string;
}

export interface Gate<Compiled = undefined, State = undefined> {
  /** As records and metrics name it. */
  readonly name: string;
  /** `protected`: requests that rules inspect; `all`: those of unprotected sites as well. */
  readonly appliesTo: 'protected' | 'all';
  readonly bound: Bound;
  /** A counter of its own, besides `gateDecisions`. */
  readonly counter?: 'threatsMatched';
  /** Its own memory, once a worker; outlives generations. */
  createState?(): State;
  /**
   * The settings as the gate wants them, once a generation and beside the traffic; what it throws refuses the
   * generation. null: nothing to do under these settings, the gate is not asked.
   */
  compile?(config: ProxyConfig): Compiled | null;
  /**
   * What has to be there before it can decide; null: nothing, ask it. It is asked again when that is over, a few times,
   * then it decides with what there is. Only where the limits of several nodes are wanted (rl_distributed).
   */
  wait?(request: GateRequest, context: GateContext<Compiled, State>): Promise<void> | null;
  decide(request: GateRequest, site: Site, context: GateContext<Compiled, State>): Decision | null;
}

/** A gate under one generation; what the road calls. */
export interface PreparedGate {
  readonly name: string;
  readonly appliesTo: Gate['appliesTo'];
  readonly counter: Gate['counter'];
  /** null: it never waits. */
  readonly wait: ((request: GateRequest) => Promise<void> | null) | null;
  decide(request: GateRequest, site: Site): Decision | null;
}

/** A row of the table: a gate whose own types nobody else has to know. */
export interface GateRow extends Pick<Gate, 'name' | 'appliesTo' | 'bound'> {
  /** Called once a worker; the result once a generation. */
  open(worker: GateWorker): (config: ProxyConfig) => PreparedGate | null;
}

export function row<Compiled = undefined, State = undefined>(gate: Gate<Compiled, State>): GateRow {
  const { name, appliesTo, bound, counter } = gate;
  return {
    name,
    appliesTo,
    bound,
    open(worker) {
      const state = gate.createState?.() as State; // a gate without one has `undefined` for its type
      return (config) => {
        const compiled = gate.compile?.(config) as Compiled | null;
        if (compiled === null) return null;
        const context: GateContext<Compiled, State> = { ...worker, compiled, state };
        const waits = gate.wait !== undefined && config.rlDistributed;
        const wait = waits ? (request: GateRequest) => gate.wait?.(request, context) ?? null : null;
        return { name, appliesTo, counter, wait, decide: (request, site) => gate.decide(request, site, context) };
      };
    },
  };
}
