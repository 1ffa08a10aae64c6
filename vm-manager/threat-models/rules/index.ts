// All rules, and what they say of a model.
import { subjectsOf, type Subject } from '../facts.js';
import type { Dfd } from '../model.js';
import { elementRules } from './of-elements.js';
import { flowRules } from './of-flows.js';
import { severityBy, type ThreatRule } from './rule.js';

export const threatRules: readonly ThreatRule[] = [...elementRules, ...flowRules];
export const ruleById: ReadonlyMap<string, ThreatRule> = new Map(threatRules.map((rule) => [rule.id, rule]));

export interface Derived {
  /** The rule and what it is about: the same threat has the same key in every round. */
  readonly key: string;
  readonly rule: ThreatRule;
  readonly subject: Subject;
  readonly severity: number;
}

/** Every threat of the model, in the order of its subjects and of the rules. */
export const deriveThreats = (dfd: Dfd): Derived[] =>
  subjectsOf(dfd).flatMap((subject) =>
    threatRules.flatMap((rule) => {
      const severity = severityBy(rule, subject);
      return severity === null ? [] : [{ key: `${rule.id}/${subject.id}`, rule, subject, severity }];
    }),
  );
