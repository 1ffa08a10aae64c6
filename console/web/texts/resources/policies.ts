// English texts of console/web/pages/policies.
import type { Shown } from '../shown.js';

export const policiesText = {
  title: 'Policies',
  about: 'Which findings an organisation does not put up with, and what follows where there is one.',
  policies: 'Policies',
  policy: 'Policy',
  newPolicy: 'New policy',
  noPolicies: 'No policy',
  noPoliciesAbout: 'Write one to say which findings stop every pipeline, such as those that are exploited already.',
  deletePolicy: 'Delete the policy?',
  deletePolicyAbout: 'Gates ask it no longer. No finding is changed.',
  name: 'Name',
  nameWords: 'Words of the name',
  holdsFor: 'Holds for',
  action: 'What follows',
  actionHelp:
    'A policy that stops pipelines is asked by every gate, beside its own conditions. Violations are noted, with the ' +
    'moment; a notice is the event policy.notice, once for each finding, to the connectors that send what happens to ' +
    'vulnerabilities.',
  anyAction: 'Whatever follows',
  actions: {
    gate: 'stops pipelines',
    violation: 'is noted as a violation',
    notify: 'is noted, and a notice is sent',
  },
  severity: 'How severe that is',
  enabled: 'In force',
  isOn: 'in force',
  isOff: 'not in force',
  anyState: 'In force or not',
  conditions: 'For open findings of which all of this holds',
  changed: 'Changed',

  found: 'Open findings that it holds for',
  foundSome: (a: Shown) => `It holds for ${a} open findings.`,
  foundNone: 'It holds for no open finding.',
  firstOf: (a: Shown, b: Shown) => `The ${a} most urgent of ${b}.`,
  notInForce: 'It is not in force: nothing follows from it.',
  evaluate: 'Look again',
  noted: 'Violations',
  notedAbout: 'Noted within a minute of when it began to hold. A finding that is closed, or muted, is none.',
  notedNone: 'Nothing is noted yet.',
  latestOf: (a: Shown, b: Shown) => `The latest ${a} of ${b}.`,
  since: 'Since',
  told: 'Notice',
  notTold: 'none',
  findingSeverity: 'Severity',
  finding: 'Finding',
  application: 'Application',
  state: 'State',
} as const;
