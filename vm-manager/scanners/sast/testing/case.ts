// What the tests of rules are made of.

/** Of one rule: a text that breaks it, and one that looks alike and does not. */
export type Case = readonly [rule: string, bad: string, good: string];
