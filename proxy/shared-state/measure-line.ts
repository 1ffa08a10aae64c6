// How a client measure is written in the list that both planes share: one line `key end`, where the key is the subject
// of a denial (`192.0.2.0/24`, `jwt:0123456789abcdef`), or the action and the subject of another measure
// (`~challenge:192.0.2.1`), and the end is a moment or left out (expiring-networks.ts). `~` comes behind every letter,
// so that a list sorted by bytes has denials first and the lines of one action together.
import { readKey, type PrincipalName } from '../features/principals.js';

/** The strongest first. */
export const measureActions = ['deny', 'challenge', 'throttle'] as const;
export type MeasureAction = (typeof measureActions)[number];

export const writeMeasureKey = (action: MeasureAction, subject: string): string =>
  action === 'deny' ? subject : `~${action}:${subject}`;

export interface MeasureKey {
  readonly action: MeasureAction;
  readonly subject: string;
}

/** Throws RangeError for an action that there is not. */
export function readMeasureKey(key: string): MeasureKey {
  if (key.charCodeAt(0) !== tilde) return { action: 'deny', subject: key };
  const at = key.indexOf(':');
  const action = measureActions.find((one) => one === key.slice(1, at));
  if (at < 0 || action === undefined)
    throw new RangeError(
      `"${key.slice(0, 80)}" names no action; write ~challenge:192.0.2.1, ~throttle:192.0.2.1, or the address alone`,
    );
  return { action, subject: key.slice(at + 1) };
}

const tilde = 0x7e;
const colon = 0x3a;
const idChars = 16;

/** null: an address or network. Cheap for those: a list has a million of them. */
export function principalOf(subject: string): PrincipalName | null {
  return subject.charCodeAt(subject.length - idChars - 1) === colon ? readKey(subject) : null;
}
