// A request that was chosen to become a trace: its identifiers (W3C Trace Context) and when each stage of the road
// began and ended. Chosen at random as it comes; the flag of a client's `traceparent` chooses nothing, or anybody could
// fill the collector. What is not chosen costs one comparison.
import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { findField } from '../http/header-fields.js';

/** Stages of the road, in its order. `forward`: until the head of the application's answer; `reply`: until its end. */
export const traceStages = ['admit', 'inspect_head', 'read_body', 'inspect_body', 'forward', 'reply'] as const;
export type TraceStage = (typeof traceStages)[number];

/** Stages that are kept; a request has each a few times at most. */
const stagesMax = 32;

interface TimedStage {
  readonly name: TraceStage;
  /** Since the request came. */
  readonly at_us: number;
  readonly us: number;
}

/** Members are those of the control plane's TraceRecord (api/events/record.ts). */
export interface TraceFacts {
  readonly trace_id: string;
  readonly span_id: string;
  readonly parent_id?: string;
  readonly stages: readonly TimedStage[];
}

export interface TraceParent {
  readonly traceId: string;
  readonly parentId: string;
}

const nothing32 = '0'.repeat(32);
const nothing16 = '0'.repeat(16);

/**
 * A `traceparent` (W3C Trace Context, section 3.2.2): version, trace id, parent id, flags; null: none that holds. Of a
 * version that is not known the first four parts are read, as the standard asks for.
 */
export function readTraceParent(text: string): TraceParent | null {
  const found = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/.exec(text.trim());
  if (found === null) return null;
  const [, version = '', traceId = '', parentId = '', rest] = found;
  if (version === 'ff' || (version === '00' && rest !== undefined)) return null;
  return traceId === nothing32 || parentId === nothing16 ? null : { traceId, parentId };
}

export class RequestTrace {
  readonly traceId: string;
  readonly spanId: string;
  private readonly stages: TimedStage[] = [];
  private open: TraceStage | null = null;
  private openedMs = 0;

  constructor(
    private readonly startedMs: number,
    private readonly parent: TraceParent | null,
  ) {
    const random = randomBytes(24).toString('hex');
    this.traceId = parent?.traceId ?? random.slice(0, 32);
    this.spanId = random.slice(32);
  }

  /** The stage before ends here. Entered twice in a row, a stage goes on. */
  enter(stage: TraceStage, nowMs = performance.now()): void {
    if (stage === this.open) return;
    this.close(nowMs);
    this.open = stage;
    this.openedMs = nowMs;
  }

  /** The `traceparent` for the application: this request is what caused what it does. */
  get header(): string {
    return `00-${this.traceId}-${this.spanId}-01`;
  }

  /** Whether it goes on where a proxy in front began; what is beside it in `tracestate` then goes on, too. */
  get isContinued(): boolean {
    return this.parent !== null;
  }

  /** `latencyUs`: of the whole request, so that the last stage ends with it. */
  finish(latencyUs: number): TraceFacts {
    this.close(this.startedMs + latencyUs / 1000);
    const { traceId: trace_id, spanId: span_id, parent, stages } = this;
    return { trace_id, span_id, ...(parent === null ? {} : { parent_id: parent.parentId }), stages };
  }

  private close(nowMs: number): void {
    if (this.open === null || this.stages.length >= stagesMax) return;
    const { open: name, openedMs, startedMs } = this;
    const at_us = Math.max(0, Math.round((openedMs - startedMs) * 1000));
    this.stages.push({ name, at_us, us: Math.max(0, Math.round((nowMs - openedMs) * 1000)) });
    this.open = null;
  }
}

interface Traced {
  readonly startedMs: number;
  readonly head: { readonly headers: readonly string[] };
  readonly generation: { readonly config: { readonly otelTracesPercent: number } };
}

/**
 * null: not chosen. Identifiers of a client are another's word: only those behind a trusted proxy are gone on with.
 * `random`: 0 to 1.
 */
export function traceOf(
  { startedMs, head, generation }: Traced,
  isFromTrustedProxy: boolean,
  random: () => number = Math.random,
): RequestTrace | null {
  const percent = generation.config.otelTracesPercent;
  if (percent === 0 || random() * 100 >= percent) return null;
  const given = isFromTrustedProxy ? findField(head.headers, 'traceparent') : null;
  return new RequestTrace(startedMs, given === null ? null : readTraceParent(given));
}
