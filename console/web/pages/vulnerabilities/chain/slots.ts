// Slots of a rule as a person types them: pure.

export interface Slot {
  readonly any_of: string[];
  readonly optional?: boolean;
}

/** A line each; `?` before it: it may be missing. Empty lines are none. */
export const slotsOf = (typed: string): Slot[] =>
  typed.split('\n').flatMap((line) => {
    const isOptional = line.trim().startsWith('?');
    const words = line
      .replace('?', '')
      .split(/[\s,]+/)
      .filter(Boolean);
    return words.length === 0 ? [] : [{ any_of: words, ...(isOptional ? { optional: true } : {}) }];
  });
