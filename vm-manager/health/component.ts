// What a component of the installation says of itself. The server answers for its own parts by `host.health`, this room
// for its queues, scanners and outgoing connections; nothing is stored but what has changed.
export const healthStates = ['ok', 'warning', 'failing', 'unknown', 'off'] as const;
export type HealthState = (typeof healthStates)[number];

export const healthUnits = ['bytes', 'seconds', 'milliseconds', 'percent', 'count'] as const;

export interface HealthMeasure {
  readonly name: string;
  readonly value: number;
  readonly unit: (typeof healthUnits)[number];
}

/** One of several things that a component stands for, such as one node. */
export interface HealthPart {
  readonly name: string;
  readonly state: HealthState;
  readonly text: string;
}

export interface HealthComponent {
  /** A word that never changes its meaning. */
  readonly id: string;
  /** `off`: nothing of it is in use here. `unknown`: it could not be found out. */
  readonly state: HealthState;
  readonly summary: string;
  readonly measure: HealthMeasure | null;
  /** What to do; null: nothing. */
  readonly action: string | null;
  readonly parts?: readonly HealthPart[];
}

/** Work that waits. */
export interface HealthQueue {
  readonly id: string;
  readonly about: string;
  readonly depth: number;
  /** Since when the oldest could have been worked on; null: none waits. */
  readonly oldestAt: Date | null;
  /** The wait of the oldest from which on the queue lags, in seconds. */
  readonly lagSecondsMax: number;
  /** Of the last day, or of a shorter time where less is stored. */
  readonly failures: number;
  readonly action: string;
}

/** What the server around the room answers for. */
export interface HostHealth {
  readonly components: readonly HealthComponent[];
  readonly queues: readonly HealthQueue[];
}

const gravity: Readonly<Record<HealthState, number>> = { off: 0, ok: 1, unknown: 2, warning: 3, failing: 4 };

/** The gravest; `off` for none. */
export const worstOf = (states: readonly HealthState[]): HealthState =>
  states.reduce<HealthState>((worst, state) => (gravity[state] > gravity[worst] ? state : worst), 'off');

/** The gravest first. */
export const byGravity = <T extends { readonly state: HealthState }>(all: readonly T[]): T[] =>
  [...all].sort((left, right) => gravity[right.state] - gravity[left.state]);

/** One that could not be looked at: it says why, and is never taken for one in order. */
export const unknownComponent = (id: string, error: unknown): HealthComponent => ({
  id,
  state: 'unknown',
  summary: `It could not be looked at: ${(error instanceof Error ? error.message : String(error)).slice(0, 300)}`,
  measure: null,
  action: 'Look at the way to what it names; if it stays so, restart this control plane.',
});

const dayS = 86_400;

/** 90 → `90 s`, 7200 → `2 h`. */
export function spanText(seconds: number): string {
  if (seconds < 120) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 2 * dayS ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / dayS)} days`;
}

export const secondsSince = (at: Date, now: Date): number => Math.max(0, (now.getTime() - at.getTime()) / 1000);
