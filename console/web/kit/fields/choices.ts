// What a field offers to choose from. A list that is too long to be read is searched: by the server, where it says how,
// else among what is here.

import { matching } from './matching.js';

export type Choice<Value extends string = string> = readonly [value: Value, title: string];

/** Asks the server. Both throw Refused. */
export interface Finder {
  /** At most as many as a person reads through. */
  find(words: string): Promise<readonly Choice[]>;
  /** Of what is chosen already and not among what is here; null: there is none. */
  titleOf(value: string): Promise<string | null>;
}

export type Choices<Value extends string = string> = readonly Choice<Value>[] & { readonly finder?: Finder };

/** Choices that are not all here. */
export const withFinder = (choices: readonly Choice[], finder: Finder): Choices =>
  Object.assign([...choices], { finder });

/** As many as a person looks through in a menu of the browser. */
export const menuMax = 60;
export const foundMax = 50;

export const isSearched = (choices: Choices): boolean => choices.length > menuMax || choices.finder !== undefined;

/** Those whose title has every word, whatever its case. */
export const findAmong = (choices: readonly Choice[], words: string): readonly Choice[] => {
  const named = choices.map(([value, title]) => ({ value, title }));
  return matching(named, words, foundMax).shown.map(({ value, title }) => [value, title] as const);
};
