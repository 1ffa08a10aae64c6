/** What a text may take in: a name, a number, a moment that is written already. */
export type Shown = string | number | null | undefined;
