// Lists in the settings of which a form changes one entry.
import type { SettingsValues } from '../../client/settings-draft.js';

export interface EntryChange {
  readonly patch: SettingsValues;
  /** JSON pointer of the entry that is saved. */
  readonly place: string;
}

/** The entry that a form began with is not there any more. */
export class ChangedMeanwhile extends Error {}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** A list with one entry added (`before` null), replaced, or taken out (`after` null). Throws ChangedMeanwhile. */
export function withEntry<T>(
  list: readonly T[],
  before: T | null,
  after: T | null,
): { readonly list: T[]; readonly index: number } {
  if (before === null) return { list: after === null ? [...list] : [...list, after], index: list.length };
  const index = list.findIndex((one) => isSame(one, before));
  if (index === -1) throw new ChangedMeanwhile();
  return { list: list.flatMap((one, at) => (at !== index ? [one] : after === null ? [] : [after])), index };
}
