// What looks at parts of the control plane have in common. Each look is a function from what is stored to a component.
import { spanText, worstOf, type HealthComponent, type HealthPart, type HealthState } from '#vm-manager';
import type { FeatureParts } from '../../parts.js';

export type HealthParts = Pick<
  FeatureParts,
  | 'database'
  | 'replica'
  | 'now'
  | 'sealing'
  | 'currentSettings'
  | 'limitsState'
  | 'runBackup'
  | 'locations'
  | 'dataDirectory'
>;
export type Look = (parts: HealthParts, now: Date) => Promise<HealthComponent>;

export const hourS = 3600;
export const dayS = 86_400;
export const since = (at: Date, now: Date): number => Math.max(0, (now.getTime() - at.getTime()) / 1000);
export const ago = (at: Date, now: Date): string => `${spanText(since(at, now))} ago`;

const isBad = (state: HealthState): boolean => state === 'warning' || state === 'failing';

/** A component that is as its worst part; `words` says how many of how many are in order. */
export function ofParts(
  id: string,
  parts: readonly HealthPart[],
  given: Pick<HealthComponent, 'measure'> & {
    /** One of them; more have an s. */
    readonly noun: string;
    readonly none: string;
    /** By the state of the component; absent: nothing to do. */
    readonly actions: Partial<Record<HealthState, string>>;
  },
): HealthComponent {
  const state = worstOf(parts.map((part) => part.state));
  const bad = parts.filter((part) => isBad(part.state)).length;
  const used = parts.filter((part) => part.state !== 'off').length;
  const nouns = `${used} ${given.noun}${used === 1 ? '' : 's'}`;
  const summary = used === 0 ? given.none : bad === 0 ? nouns : `${bad} of ${nouns} need attention`;
  return { id, state, summary, measure: given.measure, action: given.actions[state] ?? null, parts };
}
