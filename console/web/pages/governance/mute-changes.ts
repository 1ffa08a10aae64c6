// What of a mute was changed, as the API takes it: a field that stays as it was is not sent, so that the moment of its
// end does not move by being shown as a day.
import { dayAfter, endOfDay } from '../../client/moments.js';
import { bodyOf, type Predicate } from './predicate.js';

export interface MuteDraft {
  readonly name: string;
  readonly reason: string;
  readonly predicate: Predicate;
  /** A day of the zone that is shown. */
  readonly until: string;
}

interface Kept {
  readonly name: string | null;
  readonly reason: string | null;
  readonly predicate: unknown;
  readonly expires_at: string | null;
}

export interface MuteChanges {
  name?: string;
  reason?: string;
  predicate?: { [name: string]: unknown };
  expires_at?: string;
}

/** The day on which a mute ends; empty: it says none. */
export const lastDayOf = ({ expires_at: at }: Pick<Kept, 'expires_at'>): string =>
  at === null ? '' : dayAfter(Date.parse(at), 0);

/** The order of members says nothing: the store keeps its own. */
function sameJson(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other;
  const [left, right] = [Object.entries(one), Object.entries(other)];
  if (Array.isArray(one) !== Array.isArray(other) || left.length !== right.length) return false;
  return left.every(
    ([name, value]) => Object.hasOwn(other, name) && sameJson(value, other[name as keyof typeof other]),
  );
}

export const isSamePredicate = (one: unknown, other: unknown): boolean => sameJson(one, other);

/** Empty: nothing was changed. */
export function changesOf(before: Kept, draft: MuteDraft): MuteChanges {
  const [name, reason] = [draft.name.trim(), draft.reason.trim()];
  return {
    ...(name === before.name ? {} : { name }),
    ...(reason === before.reason ? {} : { reason }),
    ...(isSamePredicate(draft.predicate, before.predicate) ? {} : { predicate: bodyOf(draft.predicate) }),
    ...(draft.until === lastDayOf(before) ? {} : { expires_at: endOfDay(draft.until) ?? draft.until }),
  };
}
