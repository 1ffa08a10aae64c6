// One line per request for the control plane's request log, made in the worker and sent as text: a line is serialised
// once, crosses threads as one string, and main pastes it into a batch without looking inside. Bounded like
// event-ring.ts. A few requests are kept whole beside their line, so that new rules can be tried on them before they
// serve: some that a rule saw, and one in so many of the ordinary ones. Ordinary ones that are not taken cost a count
// down, nothing else.
import type { RequestHead } from '#engine';
import type { EventVerdict, ReplaySampling } from '../contract/index.js';
import type { ClientTls } from '../listeners/front/connection-facts.js';
import type { Action } from '../metrics/families.js';
import { lineVerdict } from './kinds.js';
import type { RequestTrace } from './request-trace.js';

export interface RequestFacts {
  readonly atMs: number;
  readonly requestId: string;
  readonly site: string;
  readonly generation: number;
  readonly clientIp: string;
  readonly method: string;
  readonly uri: string;
  readonly status: number;
  readonly action: Action;
  readonly kind: EventVerdict;
  readonly inboundScore: number;
  readonly outboundScore: number;
  readonly ruleIds: readonly number[];
  readonly userAgent: string;
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly latencyUs: number;
  readonly inspectionUs: number;
  /** null: the connection came without TLS. */
  readonly tls: Pick<ClientTls, 'ja3' | 'ja4'> | null;
  /** null: it was not chosen to become a trace. */
  readonly trace: RequestTrace | null;
  /** As inspected; looked at for samples only. */
  readonly head: RequestHead;
  readonly body: Buffer | null;
}

/**
 * A whole request for replays, sensitive values and all: the control plane masks it before it stores it. Members are
 * those of its SampleRecord (api/records/samples.ts).
 */
export interface RequestSample {
  readonly kind: 'ordinary' | 'event';
  readonly request_id: string;
  readonly at_ms: number;
  readonly site: string;
  readonly method: string;
  readonly uri: string;
  readonly protocol: string;
  readonly headers: readonly string[];
  /** latin1 */
  readonly body: string | null;
  readonly client_ip: string;
}

const uriCharsMax = 2048;
const userAgentCharsMax = 512;
const ruleIdsMax = 50;
const sampleHeadersMax = 400;
/** Of an ordinary request; a larger one is passed over, because its half would say something else. */
const ordinaryBodyBytesMax = 16 * 1024;
/** Of one that a rule saw: the part stands for it. */
const eventBodyBytesMax = 64 * 1024;
/** Counts down for longer than a worker lives, and stays a small integer. */
const never = 2 ** 30 - 1;

const clip = (text: string, charsMax: number): string => (text.length > charsMax ? text.slice(0, charsMax) : text);
const whole = (value: number): number => Math.max(0, Math.round(value));

/** One JSON object; its members are those of the control plane's RequestRecord (api/events/record.ts). */
export function toRequestLine(facts: RequestFacts): string {
  return JSON.stringify({
    at_ms: whole(facts.atMs),
    request_id: clip(facts.requestId, 128),
    site: clip(facts.site, 200),
    generation: facts.generation,
    client_ip: clip(facts.clientIp, 64),
    method: clip(facts.method, 64),
    uri: clip(facts.uri, uriCharsMax),
    status: Math.min(999, whole(facts.status)),
    verdict: lineVerdict(facts.action, facts.kind),
    inbound_score: whole(facts.inboundScore),
    outbound_score: whole(facts.outboundScore),
    rule_ids: facts.ruleIds.length > ruleIdsMax ? facts.ruleIds.slice(0, ruleIdsMax) : facts.ruleIds,
    user_agent: clip(facts.userAgent, userAgentCharsMax),
    request_bytes: whole(facts.requestBytes),
    response_bytes: whole(facts.responseBytes),
    latency_us: whole(facts.latencyUs),
    inspection_us: whole(facts.inspectionUs),
    ja3: facts.tls?.ja3, // left out where it is undefined
    ja4: facts.tls?.ja4,
    trace: facts.trace?.finish(facts.latencyUs),
  });
}

function toSample(kind: RequestSample['kind'], { head, body, ...facts }: RequestFacts): RequestSample {
  return {
    kind,
    request_id: clip(facts.requestId, 128),
    at_ms: whole(facts.atMs),
    site: clip(facts.site, 200),
    method: clip(head.method, 64),
    uri: head.uri,
    protocol: clip(head.protocol, 32),
    headers: head.headers.slice(0, sampleHeadersMax),
    body: body === null ? null : body.toString('latin1', 0, Math.min(body.length, eventBodyBytesMax)),
    client_ip: clip(head.clientIp, 64),
  };
}

/** So many a second, by the clock of what is asked for. */
class Quota {
  private second = 0;
  private used = 0;

  take(atMs: number, perSecondMax: number): boolean {
    const second = Math.floor(atMs / 1000);
    if (second !== this.second) {
      this.second = second;
      this.used = 0;
    }
    if (this.used >= perSecondMax) return false;
    this.used += 1;
    return true;
  }
}

/**
 * Collects lines and samples between two flushes. Beyond `capacity` lines are dropped and counted; a request never
 * waits for its own record.
 */
export class RequestRing {
  private pending: string[] = [];
  private samples: RequestSample[] = [];
  private droppedSince = 0;
  private every = 0;
  /** Ordinary requests until the next that is kept. */
  private untilSample = never;
  private readonly ordinary = new Quota();
  private readonly events = new Quota();
  dropped = 0;

  /** `sampling` is what is in force; it is asked between requests and for those that are kept. */
  constructor(
    private readonly capacity: number,
    private readonly send: (lines: string[], dropped: number, samples: RequestSample[]) => void,
    private readonly sampling: () => ReplaySampling = () => ({ every: 0, perSecondMax: 0 }),
  ) {}

  /** Asked before the facts are gathered, so that a record nobody takes costs nothing; a no is counted. */
  hasRoom(): boolean {
    if (this.pending.length < this.capacity) return true;
    this.dropped += 1;
    this.droppedSince += 1;
    return false;
  }

  record(facts: RequestFacts): void {
    if (!this.hasRoom()) return;
    this.pending.push(toRequestLine(facts));
    if (facts.kind !== 'pass' || facts.ruleIds.length > 0) this.keepEvent(facts);
    else if ((this.untilSample -= 1) <= 0) this.keepOrdinary(facts);
  }

  private keepEvent(facts: RequestFacts): void {
    if (this.every > 0 && this.events.take(facts.atMs, this.sampling().perSecondMax))
      this.samples.push(toSample('event', facts));
  }

  /** What is no example (refused, failed, too large) leaves the turn to the next one. */
  private keepOrdinary(facts: RequestFacts): void {
    if (this.every === 0) this.untilSample = never;
    else if (facts.action === 'served' && (facts.body === null || facts.body.length <= ordinaryBodyBytesMax)) {
      this.untilSample = this.every;
      if (this.ordinary.take(facts.atMs, this.sampling().perSecondMax)) this.samples.push(toSample('ordinary', facts));
    }
  }

  /** Called by a timer; `dropped` counts since the flush before. */
  flush(): void {
    if (this.pending.length === 0 && this.droppedSince === 0) return;
    const { every } = this.sampling();
    if (every !== this.every) {
      this.every = every;
      this.untilSample = every === 0 ? never : 1; // the next one, so that quiet sites have an example soon
    }
    const [lines, dropped, samples] = [this.pending, this.droppedSince, this.samples];
    this.pending = [];
    this.samples = [];
    this.droppedSince = 0;
    this.send(lines, dropped, samples);
  }
}
