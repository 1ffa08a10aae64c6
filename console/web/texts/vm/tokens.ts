// English texts of tokens and jobs of the vulnerability manager, and of the clock that pruning goes by.
import type { Shown } from '../shown.js';

export const tokensText = {
  opens: 'For',
  halves: { firewall: 'firewall (/api)', manager: 'vulnerabilities (/api/v1)' },
  halvesAbout: {
    firewall: 'Settings, rules, events and statistics of the firewall, with a role and scopes.',
    manager: 'Findings, scans and gates: what you may do and a scope names, for some applications where you wish.',
  },
  role: (a: Shown) => `the role ${a}`,
  name: 'Name',
  kind: 'Kind',
  scopes: 'Scopes',
  onlyFor: 'Only for',
  everything: 'everything its owner may see',
  applications: (a: Shown) => `applications: ${a}`,
  lastUsed: 'Last used',
  ends: 'Ends',
  never: 'never',
  revoked: 'revoked',
  revoke: 'Revoke',
  rotate: 'Renew',
  renewed: 'Keep it in the place of the one before, which opens nothing any more. It is shown once.',
  made: 'Keep it where your program keeps secrets. It is shown once.',
  gone: (a: Shown) => `The token ${a} is revoked.`,
  actions: 'Actions',
  endsOn: 'Ends on',
  endsHelp: 'Empty: never.',
  wholeScopes: {
    read: 'Reads what its owner may read; changes nothing.',
    admin: 'Whatever its owner may do, administration too.',
  },
  application: 'Application',
  anyApplication: 'Every application',
  make: 'Make the token',

  jobs: 'Jobs',
  imports: 'Imports',
  when: 'When',
  state: 'State',
  progress: 'Progress',
  percent: (a: Shown) => `${a} %`,
  who: 'Who',
  result: 'What came of it',
  cancel: 'Stop it',
  cancelled: 'It is asked to stop.',
  noJobs: 'No job has run yet',
  noJobsAbout: 'Imports, runs of pipelines and other longer work are listed here.',

  clockJumped: 'The clock has jumped ahead: nothing is pruned',
  clockAbout: (a: Shown, b: Shown) =>
    `Since ${a}. The last time that was believed is ${b}. If the clock of the machine is right now, say so: what is ` +
    'older than its retention is deleted by it.',
  clockRight: 'The clock is right',
  clockConfirmed: 'The next run prunes by the clock.',
} as const;
