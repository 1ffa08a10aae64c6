// Where each state of an assessment leads to, as vm-manager/governance/assessments/moves.ts has it; it refuses others.
type State = 'planned' | 'active' | 'review' | 'closed';

export const nextStates: Readonly<Record<State, readonly State[]>> = {
  planned: ['active'],
  active: ['planned', 'review'],
  review: ['active', 'closed'],
  closed: ['active'],
};
