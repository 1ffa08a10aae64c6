// A finding as the evaluation yields it.
import type { CredentialKind } from '#proxy/contract';

/** Kinds of findings, with their place in the OWASP API Security Top 10 of 2023. */
export const threatKinds = {
  bola_ownership: { owasp: 'API1:2023', meaning: 'read or changed an object that belongs to somebody else' },
  bola_enumeration: { owasp: 'API1:2023', meaning: 'went through many objects that nothing ties it to' },
  bfla: { owasp: 'API5:2023', meaning: 'tried or reached functions of administrators' },
  credential_stuffing: { owasp: 'API2:2023', meaning: 'tried many accounts, most of them in vain' },
  password_spraying: { owasp: 'API2:2023', meaning: 'tried few passwords at many accounts' },
  brute_force: { owasp: 'API2:2023', meaning: 'one account was tried again and again' },
  parameter_pollution: { owasp: 'API1:2023', meaning: 'named one object in the path and another one beside it' },
} as const;
export type ThreatKind = keyof typeof threatKinds;
export const severities = ['critical', 'high', 'medium', 'low'] as const;
export type Severity = (typeof severities)[number];
export const confidences = ['high', 'medium', 'low'] as const;
export type Confidence = (typeof confidences)[number];

/** What an engineer replays: the request that is wrong and, where there is one, the one that shows why. */
export interface Evidence {
  /** Of the client that the finding is about. */
  readonly request_id: string;
  readonly at: string;
  /** What the other request did: created or was shown the object, or was refused; null: there is none. */
  readonly because: 'created' | 'shown' | 'denied' | null;
  readonly other_request_id: string | null;
  /** Keyed hash of who sent that one. */
  readonly other_principal: string | null;
  /** Singular noun of the object; '': its id is unique by itself. */
  readonly noun: string;
}

export interface Finding {
  readonly kind: ThreatKind;
  readonly site: string;
  readonly method: string;
  readonly template: string;
  readonly principal: string;
  readonly credential: CredentialKind;
  readonly clientIps: readonly string[];
  readonly severity: Severity;
  readonly confidence: Confidence;
  readonly reason: string;
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly evidence: readonly Evidence[];
}

export const evidenceMax = 50;
export const timeOf = (ms: number): string => new Date(ms).toISOString();

export interface JudgeOptions {
  readonly nowMs: number;
  /** api_bola_threshold: objects, privileged requests or accounts. */
  readonly threshold: number;
  /** api_bola_window_sec. */
  readonly windowMs: number;
  /** What came meanwhile may still say that all was well: answers and requests come by way of several workers. */
  readonly settleMs: number;
  /** api_abuse_memory_hours: half of what was tried slowly is remembered after that long. Absent: six hours. */
  readonly memoryMs?: number;
}
