// What a worker lends to every request on the road.
import type { CollectionStore } from '#engine';
import type { SecurityEvent } from '../contract/index.js';
import type { ForeignInspector } from '../inspection/inspection-pool.js';
import type { ClientFeatures } from '../features/clients.js';
import type { Metrics } from '../metrics/metrics.js';
import type { TrafficObserver } from '../observation/observer.js';
import type { RequestRing } from '../records/request-records.js';
import type { FlightTable } from '../worker/flight-table.js';
import type { Generation } from '../worker/generation.js';
import type { Dispatcher } from '../worker/upstream-pools.js';
import type { HttpsAnswers } from './https/https-answers.js';
import type { LoopGuard } from './limits/loop-guard.js';
import type { SimulatedClients } from '../simulation/mark.js';
import type { BodyWorker } from './request-body.js';
import type { RelayWorker } from './limits/relay.js';
import type { Site } from './route.js';

export interface RoadContext extends BodyWorker, RelayWorker {
  /** Read once per request, with no await between reading and pinning. */
  current(): Generation;
  /** Wall clock, ms. */
  now(): number;
  makeRequestId(nowMs: number): string;
  poolFor(site: Site, generation: Generation): Dispatcher;
  readonly loops: LoopGuard;
  /** Challenges of certificate authorities, and redirects to HTTPS. */
  readonly https: HttpsAnswers;
  /** Who comes as a client of a simulation. */
  readonly simulations: SimulatedClients;
  readonly flights: FlightTable;
  readonly store: CollectionStore;
  readonly metrics: Metrics;
  record(event: SecurityEvent): void;
  /** Lines for the control plane; null = there is none. */
  readonly requests: RequestRing | null;
  /** Discovery; null = nobody to tell of it. */
  readonly observer: TrafficObserver | null;
  /** What clients do, for the detection engine; null = nobody to tell of it. */
  readonly clients: ClientFeatures | null;
  /** Inspection off this thread for large bodies; null = always inline. */
  readonly foreignInspector: ForeignInspector | null;
  log(level: 'info' | 'warn' | 'error', fields: Readonly<Record<string, unknown>>, message: string): void;
}
