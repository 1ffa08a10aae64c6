// What a sign is: one named, structural thing in a value that an attack of its kind needs and ordinary data seldom has.
// The patterns are found anywhere in a value and their weights are never negative, so that nothing that is added to a
// value takes a sign away: whoever pads an attack wins nothing.

/** Kinds of attack as the rule set divides them: 942, 932 to 934 and 944, 941, 930 and 931, 921. */
export type AttackKind = 'sql' | 'code' | 'script' | 'file' | 'header';

export interface Sign {
  /** Stable: records and tests name it. */
  readonly name: string;
  /** Kinds of rules whose matches it supports. */
  readonly kinds: readonly AttackKind[];
  /** Points towards `supportedFrom` (judge.ts). */
  readonly weight: number;
  /** RE2 over bytes, caseless, looked for anywhere. */
  readonly pattern: string;
  /** What it is, for people. */
  readonly means: string;
}

/** One sign; `(?i)` is added. */
export function sign(
  name: string,
  kinds: readonly AttackKind[],
  weight: number,
  means: string,
  ...pattern: readonly string[]
): Sign {
  return { name, kinds, weight, means, pattern: `(?i)${pattern.join('')}` };
}
