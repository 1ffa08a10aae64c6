// What main and a worker say to each other: two tables, kind → what comes with it. Who receives has a table of handlers
// of the same kinds: a new kind does not compile until it is handled.
import type { BanRecord } from '../admit/bans/auto-ban.js';
import type { CrawlerCount } from '../admit/bots/crawler-check.js';
import type { HeavyKey } from '../admit/heavy-keys.js';
import type { StoreAddress } from '../admit/limits/leases/lease-store.js';
import type { KeySetMessage } from '../admit/site-auth/key-set.js';
import type { ProxyConfig, SecurityEvent } from '../contract/index.js';
import type { ListenerKind } from '../listeners/listener.js';
import type { MetricsSnapshot } from '../metrics/metrics.js';
import type { RequestSample } from '../records/request-records.js';
import type { GateMemory } from '../shared-state/gate-memory.js';
import type { TargetView } from '../upstream/several/group.js';
import type { MeasureTables } from '../shared-state/measure-tables.js';
import type { AddressTable } from '../shared-state/address-set-holder.js';
import type { CertificateSet } from '../tls-edge/certificates/certificate-set.js';
import type { ChallengeTable } from '../tls-edge/challenges/challenge-table.js';
import type { TlsStart } from '../tls-edge/tls-start.js';

/** A generation on its way to a thread. The artifact is shared memory: one copy for all threads. */
export interface GenerationPayload {
  readonly id: number;
  readonly sha256: string;
  readonly artifact: SharedArrayBuffer | null;
  readonly config: ProxyConfig;
  readonly selfTest: 'inspect' | 'skip';
  /** A worker of this process has loaded this very artifact, and shown it the self-test where one is wanted. */
  readonly isProven?: boolean;
}

/** Numbers of sockets that listen already and that the worker takes over; null: it opens its own. */
export interface WorkerSockets {
  readonly plain: number | null;
  readonly tls: number | null;
}

export interface WorkerStart {
  readonly workerId: number;
  /** Of this start of the node; the same in all workers (road/limits/loop-guard.ts). */
  readonly nodeId: string;
  readonly listener: ListenerKind;
  readonly host: string;
  readonly port: number;
  readonly sharedPort: boolean;
  /** null: this node has no TLS edge. */
  readonly tls: TlsStart | null;
  /** Memory of all workers: how many connections each has (listeners/connection-share.ts). */
  readonly connections: SharedArrayBuffer;
  readonly inspectionModule: string;
  readonly generation: GenerationPayload;
  readonly inspectionThreads: number;
  /** Whether a line per request is made for the control plane. */
  readonly shipsRequests: boolean;
  /** Where main finds what the worker was doing when it died (flight-table.ts). */
  readonly flights: SharedArrayBuffer;
  /** Where the same is written for after the end of the process; null = nowhere. */
  readonly flightFile: string | null;
  /** Where `flights` lies instead, so that it outlives the process; null = nowhere. */
  readonly flightMap: string | null;
  /** Where it counts that it still comes round, as often as main looks (time/pulse.ts). */
  readonly pulse: SharedArrayBuffer;
  readonly pulseEveryMs: number;
  /** Client measures in force; null = no list was given. */
  readonly measures: MeasureTables | null;
  /** Addresses that are never banned; null = none were given. */
  readonly safe: AddressTable | null;
  /** Public keys of the sites' tokens; null = none were given. */
  readonly siteKeys: KeySetMessage | null;
  /** Open challenges of certificate authorities; null = none were given. */
  readonly challenges: ChallengeTable | null;
  readonly gateMemory: GateMemory;
  readonly challengeSecret: Uint8Array;
  /** Of the signatures of requests of a simulation. */
  readonly simulationKey: Uint8Array;
  /** Where places of limits that several nodes share are leased; null = nowhere. */
  readonly limitsStore: StoreAddress | null;
  /** Of the hashes that stand for people in observations; the same on all nodes and in the control plane. */
  readonly observationKey: Uint8Array;
}

export type LogLevel = 'info' | 'warn' | 'error';

