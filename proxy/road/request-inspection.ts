// The rules over one request: its transaction, what a thread of the pool found in its body, and how long that took. A
// phase returns what the engine says; what the engine throws is kept as `failure`. What follows is decided on the road.
import { performance } from 'node:perf_hooks';
import type {
  CollectionStore,
  GivenValues,
  Interruption,
  OpinionMode,
  RequestHead,
  Transaction,
  Verdict,
} from '#engine';
import type { GraphqlConfig, GraphqlSite } from '../graphql/endpoints.js';
import { graphqlStep, type GraphqlStep } from '../graphql/step.js';
import { asError } from '../contract/errors.js';
import type { Mode } from '../contract/index.js';
import type { LoadedInspection } from '../inspection/inspection.js';
import type { ForeignInspector, ForeignVerdict } from '../inspection/inspection-pool.js';
import type { Exchange } from '../listeners/listener.js';
import type { UpstreamHead } from '../upstream/response-head.js';
import type { Generation } from '../worker/generation.js';

export interface InspectedRequest {
  readonly head: RequestHead;
  readonly requestId: string;
  /** When it came, by the wall clock. */
  readonly atMs: number;
  /** TX variables that gates found out. */
  readonly given: GivenValues;
  readonly exchange: Pick<Exchange, 'tls' | 'framing'>;
  /** Absent: GraphQL is inspected as it comes. */
  readonly generation?: { readonly config: GraphqlConfig };
}

export class RequestInspection {
  /** What another thread found, when the body was inspected there. */
  foreign: ForeignVerdict | null = null;
  tookMs = 0;
  /** Of the phase that ran last. */
  failure: Error | null = null;
  /** After phase 3: phase 4 asks for the body. */
  wantsResponseBody = false;
  /** What rules see of a request that asks GraphQL; null: it does not. */
  readonly graphql: GraphqlStep | null;
  private transaction: Transaction | null = null;

  constructor(
    private readonly inspection: LoadedInspection,
    private readonly request: InspectedRequest,
    /** What of the site bears on its rules; see Site. */
    private readonly site: GraphqlSite & {
      readonly engineMode: Mode | null;
      readonly policy: string | null;
      readonly secondOpinion?: OpinionMode | null;
    },
  ) {
    const { generation, head, exchange } = request;
    const hasBody = exchange.framing.kind !== 'none';
    this.graphql = generation === undefined ? null : graphqlStep(generation.config, site, head, hasBody);
  }

  /** Whether rules look at what comes: not before `requestHead`, and not after a failure. */
  get isOn(): boolean {
    return this.transaction !== null;
  }

  /** Those of gates, and the fingerprints of a connection that came over TLS. */
  private get given(): GivenValues {
    const { given, exchange } = this.request;
    if (exchange.tls == null) return given;
    return given.length === 0 ? exchange.tls.given : [...exchange.tls.given, ...given];
  }

  // A phase is timed and guarded where it is called: a function that is given the phase as a closure allocates one a
  // phase, with its context, on each request.

  /** What a phase threw, kept as `failure`. */
  private failedWith(error: unknown): null {
    this.failure = asError(error);
    return null;
  }

  /** Phase 1. */
  requestHead(store: CollectionStore): Interruption | null {
    const startedMs = performance.now();
    let interruption: Interruption | null;
    try {
      interruption = this.begin(store);
    } catch (error) {
      interruption = this.failedWith(error);
    }
    this.tookMs += performance.now() - startedMs;
    return interruption;
  }

  private begin(store: CollectionStore): Interruption | null {
    const { inspector } = this.inspection;
    const { engineMode, policy, secondOpinion = null } = this.site;
    const { head, requestId: uniqueId, atMs: nowMs } = this.request;
    const { given } = this;
    const seen = this.graphql === null ? head : this.graphql.seenHead();
    const transaction = inspector.begin(seen, { uniqueId, nowMs, store, policy, secondOpinion });
    this.transaction = transaction;
    for (const [name, value] of given) transaction.tx.set(name, value);
    if (engineMode !== null && transaction.engineMode !== 'Off') transaction.engineMode = engineMode;
    return inspector.requestHeaders(transaction);
  }

  /** Phase 2. */
  requestBody(body: Buffer | null, wireBytes: number): Interruption | null {
    const { transaction } = this;
    if (transaction === null) return null;
    const startedMs = performance.now();
    let interruption: Interruption | null;
    try {
      const seen = this.seen(body, wireBytes);
      const seenBytes = seen === body ? wireBytes : (seen?.length ?? 0);
      interruption = this.inspection.inspector.requestBody(transaction, seen, seenBytes);
    } catch (error) {
      interruption = this.failedWith(error);
    }
    this.tookMs += performance.now() - startedMs;
    return interruption;
  }

  private seen(body: Buffer | null, wireBytes: number): Buffer | null {
    return this.graphql === null ? body : this.graphql.seenBody(body, body?.length === wireBytes);
  }

  /** Phases 1 and 2 on a thread of the pool, for large bodies. It fails as well when that thread dies. */
  async elsewhere(
    pool: ForeignInspector,
    generation: Generation,
    whole: Buffer,
    wholeBytes: number,
  ): Promise<Interruption | null> {
    const { engineMode, policy, secondOpinion = null } = this.site;
    const { requestId: uniqueId, atMs: nowMs } = this.request;
    const { given } = this;
    try {
      const head = this.graphql?.seenHead() ?? this.request.head;
      const seen = this.seen(whole, wholeBytes) ?? whole;
      const wireBytes = seen === whole ? wholeBytes : seen.length;
      const facts = { head, uniqueId, nowMs, body: seen, wireBytes, engineMode, policy, secondOpinion, given };
      this.foreign = await pool.inspect(generation, facts);
    } catch (error) {
      this.failure = asError(error);
      return null;
    }
    this.tookMs += this.foreign.tookMs;
    return this.foreign.interruption;
  }

  /** Phase 3. */
  responseHead({ status, protocol, headers }: UpstreamHead): Interruption | null {
    const { transaction } = this;
    if (transaction === null) return null;
    const { inspector } = this.inspection;
    const startedMs = performance.now();
    let interruption: Interruption | null;
    try {
      interruption = inspector.responseHeaders(transaction, { status, protocol, headers });
      this.wantsResponseBody = interruption === null && inspector.wantsResponseBody(transaction);
    } catch (error) {
      interruption = this.failedWith(error);
    }
    this.tookMs += performance.now() - startedMs;
    return interruption;
  }

  /** Phase 4; decoded bytes. */
  responseBody(body: Buffer | null, wireBytes: number): Interruption | null {
    const { transaction } = this;
    if (transaction === null) return null;
    const startedMs = performance.now();
    let interruption: Interruption | null;
    try {
      interruption = this.inspection.inspector.responseBody(transaction, body, wireBytes);
    } catch (error) {
      interruption = this.failedWith(error);
    }
    this.tookMs += performance.now() - startedMs;
    return interruption;
  }

  /**
   * Phase 5, once; null when rules did not look at this request. Throws what the engine throws. After a failure the
   * transaction's state cannot be trusted: it is finished for its memory, its verdict is not used.
   */
  finish(): Verdict | null {
    const { transaction } = this;
    this.transaction = null;
    if (transaction === null) return null;
    const startedMs = performance.now();
    try {
      return this.inspection.inspector.finish(transaction);
    } finally {
      this.tookMs += performance.now() - startedMs;
    }
  }
}
