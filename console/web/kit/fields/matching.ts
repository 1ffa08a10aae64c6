// Which of many choices are shown: those that have every word that was typed, as many as a page draws at once.

export interface Choice {
  readonly value: string;
  readonly title: string;
  /** Said below the title. */
  readonly note?: string;
}

export interface Matching {
  readonly shown: readonly Choice[];
  /** How many fit and are not drawn. */
  readonly left: number;
}

/** In the order of `choices`; `max` of them at most. */
export function matching(choices: readonly Choice[], typed: string, max: number): Matching {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = ({ title, note = '' }: Choice): boolean => {
    const text = `${title} ${note}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const found = choices.filter(fits);
  return { shown: found.slice(0, max), left: Math.max(0, found.length - max) };
}

/** The chosen values with this one in or out; values that are not listed stay as they are. */
export const withChoice = (chosen: readonly string[], value: string, isIn: boolean): readonly string[] =>
  isIn ? (chosen.includes(value) ? chosen : [...chosen, value]) : chosen.filter((one) => one !== value);
