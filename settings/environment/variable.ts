// What a row of the environment table says.
import type { kinds } from './kinds.js';

export type KindName = keyof typeof kinds;

/** Who is given the variable. `commands`: compile, inspect, explain, ftw and the set-up of the rule set. */
export type ProcessName = 'control plane' | 'console' | 'data plane' | 'demo' | 'commands';

export interface EnvironmentVariable {
  readonly name: string;
  /** One line for people; "empty = …" says what an empty value means. */
  readonly purpose: string;
  /** '' = none. */
  readonly default: string;
  readonly kind: KindName;
  /** Nobody: kept for a part that is to come. */
  readonly readBy: readonly ProcessName[];
  /** Made once, when `.env` is written, and kept ever after. */
  readonly generated?: 'key' | 'password';
  /** Never shown: not in messages, not in logs. */
  readonly isSecret?: boolean;
  /** Stands in for an empty value; the argument gives the values of other variables. */
  readonly whenEmpty?: (of: (name: string) => string) => string;
}