/** What a worker knows of the upstreams of a site. */
export interface SiteUpstreams {
  readonly site: string;
  readonly upstreams: readonly TargetView[];
}

export interface WorkerReport {
  readonly workerId: number;
  readonly generation: number;
  readonly inFlight: number;
  readonly retiring: number;
  readonly eventsDropped: number;
  readonly loopLagMsP99: number;
  readonly upstreams: readonly SiteUpstreams[];
  readonly metrics: MetricsSnapshot;
  /** Clients that were limited most. */
  readonly heavy: readonly HeavyKey[];
  /** Crawlers by their claim, and what is known of it. */
  readonly crawlers: readonly CrawlerCount[];
}

/** What main says. */
export interface WorkerOrders {
  readonly prepare: { readonly generation: GenerationPayload };
  readonly commit: { readonly id: number };
  readonly discard: { readonly id: number };
  readonly report: { readonly token: number };
  readonly measures: { readonly tables: MeasureTables };
  readonly safe: { readonly list: AddressTable };
  readonly siteKeys: { readonly set: KeySetMessage };
  /** For TLS handshakes from now on. */
  readonly certificates: { readonly set: CertificateSet };
  readonly challenges: { readonly table: ChallengeTable };
  /** Once everything is loaded: begin, with the others. */
  readonly listen: { readonly sockets: WorkerSockets };
  readonly stop: { readonly drainMs: number };
}

/** What a worker says. */
export interface WorkerNews {
  /** Everything is loaded; it listens when it is told to. */
  readonly loaded: Readonly<Record<never, never>>;
  readonly ready: { readonly port: number };
  readonly failed: { readonly reason: string };
  /** What was prepared, since a number is given again where the one before it was too late. */
  readonly prepared: { readonly id: number } & Pick<GenerationPayload, 'sha256' | 'selfTest'>;
  readonly refused: { readonly id: number; readonly reason: string };
  readonly committed: { readonly id: number };
  readonly report: { readonly token: number; readonly report: WorkerReport };
  readonly events: { readonly batch: SecurityEvent[] };
  /** Lines of request-records.ts, how many there was no room for, and the few that are kept whole. */
  readonly requests: { readonly lines: string[]; readonly dropped: number; readonly samples: RequestSample[] };
  /** A window of discovery (observation/observation.ts), as text. */
  readonly observations: { readonly text: string };
  /** A window of what clients did (features/client-window.ts), as text. */
  readonly clients: { readonly text: string };
  readonly log: {
    readonly level: LogLevel;
    readonly fields: Readonly<Record<string, unknown>>;
    readonly message: string;
  };
  /** A gate banned a client, for all workers. */
  readonly ban: { readonly record: BanRecord };
  /** A gate needs a key that the key set does not have; told once in a while. */
  readonly keysWanted: Readonly<Record<never, never>>;
  /** Stopping: every request is through, and every connection closed. */
  readonly drained: Readonly<Record<never, never>>;
  /**
   * A bug surfaced; this worker takes no more connections and ends when its requests have. Main starts another at once.
   */
  readonly dying: { readonly reason: string };
}

/** The messages of a table, all of them or those of some kinds. */
type MessageOf<Table, Kind extends keyof Table = keyof Table> = {
  [K in Kind]: { readonly kind: K } & Table[K];
}[Kind];

export type ToWorker<Kind extends keyof WorkerOrders = keyof WorkerOrders> = MessageOf<WorkerOrders, Kind>;
export type ToMain<Kind extends keyof WorkerNews = keyof WorkerNews> = MessageOf<WorkerNews, Kind>;

export type Handlers<Table> = { readonly [Kind in keyof Table]: (message: Table[Kind]) => void };

/** Throws for a kind that the table does not know. */
export function dispatch<Table>(handlers: Handlers<Table>, message: MessageOf<Table>): void {
  const { kind } = message as { readonly kind: keyof Table };
  if (!Object.hasOwn(handlers, kind)) throw new Error(`unexpected message: ${JSON.stringify(message)}`);
  handlers[kind](message);
}
