// The states of an alert rule, as a pure function of the state before, one measurement and the clock. OK: the condition
// does not hold. PENDING: it holds, and `for_min` or the cooldown is not over. FIRING: it was told. RESOLVED: it was
// told that it is over; OK follows with the end of the cooldown. Every FIRING begins with one notice, repeated at most
// once a cooldown, and ends with one.

export const alertStates = ['ok', 'pending', 'firing', 'resolved'] as const;
export type AlertStateName = (typeof alertStates)[number];

export interface Timing {
  readonly forMs: number;
  readonly cooldownMs: number;
  /** Whether a rule that goes on firing tells so again after each cooldown; without a cooldown it never does. */
  readonly repeats: boolean;
}

export interface AlertState {
  readonly state: AlertStateName;
  readonly sinceMs: number;
  /** Of the last notice that it fires; null: there was none. */
  readonly toldAtMs: number | null;
  readonly evaluatedAtMs: number;
}

export type Notice = 'trigger' | 'repeat' | 'resolve';

export interface Step {
  readonly state: AlertState;
  readonly notice: Notice | null;
}

/** With longer between two evaluations nobody knows whether the condition held: `for_min` begins anew. */
export const gapMsMax = 90_000;

export const firstState = (nowMs: number): AlertState => ({
  state: 'ok',
  sinceMs: nowMs,
  toldAtMs: null,
  evaluatedAtMs: nowMs,
});

/** When the next notice of firing may be sent; 0: at once. A clock that was set back does not make it longer. */
export function cooldownEndsMs({ toldAtMs }: AlertState, { cooldownMs }: Timing, nowMs: number): number {
  return toldAtMs === null ? 0 : Math.min(toldAtMs, nowMs) + cooldownMs;
}

export function step(before: AlertState, holds: boolean, timing: Timing, nowMs: number): Step {
  // of a clock that was set back: the cooldown is counted from now, not from then
  const toldAtMs = before.toldAtMs === null ? null : Math.min(before.toldAtMs, nowMs);
  const evaluated = { ...before, toldAtMs, evaluatedAtMs: nowMs };
  const to = (state: AlertStateName, notice: Notice | null = null): Step => ({
    state: {
      ...evaluated,
      state,
      sinceMs: state === before.state ? before.sinceMs : nowMs,
      toldAtMs: notice === 'trigger' || notice === 'repeat' ? nowMs : toldAtMs,
    },
    notice,
  });
  const isCooling = nowMs < cooldownEndsMs(before, timing, nowMs);
  if (!holds) {
    if (before.state === 'firing') return to('resolved', 'resolve');
    return to(before.state === 'resolved' && isCooling ? 'resolved' : 'ok');
  }
  if (before.state === 'firing')
    return timing.repeats && timing.cooldownMs > 0 && !isCooling ? to('firing', 'repeat') : to('firing');
  const isKnown = before.state === 'pending' && Math.abs(nowMs - before.evaluatedAtMs) <= gapMsMax;
  const sinceMs = isKnown ? Math.min(before.sinceMs, nowMs) : nowMs;
  if (nowMs - sinceMs >= timing.forMs && !isCooling) return to('firing', 'trigger');
  return { state: { ...evaluated, state: 'pending', sinceMs }, notice: null };
}
