// A state machine as a table: which state may follow which, who may do it, and what has to be given. Every change of
// state goes through `findMove`; there is no other list of what is allowed.
import { ApiError } from '#http-kit';
import type { VmPermission } from './permissions.js';

/**
 * Who causes a change: somebody, a report, a proof (runtime, exploit), a rule of people (mute, acceptance), time, a
 * ticket that was closed in its tracker.
 */
export type Cause = 'person' | 'importer' | 'proof' | 'policy' | 'clock' | 'ticket';

export interface Move<State extends string> {
  readonly from: readonly State[];
  readonly to: State;
  readonly by: readonly Cause[];
  /** Of somebody who asks for it. */
  readonly permission?: VmPermission;
  /** Members that have to be given. */
  readonly needs?: readonly ('reason' | 'justification' | 'assignee' | 'canonical_id')[];
}

export interface Machine<State extends string> {
  readonly noun: string;
  readonly moves: readonly Move<State>[];
}

/** The row that allows it; throws `conflict` (409), naming what is allowed instead. */
export function findMove<State extends string>(
  machine: Machine<State>,
  from: State,
  to: State,
  by: Cause,
): Move<State> {
  const move = machine.moves.find((row) => row.from.includes(from) && row.to === to && row.by.includes(by));
  if (move !== undefined) return move;
  const allowed = nextStates(machine, from, by);
  throw new ApiError(
    'conflict',
    `The ${machine.noun} is ${from} and cannot become ${to}; it can become ${allowed.join(', ') || 'nothing else'}.`,
  );
}

export function nextStates<State extends string>(machine: Machine<State>, from: State, by: Cause): State[] {
  const next = machine.moves.filter((row) => row.from.includes(from) && row.by.includes(by)).map(({ to }) => to);
  return [...new Set(next)];
}
