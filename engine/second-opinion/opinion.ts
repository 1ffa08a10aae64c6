// What the second opinion is made of, and what it says.
import type { RuleIR } from '../program/ir.js';

/** What a site wants of the second opinion; `off` is null. */
export type OpinionMode = 'monitor' | 'enforce';

export interface Evidence {
  readonly rule: RuleIR;
  /** As ModSecurity prints it: `ARGS:q`. */
  readonly variable: string;
  /** Before and after the transformations. */
  readonly raw: string;
  readonly value: string;
  /** What the match added to the score that blocks; 0: an evidence rule. */
  readonly points: number;
}

/** One match, and what was found of it. */
export interface Feature {
  readonly rule_id: number;
  /** `ARGS:q`, cut to 128 characters. */
  readonly variable: string;
  /** What the match added to the rules' score; 0: an evidence rule. */
  readonly points: number;
  /** Prior of the rule and weights of the signs. */
  readonly support: number;
  readonly is_supported: boolean;
  /** Names of signs, in the order of their table; `too-long`: it was not judged. */
  readonly signs: readonly string[];
}

/**
 * agree: what the rules decide stands; overrule: they block, and too little supports it; raise: they do not block, and
 * what is noted besides is enough.
 */
export type OpinionDecision = 'agree' | 'overrule' | 'raise';

export interface SecondOpinion {
  readonly mode: OpinionMode;
  readonly decision: OpinionDecision;
  /** What the rules scored, what is left of it or came to it, and from where on the site blocks. */
  readonly rules_score: number;
  readonly score: number;
  readonly threshold: number;
  readonly features: readonly Feature[];
}
