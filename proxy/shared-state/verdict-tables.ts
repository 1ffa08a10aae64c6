// Verdicts on their way from main to a thread (main/gates/verdict-list.ts).
import type { ThreatTable } from './threat-delta.js';

export const principalActions = ['deny', 'challenge', 'throttle'] as const;
export type PrincipalAction = (typeof principalActions)[number];

/** Principals with a verdict; the sender of more is refused. */
export const principalVerdictsMax = 20_000;

/** By `kind:id` (features/principals.ts). */
export type PrincipalTable = readonly (readonly [key: string, action: PrincipalAction])[];

export interface VerdictTables {
  readonly challenged: ThreatTable;
  readonly throttled: ThreatTable;
  readonly principals: PrincipalTable;
}

/** Verdicts on principals as gates of one thread read them; ends are main's to keep. */
export class PrincipalVerdicts {
  listed: ReadonlyMap<string, PrincipalAction> = new Map();
  /** Whether one of them is a challenge: its answers are asked for without the credential. */
  hasChallenges = false;

  swap(table: PrincipalTable): void {
    this.listed = new Map(table);
    this.hasChallenges = table.some(([, action]) => action === 'challenge');
  }
}
