// One match by itself, away from its request: what a control plane asks of stored events.
import type { AttackKind } from './sign.js';
import { findSigns, supportedFrom, supportOf } from './support.js';
import { weakRules } from './weak-rules.js';

/** Families of the CRS by the thousands of their ids; those that are not here look at no grammar of an attack. */
const kindOfFamily: ReadonlyMap<number, AttackKind> = new Map([
  [930, 'file'],
  [931, 'file'],
  [932, 'code'],
  [933, 'code'],
  [934, 'code'],
  [941, 'script'],
  [942, 'sql'],
  [944, 'code'],
]);

export interface MatchJudgement {
  /**
   * attack: the value has signs enough of an attack of the rule's kind; ordinary: it has none, or too few; unknown: the
   * rule is of a family that has no signs.
   */
  readonly looks: 'attack' | 'ordinary' | 'unknown';
  /** Whether ordinary data is known to match the rule (weak-rules.ts). */
  readonly isWeak: boolean;
}

/** `value`: what the rule saw, as a record has it (cut ones are judged as they are), one code unit a byte. */
export function judgeMatch(ruleId: number, value: string): MatchJudgement {
  const weak = weakRules.get(ruleId);
  const isWeak = weak !== undefined;
  const kind = kindOfFamily.get(Math.floor(ruleId / 1000)) ?? weak?.kind;
  if (kind === undefined) return { looks: 'unknown', isWeak };
  const support = supportOf(weak?.prior ?? 0, findSigns(kind, { raw: value, value }));
  return { looks: support >= supportedFrom ? 'attack' : 'ordinary', isWeak };
}
