// What a check says. Nothing is satisfied by a setting alone: there has to be something that shows it at work.

export const results = ['satisfied', 'not_satisfied', 'no_evidence'] as const;
export type Result = (typeof results)[number];

/**
 * `state`: what the installation is at this moment. `event`: what it did. `self-test`: what it did when it was tried
 * just now. `audit`: what people did.
 */
export const evidenceKinds = ['state', 'event', 'self-test', 'audit'] as const;
export type EvidenceKind = (typeof evidenceKinds)[number];

export interface Evidence {
  readonly kind: EvidenceKind;
  readonly text: string;
  /** When it was so; null: now. */
  readonly at: Date | null;
  /** Where the API tells more. */
  readonly link: string;
}

export interface CheckResult {
  readonly result: Result;
  /** In a sentence: why. */
  readonly reason: string;
  /** Names of the settings that it rests on. */
  readonly settings: readonly string[];
  readonly evidence: readonly Evidence[];
}

const order: Readonly<Record<Result, number>> = { not_satisfied: 0, no_evidence: 1, satisfied: 2 };

/** The worst of them; without any there is no evidence. */
export function worstOf(given: readonly Result[]): Result {
  const [worst] = [...given].sort((a, b) => order[a] - order[b]);
  return worst ?? 'no_evidence';
}

/** What is wrong first; then what is missing; only with evidence it is satisfied. */
export function judge(
  settings: readonly string[],
  given: {
    readonly wrong: readonly string[];
    readonly evidence: readonly Evidence[];
    readonly missing: string;
    readonly good: string;
  },
): CheckResult {
  const { wrong, evidence, missing, good } = given;
  if (wrong.length > 0) return { result: 'not_satisfied', reason: wrong.join(' '), settings, evidence };
  if (evidence.length === 0) return { result: 'no_evidence', reason: missing, settings, evidence };
  return { result: 'satisfied', reason: good, settings, evidence };
}
