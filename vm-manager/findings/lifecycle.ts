// The states of a finding and every move between them. What a person decides outranks what a scanner says; only a
// proof (a runtime or exploit confirmation) outranks the person.
import type { Cause, Machine } from '../kit/machine.js';
import { openStatuses, type Status } from './words.js';

const humanOpen: readonly Status[] = ['new', 'triaged', 'confirmed', 'reopened'];
const closedByPeople: readonly Status[] = ['false_positive', 'out_of_scope', 'duplicate'];
const people: readonly Cause[] = ['person'];
const unseen = ['new', 'reopened'] as const;
const rules: readonly Cause[] = ['policy'];

export const lifecycle: Machine<Status> = {
  noun: 'finding',
  moves: [
    { from: ['new', 'reopened'], to: 'triaged', by: people, permission: 'triage_findings' },
    { from: ['new', 'triaged', 'reopened'], to: 'confirmed', by: ['person', 'proof'], permission: 'triage_findings' },
    { from: humanOpen, to: 'in_progress', by: people, permission: 'triage_findings', needs: ['assignee'] },
    {
      from: ['in_progress', 'confirmed', 'triaged'],
      to: 'fix_pending',
      by: people,
      permission: 'triage_findings',
    },
    // whoever closes a ticket says that it is fixed, which nobody has proven
    { from: ['in_progress', 'confirmed', 'triaged'], to: 'fix_pending', by: ['ticket'], needs: ['reason'] },
    // back to work: a fix that did not work, somebody who no longer is at it
    { from: ['fix_pending'], to: 'in_progress', by: people, permission: 'triage_findings', needs: ['assignee'] },
    { from: ['in_progress'], to: 'confirmed', by: people, permission: 'triage_findings', needs: ['reason'] },
    { from: openStatuses, to: 'resolved', by: ['importer', 'proof'] },
    { from: openStatuses, to: 'resolved', by: people, permission: 'triage_findings', needs: ['reason'] },
    { from: ['resolved'], to: 'reopened', by: ['importer', 'proof'] },
    { from: ['resolved'], to: 'reopened', by: people, permission: 'triage_findings', needs: ['reason'] },
    {
      from: openStatuses,
      to: 'false_positive',
      by: people,
      permission: 'triage_findings',
      needs: ['reason', 'justification'],
    },
    { from: openStatuses, to: 'out_of_scope', by: people, permission: 'triage_findings', needs: ['reason'] },
    { from: openStatuses, to: 'duplicate', by: people, permission: 'triage_findings', needs: ['canonical_id'] },
    // a run of deduplication that a person began, and its undoing
    { from: openStatuses, to: 'duplicate', by: rules, needs: ['canonical_id'] },
    ...openStatuses.map((to) => ({ from: ['duplicate'] as const, to, by: rules, needs: ['reason'] as const })),
    { from: closedByPeople, to: 'reopened', by: people, permission: 'triage_findings', needs: ['reason'] },
    // a runtime or exploit proof beats an opinion
    { from: closedByPeople, to: 'reopened', by: ['proof'] },
    // a rule of people, for what nobody has looked at; and back, where the rule was wrong
    ...(['triaged', 'confirmed'] as const).map((to) => ({ from: unseen, to, by: rules })),
    { from: unseen, to: 'false_positive', by: rules, needs: ['reason', 'justification'] },
    { from: unseen, to: 'out_of_scope', by: rules, needs: ['reason'] },
    ...unseen.map((to) => ({
      from: ['triaged', 'confirmed', 'false_positive', 'out_of_scope'] as const,
      to,
      by: rules,
      needs: ['reason'] as const,
    })),
    { from: openStatuses, to: 'risk_accepted', by: ['policy'] },
    { from: openStatuses, to: 'muted', by: ['policy'] },
    // the end of an acceptance or a mute gives the state before back
    ...openStatuses.map((to) => ({
      from: ['risk_accepted', 'muted'] as const,
      to,
      by: ['policy', 'clock'] as const,
    })),
    { from: ['risk_accepted', 'muted'], to: 'reopened', by: ['proof'] },
    // a report without it says nothing about something that is accepted or muted, and it may be gone all the same
    { from: ['risk_accepted', 'muted'], to: 'resolved', by: ['importer', 'proof'] },
  ],
};
