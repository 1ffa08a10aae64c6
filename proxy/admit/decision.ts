// What a gate may decide of a request, as data. A gate never answers: what becomes of a decision under the site's mode
// is chosen in road/decide.ts, what the client gets in road/answers.ts. Everything that a record needs is in here:
// which gate decided stands beside it, why and with which numbers within.

/** The rule by which people find such a request in records; it stands for a gate, no rule set has it. */
export interface DecisionRule {
  readonly id: number;
  readonly message: string;
  /** What matched, in ModSecurity's wording. */
  readonly match: string;
  /** What it matched on. */
  readonly data: string;
  /** 0 emergency … 7 debug, as rules have it. */
  readonly severity: string;
  readonly tags: readonly string[];
}

interface Reasoned {
  /** null: counted, and seen in the line of the request log, but no security event. */
  readonly rule: DecisionRule | null;
}

/** Not let through. */
export interface Denial extends Reasoned {
  readonly kind: 'deny';
  readonly status: number;
  /** `page`: HTML or problem+json, as the client asks; `close`: no answer, the connection ends. */
  readonly shape: 'page' | 'close';
  /** Flat, besides those of the page. */
  readonly headers?: readonly string[];
  /** What the page speaks of; absent: the request. */
  readonly subject?: 'response' | 'specification' | 'graphql';
}

/** Too much of something: 429, with the numbers that led to it. */
export interface Throttling extends Reasoned {
  readonly kind: 'throttle';
  /** Which of the limits. */
  readonly zone: string;
  /** Requests in `windowSeconds`. */
  readonly limit: number;
  readonly windowSeconds: number;
  readonly remaining: number;
  readonly retryAfterSeconds: number;
  /** Counted and recorded, and not enforced whatever the mode is. */
  readonly isDryRun?: boolean;
}

/** To be answered with something that a program of the wrong kind cannot pass. */
export interface Challenge extends Reasoned {
  readonly kind: 'challenge';
  readonly status: number;
  /** Flat, without framing fields. */
  readonly headers: readonly string[];
  readonly body: string;
}

/** Let through, and recorded: whatever the mode is. */
export interface Flagging {
  readonly kind: 'flag';
  readonly rule: DecisionRule;
}

export type Decision = Denial | Throttling | Challenge | Flagging;

/** A decision, and the gate that took it. */
export interface Decided {
  readonly gate: string;
  readonly decision: Decision;
}
