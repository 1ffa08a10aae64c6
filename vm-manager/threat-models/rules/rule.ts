// A rule as data: of which subjects it holds, by conditions on their facts, and what it then says.
import type { Fact, Subject } from '../facts.js';

export const strides = [
  'spoofing',
  'tampering',
  'repudiation',
  'information_disclosure',
  'denial_of_service',
  'elevation_of_privilege',
] as const;
export type Stride = (typeof strides)[number];

/** `is`: one of these, or, of a list, has one of them; `not`: none of them; `min`: at least. */
export type Condition = readonly [
  fact: string,
  test: 'is' | 'not' | 'min',
  ...values: readonly (string | number | boolean)[],
];

export interface ThreatRule {
  readonly id: string;
  readonly stride: Stride;
  readonly of: 'element' | 'flow';
  readonly title: string;
  /** What happens, in a sentence. */
  readonly about: string;
  readonly fix: string;
  readonly cwes: readonly number[];
  /** Measures of the firewall that stand against it (names of its checks). */
  readonly measures: readonly string[];
  /** All of them. */
  readonly when: readonly Condition[];
  /** 1 low, 2 medium, 3 high; each of `worse` that holds adds one, up to critical. */
  readonly severity: 1 | 2 | 3;
  readonly worse: readonly Condition[];
}

const valuesOf = (fact: Fact): readonly (string | number | boolean)[] => (typeof fact === 'object' ? fact : [fact]);

export function holds([name, test, ...values]: Condition, facts: Subject['facts']): boolean {
  const fact = facts[name];
  if (fact === undefined) return false;
  if (test === 'min') return typeof fact === 'number' && fact >= Number(values[0]);
  return valuesOf(fact).some((one) => values.includes(one)) === (test === 'is');
}

/** 1 to 4; null: the rule does not speak of it. */
export function severityBy(rule: ThreatRule, { kind, facts }: Subject): number | null {
  if (rule.of !== kind || !rule.when.every((one) => holds(one, facts))) return null;
  return Math.min(4, rule.severity + rule.worse.filter((one) => holds(one, facts)).length);
}
