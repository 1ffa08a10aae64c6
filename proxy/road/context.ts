// What a worker lends to every request on the road.
import type { CollectionStore } from '#engine';
import type { BodyBudget } from '../http/body-collector.js';
import type { SecurityEvent } from '../contract.js';
import type { Generation } from '../worker/generation.js';
import type { ForeignInspector } from '../inspection/inspection-pool.js';
import type { Metrics } from '../metrics/metrics.js';
import type { RequestRing } from '../records/request-records.js';
import type { ActiveList, ActiveMember } from '../worker/active-list.js';
import type { Site } from './route.js';
import type { IpSetHolder } from '../shared-state/address-set.js';
import type { UpstreamPool } from '../upstream/pool.js';

/** A request whose body is still coming; swept for slow clients. */
export interface BodyWatch extends ActiveMember {
  /** When bytes of it came last; of the monotonic clock (`performance.now`). */
  readonly bodyAtMs: number;
  bodyTimedOut(): void;
}

export interface RoadContext {
  /** Read once per request, with no await between reading and pinning. */
  current(): Generation;
  /** Wall clock, ms. */
  now(): number;
  makeRequestId(nowMs: number): string;
  poolFor(site: Site, generation: Generation): UpstreamPool;
  readonly store: CollectionStore;
  readonly metrics: Metrics;
  record(event: SecurityEvent): void;
  /** Lines for the control plane; null = there is none. */
  readonly requests: RequestRing | null;
  /** The deny list. */
  readonly threats: IpSetHolder;
  readonly readingBody: ActiveList<BodyWatch>;
  readonly bodies: BodyBudget;
  /** Inspection off this thread for large bodies; null = always inline. */
  readonly foreignInspector: ForeignInspector | null;
  log(level: 'info' | 'warn' | 'error', fields: Readonly<Record<string, unknown>>, message: string): void;
}
