// What main and a worker say to each other. Both sides switch exhaustively: a new kind does not compile until it is
// handled.
import type { ProxyConfig, SecurityEvent } from '../contract.js';
import type { ListenerKind } from '../listeners/listener.js';
import type { MetricsSnapshot } from '../metrics/metrics.js';
import type { RequestSample } from '../records/request-records.js';
import type { ThreatTable } from '../shared-state/threat-delta.js';

/** A generation on its way to a thread. The artifact is shared memory: one copy for all threads. */
export interface GenerationPayload {
  readonly id: number;
  readonly sha256: string;
  readonly artifact: SharedArrayBuffer | null;
  readonly config: ProxyConfig;
  readonly selfTest: 'inspect' | 'skip';
}

export interface WorkerStart {
  readonly workerId: number;
  readonly listener: ListenerKind;
  readonly host: string;
  readonly port: number;
  readonly sharedPort: boolean;
  readonly inspectionModule: string;
  readonly generation: GenerationPayload;
  readonly inspectionThreads: number;
  /** Whether a line per request is made for the control plane. */
  readonly shipsRequests: boolean;
  /** The deny list in force; null = none was given. */
  readonly threats: ThreatTable | null;
}

export type ToWorker =
  | { readonly kind: 'prepare'; readonly generation: GenerationPayload }
  | { readonly kind: 'commit'; readonly id: number }
  | { readonly kind: 'discard'; readonly id: number }
  | { readonly kind: 'report'; readonly token: number }
  | { readonly kind: 'threats'; readonly list: ThreatTable }
  | { readonly kind: 'stop'; readonly drainMs: number };

export type LogLevel = 'info' | 'warn' | 'error';

export interface WorkerReport {
  readonly workerId: number;
  readonly generation: number;
  readonly inFlight: number;
  readonly retiring: number;
  readonly eventsDropped: number;
  readonly loopLagMsP99: number;
  readonly metrics: MetricsSnapshot;
}

export type ToMain =
  | { readonly kind: 'ready'; readonly port: number }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'prepared'; readonly id: number }
  | { readonly kind: 'refused'; readonly id: number; readonly reason: string }
  | { readonly kind: 'committed'; readonly id: number }
  | { readonly kind: 'report'; readonly token: number; readonly report: WorkerReport }
  | { readonly kind: 'events'; readonly batch: SecurityEvent[] }
  /** Lines of request-records.ts, how many there was no room for, and the few that are kept whole. */
  | { readonly kind: 'requests'; readonly lines: string[]; readonly dropped: number; readonly samples: RequestSample[] }
  | {
      readonly kind: 'log';
      readonly level: LogLevel;
      readonly fields: Readonly<Record<string, unknown>>;
      readonly message: string;
    }
  /** Stopping: every request is through, and every connection closed. */
  | { readonly kind: 'drained' }
  /**
   * A bug surfaced; this worker takes no more connections and ends when its requests have. Main starts another at once.
   */
  | { readonly kind: 'dying'; readonly reason: string };

export function unreachable(value: never): never {
  throw new Error(`unexpected message: ${JSON.stringify(value)}`);
}
