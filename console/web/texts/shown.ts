/** What a text may take in: a name, a number, a moment that is written already. */
export type Shown = string | number | null | undefined;

/** A number and what is counted: `1 hit`, `1,204 hits`. `count` may be written for people already. */
export const some = (count: Shown, one: string, many = `${one}s`): string =>
  `${count} ${String(count) === '1' ? one : many}`;
