// One line per request for the control plane's request log, made in the worker and sent as text: a line is serialised
// once, crosses threads as one string, and main pastes it into a batch without looking inside. Bounded like events.ts.
import type { EventVerdict } from './contract.js';
import type { Action } from './metrics.js';

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
}

const uriCharsMax = 2048;
const userAgentCharsMax = 512;
const ruleIdsMax = 50;

/** What became of it, in one word: the verdict where there is one, else how the request ended. */
function verdictOf({ action, kind }: RequestFacts): string {
  if (kind !== 'pass') return kind;
  return action === 'served' || action === 'flagged' ? 'pass' : action;
}

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
    verdict: verdictOf(facts),
    inbound_score: whole(facts.inboundScore),
    outbound_score: whole(facts.outboundScore),
    rule_ids: facts.ruleIds.length > ruleIdsMax ? facts.ruleIds.slice(0, ruleIdsMax) : facts.ruleIds,
    user_agent: clip(facts.userAgent, userAgentCharsMax),
    request_bytes: whole(facts.requestBytes),
    response_bytes: whole(facts.responseBytes),
    latency_us: whole(facts.latencyUs),
    inspection_us: whole(facts.inspectionUs),
  });
}

/** Collects lines between two flushes. Beyond `capacity` they are dropped and counted; a request never waits for its own record. */
export class RequestRing {
  private pending: string[] = [];
  private droppedSince = 0;
  dropped = 0;

  constructor(
    private readonly capacity: number,
    private readonly send: (lines: string[], dropped: number) => void,
  ) {}

  /** Asked before the facts are gathered, so that a record nobody takes costs nothing; a no is counted. */
  hasRoom(): boolean {
    if (this.pending.length < this.capacity) return true;
    this.dropped += 1;
    this.droppedSince += 1;
    return false;
  }

  record(facts: RequestFacts): void {
    if (this.hasRoom()) this.pending.push(toRequestLine(facts));
  }

  /** Called by a timer; `dropped` counts since the flush before. */
  flush(): void {
    if (this.pending.length === 0 && this.droppedSince === 0) return;
    const [lines, dropped] = [this.pending, this.droppedSince];
    this.pending = [];
    this.droppedSince = 0;
    this.send(lines, dropped);
  }
}
